"""Mocks for asyncio tests: handlers run on the test's own event loop."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from trafficmock.testing.adapters.asyncio_adapter import AsyncioAdapter
from trafficmock.testing.adapters.teardown import note_errors, note_traffic, raise_errors
from trafficmock.testing.adapters.threaded_connection import ThreadedConnection
from trafficmock.testing.objects.expectations import AsyncExpectation
from trafficmock.testing.objects.request import AsyncRequest
from trafficmock.testing.objects.response import AsyncResponse
from trafficmock.testing.objects.route import AsyncRoute
from trafficmock.testing.objects.traffic_mock import AsyncTrafficMock, finish
from trafficmock.testing.objects.websocket_route import AsyncWebSocketRoute
from trafficmock.testing.session.session import TestInfo

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from trafficmock.testing.session.session import Session
    from trafficmock.testing.session.traffic_context import Isolation

__all__ = [
    "AsyncExpectation",
    "AsyncRequest",
    "AsyncResponse",
    "AsyncRoute",
    "AsyncTrafficMock",
    "AsyncWebSocketRoute",
    "mocks",
]


def begin(connection: ThreadedConnection, info: TestInfo) -> tuple[AsyncTrafficMock, Session]:
    """Register a test whose event loop is the one of its first call; give its mocks."""
    adapter = AsyncioAdapter(connection.background)
    session = connection.session(info, adapter)
    return AsyncTrafficMock(adapter, session), session


@asynccontextmanager
async def mocks(
    proxy_url: str | None = None,
    *,
    token: str | None = None,
    title: str = "test",
    file: str = "",
    base_url: str | None = None,
    isolation: Isolation = "auto",
    origins: Sequence[str] = (),
    door: bool = False,
    strict: bool = False,
    allow: Sequence[str] = (),
) -> AsyncIterator[AsyncTrafficMock]:
    """Connect for one test.

    :param base_url: for relative globs.
    :param isolation: ``auto`` gives the test a context where the proxy knows contexts;
        ``required`` fails it where its traffic comes without it; ``off`` does without.
    :param origins: URLs of the application, for browsers.
    :param door: give the test a proxy for a browser, see ``proxy``.
    :param strict: refuse its requests that no route wants; they fail it at its end.
    :param allow: hosts and URL globs that it may reach all the same.
    :raises ExceptionGroup: at the end, what went wrong in handlers.
    """
    connection = await asyncio.to_thread(ThreadedConnection, proxy_url, token=token)
    try:
        info = TestInfo(
            title=title,
            file=file,
            base_url=base_url,
            isolation=isolation,
            origins=tuple(origins),
            door=door,
            strict=strict,
            allow=allow,
        )
        mine, session = await asyncio.to_thread(begin, connection, info)
        try:
            yield mine
        except BaseException as error:
            if isinstance(error, Exception):
                note_traffic(error, await asyncio.to_thread(connection.traffic, session))
            note_errors(error, await finish(mine))
            raise
        raise_errors(title, await finish(mine))
    finally:
        await asyncio.to_thread(connection.close)
