"""Mocks for asyncio tests: handlers run on the test's own event loop."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from trafficmock.testing.asyncio_world import AsyncioSurroundings, AsyncioWorld
from trafficmock.testing.awaitable import AsyncTrafficMock, finish
from trafficmock.testing.connection import Connection
from trafficmock.testing.ending import add_left, note_traffic, raise_left
from trafficmock.testing.expectations import AsyncExpectation
from trafficmock.testing.request import AsyncRequest
from trafficmock.testing.response import AsyncResponse
from trafficmock.testing.route import AsyncRoute
from trafficmock.testing.session import TestInfo
from trafficmock.testing.socket_route import AsyncWebSocketRoute

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from trafficmock.testing.session import Session

__all__ = [
    "AsyncExpectation",
    "AsyncRequest",
    "AsyncResponse",
    "AsyncRoute",
    "AsyncTrafficMock",
    "AsyncWebSocketRoute",
    "mocks",
]


def begin(connection: Connection, info: TestInfo) -> tuple[AsyncTrafficMock, Session]:
    """Register a test whose event loop is the one of its first call; give its mocks."""
    surroundings = AsyncioSurroundings(connection.background)
    world = AsyncioWorld(connection.background, surroundings)
    session = connection.session(info, world)
    return AsyncTrafficMock(surroundings, session), session


@asynccontextmanager
async def mocks(
    proxy_url: str | None = None,
    *,
    token: str | None = None,
    title: str = "test",
    file: str = "",
    base_url: str | None = None,
) -> AsyncIterator[AsyncTrafficMock]:
    """Connect for one test.

    :param base_url: for relative globs.
    :raises ExceptionGroup: at the end, what went wrong in handlers.
    """
    connection = await asyncio.to_thread(Connection, proxy_url, token=token)
    try:
        info = TestInfo(title=title, file=file, base_url=base_url)
        mine, session = await asyncio.to_thread(begin, connection, info)
        try:
            yield mine
        except BaseException as error:
            if isinstance(error, Exception):
                note_traffic(error, await asyncio.to_thread(connection.traffic, session))
            add_left(error, await finish(mine))
            raise
        raise_left(title, await finish(mine))
    finally:
        await asyncio.to_thread(connection.close)
