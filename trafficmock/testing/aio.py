"""Mocks for asyncio tests: handlers run on the test's own event loop.

A call that waits returns an awaitable. What it does begins with the call, whether it is awaited or
not, but for ``requests()``, ``tag()`` and ``fulfill()`` with an iterable, which begin when they are
awaited.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Unpack

from trafficmock.testing.adapters.asyncio_adapter import AsyncioAdapter
from trafficmock.testing.adapters.teardown import (
    group_of,
    note_errors,
    note_traffic,
    raise_errors,
    warn,
)
from trafficmock.testing.adapters.threaded_connection import ThreadedConnection
from trafficmock.testing.keywords import checks_keywords
from trafficmock.testing.objects.async_expectations import AsyncExpectation
from trafficmock.testing.objects.async_request import AsyncRequest
from trafficmock.testing.objects.async_response import AsyncResponse
from trafficmock.testing.objects.async_route import AsyncRoute
from trafficmock.testing.objects.async_route_handle import AsyncRouteHandle
from trafficmock.testing.objects.async_stream import AsyncStream
from trafficmock.testing.objects.async_traffic_mock import AsyncTrafficMock, finish
from trafficmock.testing.objects.async_websocket_route import AsyncWebSocketRoute
from trafficmock.testing.self_attachment import current_test
from trafficmock.testing.session.options_of_test import TestOptions
from trafficmock.testing.session.session import Session, TestInfo

__all__ = [
    "AsyncExpectation",
    "AsyncRequest",
    "AsyncResponse",
    "AsyncRoute",
    "AsyncRouteHandle",
    "AsyncStream",
    "AsyncTrafficMock",
    "AsyncWebSocketRoute",
    "TestOptions",
    "mocks",
]


def begin(connection: ThreadedConnection, info: TestInfo) -> tuple[AsyncTrafficMock, Session]:
    """Register a test and return its mocks; its handlers run on the loop of its latest call."""
    adapter = AsyncioAdapter(connection.background)
    session = connection.session(info, adapter)
    return AsyncTrafficMock(adapter, session), session


@checks_keywords
@asynccontextmanager
async def mocks(
    proxy_url: str | None = None,
    *,
    token: str | None = None,
    **options: Unpack[TestOptions],
) -> AsyncIterator[AsyncTrafficMock]:
    """Connect to the proxy and register one test, for an ``async with`` block.

    :param proxy_url: the proxy's URL; by default that of ``TRAFFICMOCK_PROXY_URL``, else
        ``http://127.0.0.1:4310``.
    :param token: the proxy's token; by default that of ``TRAFFICMOCK_TOKEN``.
    :param options: the settings of the test, see :class:`TestOptions`.
    :raises ConnectionLostError: no proxy answers.
    :raises RefusedError: the proxy refuses the connection.
    :raises UsageError: an argument is invalid, or the proxy lacks what it asks for.
    :raises ExceptionGroup: at the end of the block, the errors of handlers and of strict mode. An
        error that the block raises itself gets them as notes.
    """
    connection = await asyncio.to_thread(ThreadedConnection, proxy_url, token=token)
    try:
        info = TestInfo(**options)
        mine, session = await asyncio.to_thread(begin, connection, info)
        try:
            with current_test(session):
                yield mine
        except BaseException as error:
            session.judged, session.passed = True, False
            if isinstance(error, Exception):
                note_traffic(error, await asyncio.to_thread(connection.traffic, session))
            note_errors(error, await finish(mine))
            await asyncio.to_thread(connection.report_block, session, error)
            raise
        session.passed = True
        errors = await finish(mine)
        failure = group_of(info.title, errors)
        await asyncio.to_thread(connection.report_block, session, failure)
        raise_errors(info.title, errors)
        warn(session)
    finally:
        await asyncio.to_thread(connection.close)
