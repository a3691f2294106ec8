"""Mocks for blocking tests: pytest, unittest, scripts.

Plain handlers run on threads of their own, so a test that is blocked still answers requests.
They must not use objects that belong to the test's thread, such as those of sync
Playwright.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, Unpack

from attrs import evolve

from trafficmock.testing.adapters.blocking_adapter import BlockingAdapter
from trafficmock.testing.adapters.teardown import (
    group_of,
    note_errors,
    note_traffic,
    raise_errors,
    warn,
)
from trafficmock.testing.adapters.threaded_connection import ThreadedConnection
from trafficmock.testing.errors import UsageError
from trafficmock.testing.keywords import checks_keywords
from trafficmock.testing.objects.blocking.expectations import Expectation
from trafficmock.testing.objects.blocking.request import Request
from trafficmock.testing.objects.blocking.response import Response
from trafficmock.testing.objects.blocking.route import Route
from trafficmock.testing.objects.blocking.route_handle import RouteHandle
from trafficmock.testing.objects.blocking.stream import Stream
from trafficmock.testing.objects.blocking.traffic_mock import TrafficMock, finish
from trafficmock.testing.objects.blocking.websocket_route import WebSocketRoute
from trafficmock.testing.self_attachment import current_test
from trafficmock.testing.session.options_of_test import TestOptions
from trafficmock.testing.session.session import Scope, Session, TestInfo

__all__ = [
    "Expectation",
    "Request",
    "Response",
    "Route",
    "RouteHandle",
    "SharedTrafficMock",
    "Stream",
    "TestOptions",
    "TrafficMock",
    "WebSocketRoute",
    "mocks",
]


class SharedTrafficMock(TrafficMock):
    """The mocks of pytest's fixture ``trafficmock_shared``: routes that serve several tests."""

    def __init__(
        self, adapter: BlockingAdapter, session: Session, of_run: Callable[[], TrafficMock]
    ) -> None:
        super().__init__(adapter, session)
        self._of_run = of_run

    @checks_keywords
    def __call__(self, *, scope: Scope = "worker") -> TrafficMock:
        """Return the mocks whose routes serve all tests of this worker, or of the whole run.

        Each worker of a run registers the routes of the run, and they are one route: the first
        registration counts, together with its ``times`` and sequence, and the others take its place
        when its worker ends. They serve requests of no test, and all tests, after their own routes
        and those of their worker.

        :param scope: ``worker`` for these mocks themselves; ``run`` for those of the run.
        :raises UsageError: for another scope. A route of the run raises ``RoutingError`` if another
            worker has registered it with another answer.
        """
        if scope not in {"worker", "run"}:
            raise UsageError(f"scope must be 'worker' or 'run', not {scope!r}")
        return self._of_run() if scope == "run" else self


def begin_shared(
    connection: ThreadedConnection, worker_id: str, settings: dict[str, Any]
) -> tuple[SharedTrafficMock, list[Session]]:
    """Register the shared routes of a worker.

    :param settings: for :class:`.TestInfo`.
    :returns: the mocks, and their sessions; that of the run is appended when it is asked for.
    """
    adapter = BlockingAdapter(connection.background, connection.handler_threads)
    title = f"shared routes of worker {worker_id}"
    info = TestInfo(title=title, file="", shared="worker", **settings)
    sessions = [connection.session(info, adapter)]

    @cache
    def of_run() -> TrafficMock:
        title = f"routes of the run in worker {worker_id}"
        # What these routes are for carries no context.
        auto = "auto" if info.isolation == "required" else info.isolation
        of_all = evolve(info, title=title, shared="run", isolation=auto)
        sessions.append(connection.session(of_all, adapter))
        return TrafficMock(adapter, sessions[-1])

    return SharedTrafficMock(adapter, sessions[0], of_run), sessions


def begin(connection: ThreadedConnection, info: TestInfo) -> tuple[TrafficMock, Session]:
    """Register a test; return its mocks and its session."""
    adapter = BlockingAdapter(connection.background, connection.handler_threads)
    session = connection.session(info, adapter)
    return TrafficMock(adapter, session), session


@checks_keywords
@contextmanager
def mocks(
    proxy_url: str | None = None,
    *,
    token: str | None = None,
    **options: Unpack[TestOptions],
) -> Iterator[TrafficMock]:
    """Connect to the proxy and register one test, for a ``with`` block.

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
    connection = ThreadedConnection(proxy_url, token=token)
    try:
        info = TestInfo(**options)
        mine, session = begin(connection, info)
        try:
            with current_test(session):
                yield mine
        except BaseException as error:
            session.judged, session.passed = True, False
            if isinstance(error, Exception):
                note_traffic(error, connection.traffic(session))
            note_errors(error, finish(mine))
            connection.report_block(session, error)
            raise
        session.passed = True
        errors = finish(mine)
        connection.report_block(session, group_of(info.title, errors))
        raise_errors(info.title, errors)
        warn(session)
    finally:
        connection.close()
