"""Mocks for Twisted tests: everything happens on the reactor, and calls give Deferreds."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from trafficmock import __version__
from trafficmock.attach import agent_variables
from trafficmock.testing.adapters.teardown import note_errors, note_traffic, raise_errors
from trafficmock.testing.adapters.twisted_adapter import as_deferred
from trafficmock.testing.adapters.twisted_connection import TwistedConnection
from trafficmock.testing.objects.expectations import AsyncExpectation
from trafficmock.testing.objects.request import AsyncRequest
from trafficmock.testing.objects.response import AsyncResponse
from trafficmock.testing.objects.route import AsyncRoute
from trafficmock.testing.objects.traffic_mock import AsyncTrafficMock, finish
from trafficmock.testing.objects.websocket_route import AsyncWebSocketRoute
from trafficmock.testing.session.session import TestInfo
from trafficmock.testing.session.worker_client import WorkerIdentity

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from trafficmock.testing.session.traffic_context import Isolation

__all__ = [
    "AsyncExpectation",
    "AsyncRequest",
    "AsyncResponse",
    "AsyncRoute",
    "AsyncTrafficMock",
    "AsyncWebSocketRoute",
    "connect",
    "mocks",
]


async def connect(
    reactor: Any,
    proxy_url: str | None = None,
    *,
    token: str | None = None,
    worker_id: str = "0",
    strict: bool = False,
    allow: Sequence[str] = (),
) -> TwistedConnection:
    """Connect to the proxy.

    :param proxy_url: where it is; else what the environment says, else the default.
    :param strict: refuse requests that no test owns as long as this connection lives, see
        :meth:`~trafficmock.testing.aio.AsyncTrafficMock.unmatched`.
    :param allow: hosts and URL globs that are allowed all the same.
    :raises ConnectionLostError: there is no proxy.
    :raises RefusedError: it refuses the connection.
    """
    identity = WorkerIdentity(
        version=__version__, worker_id=worker_id, token=token or agent_variables.proxy_token()
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


@asynccontextmanager
async def mocks(
    reactor: Any,
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
    """Connect for one test, in a coroutine that Twisted runs.

    :param reactor: for time and sockets.
    :param base_url: for relative globs.
    :param isolation: ``auto`` gives the test a context where the proxy knows contexts;
        ``required`` fails it where its traffic comes without it; ``off`` does without.
    :param origins: URLs of the application, for browsers.
    :param door: give the test a proxy for a browser, see ``proxy``.
    :param strict: refuse its requests that no route wants; they fail it at its end.
    :param allow: hosts and URL globs that it may reach all the same.
    :raises ExceptionGroup: at the end, what went wrong in handlers.
    """
    connection = await connect(reactor, proxy_url, token=token)
    try:
        mine = await connection.begin(
            TestInfo(
                title=title,
                file=file,
                base_url=base_url,
                isolation=isolation,
                origins=tuple(origins),
                door=door,
                strict=strict,
                allow=allow,
            )
        )
        try:
            yield mine
        except BaseException as error:
            if isinstance(error, Exception):
                (session,) = connection.client.sessions.values()
                note_traffic(error, await connection.traffic(session))
            note_errors(error, await finish(mine))
            raise
        raise_errors(title, await finish(mine))
    finally:
        await connection.close()
