"""Mocks for Twisted tests: all of it runs on the reactor, and calls return Deferreds."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Unpack

from trafficmock import __version__
from trafficmock.attach import agent_variables
from trafficmock.report.report_settings import added_secrets
from trafficmock.testing.adapters.teardown import (
    group_of,
    note_errors,
    note_traffic,
    raise_errors,
    warn,
)
from trafficmock.testing.adapters.twisted_adapter import as_deferred
from trafficmock.testing.adapters.twisted_connection import TwistedConnection
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
from trafficmock.testing.session.arguments.allow_patterns import Allowed
from trafficmock.testing.session.options_of_test import TestOptions
from trafficmock.testing.session.session import TestInfo
from trafficmock.testing.session.worker_client import WorkerIdentity

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
    "connect",
    "mocks",
]


@checks_keywords
async def connect(
    reactor: Any,
    proxy_url: str | None = None,
    *,
    token: str | None = None,
    worker_id: str = "0",
    strict: bool = False,
    allow: Sequence[Allowed] = (),
) -> TwistedConnection:
    """Connect to the proxy.

    :param reactor: for time and sockets.
    :param proxy_url: the proxy's URL; by default that of ``TRAFFICMOCK_PROXY_URL``, else
        ``http://127.0.0.1:4310``.
    :param token: the proxy's token; by default that of ``TRAFFICMOCK_TOKEN``.
    :param worker_id: the index of this test worker.
    :param strict: refuse requests that no test owns until this connection closes, see
        :meth:`~trafficmock.testing.aio.AsyncTrafficMock.unmatched`.
    :param allow: what strict mode lets through: hosts, URL globs, and dicts of conditions.
    :raises ConnectionLostError: no proxy answers there.
    :raises RefusedError: the proxy refuses the connection.
    :raises UsageError: a pattern of ``allow`` is invalid.
    """
    identity = WorkerIdentity(
        version=__version__,
        worker_id=worker_id,
        token=token or agent_variables.proxy_token(),
        redact=added_secrets(os.environ),
    )
    url = proxy_url or agent_variables.proxy_url() or agent_variables.DEFAULT_PROXY_URL
    connection = TwistedConnection(reactor, url, identity)
    await connection.open()
    if strict:
        try:
            await as_deferred(connection.client.make_run_strict(allow))
        except BaseException:
            await connection.close()
            raise
    return connection


@checks_keywords
@asynccontextmanager
async def mocks(
    reactor: Any,
    proxy_url: str | None = None,
    *,
    token: str | None = None,
    **options: Unpack[TestOptions],
) -> AsyncIterator[AsyncTrafficMock]:
    """Connect to the proxy and register one test, for an ``async with`` block on the reactor.

    :param reactor: for time and sockets.
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
    connection = await connect(reactor, proxy_url, token=token)
    try:
        info = TestInfo(**options)
        mine = await connection.begin(info)
        (session,) = connection.client.sessions.values()
        try:
            with current_test(session):
                yield mine
        except BaseException as error:
            session.judged, session.passed = True, False
            if isinstance(error, Exception):
                note_traffic(error, await connection.traffic(session))
            note_errors(error, await finish(mine))
            await connection.report_block(session, error)
            raise
        session.passed = True
        errors = await finish(mine)
        await connection.report_block(session, group_of(info.title, errors))
        raise_errors(info.title, errors)
        warn(session)
    finally:
        await connection.close()
