"""Mocks for blocking tests: pytest, unittest, scripts.

Handlers run on threads beside the test's own, so a test that is blocked still answers.
They must not touch objects that belong to the test's thread, such as those of sync
Playwright.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from trafficmock.testing.adapters.blocking_adapter import BlockingAdapter
from trafficmock.testing.adapters.teardown import note_errors, note_traffic, raise_errors
from trafficmock.testing.adapters.threaded_connection import ThreadedConnection
from trafficmock.testing.objects.expectations import Expectation
from trafficmock.testing.objects.request import Request
from trafficmock.testing.objects.response import Response
from trafficmock.testing.objects.route import Route
from trafficmock.testing.objects.traffic_mock import BaseTrafficMock, warn_of_capture
from trafficmock.testing.objects.websocket_route import WebSocketRoute
from trafficmock.testing.session.session import TestInfo
from trafficmock.wire.payloads.refused_request import UnmatchedRequest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trafficmock.testing.session.arguments.url_matchers import Names, UrlMatcher
    from trafficmock.testing.session.session import Session
    from trafficmock.testing.session.traffic_context import Isolation

__tracebackhide__ = True
"""For pytest: a failure is shown where the test's own code called."""

__all__ = ["Expectation", "Request", "Response", "Route", "TrafficMock", "WebSocketRoute", "mocks"]


class TrafficMock(
    BaseTrafficMock[
        None,
        list[BaseException],
        list[UnmatchedRequest],
        Request,
        Response,
        Expectation[Request],
        Expectation[Response],
    ]
):
    """The mocks of a blocking test."""

    expectation = Expectation

    def tag(self, context: Any, *origins: str) -> None:
        """Put the context of this test on a browser context of sync Playwright, as a cookie.

        :param context: requests that its pages send from now on carry it.
        :param origins: of the application, such as ``http://localhost:3000``; those of
            ``--base-url`` or ``trafficmock_origins`` unless given.
        :raises UsageError: no origin is known.
        """
        context.add_cookies(self._cookies(origins))

    def requests(
        self, url: UrlMatcher = None, *, method: Names = None, client_id: Names = None
    ) -> list[Request]:
        """List the requests since the test began, oldest first.

        They are those of all applications, but for what carries the context of another test.
        """
        found: list[Request] = self._requests(url, method, client_id)
        warn_of_capture(self._session)
        return found


def begin(connection: ThreadedConnection, info: TestInfo) -> tuple[TrafficMock, Session]:
    """Register a test; give its mocks."""
    adapter = BlockingAdapter(connection.background, connection.handler_threads)
    session = connection.session(info, adapter)
    return TrafficMock(adapter, session), session


def finish(mocks: TrafficMock) -> list[BaseException]:
    """End a test, and give the errors that are left."""
    return mocks._finish()  # noqa: SLF001 - for those who run tests, not for tests


@contextmanager
def mocks(
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
) -> Iterator[TrafficMock]:
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
    connection = ThreadedConnection(proxy_url, token=token)
    try:
        mine, session = begin(
            connection,
            TestInfo(
                title=title,
                file=file,
                base_url=base_url,
                isolation=isolation,
                origins=tuple(origins),
                door=door,
                strict=strict,
                allow=allow,
            ),
        )
        try:
            yield mine
        except BaseException as error:
            if isinstance(error, Exception):
                note_traffic(error, connection.traffic(session))
            note_errors(error, finish(mine))
            raise
        raise_errors(title, finish(mine))
    finally:
        connection.close()
