"""Mocks for blocking tests: pytest, unittest, scripts.

Handlers run on threads beside the test's own, so a test that is blocked still answers.
They must not touch objects that belong to the test's thread, such as those of sync
Playwright.
"""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from trafficmock import __version__
from trafficmock.testing import places
from trafficmock.testing.api import SessionCalls
from trafficmock.testing.background import Background
from trafficmock.testing.blocking_world import BlockingSurroundings, BlockingWorld
from trafficmock.testing.ending import add_left, raise_left
from trafficmock.testing.har_file import HarFile
from trafficmock.testing.har_routes import HarOptions
from trafficmock.testing.hub import Identity
from trafficmock.testing.observing import DEFAULT_TIMEOUT_MS
from trafficmock.testing.pool import Pool
from trafficmock.testing.session import Session, TestInfo

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator
    from types import TracebackType

    from trafficmock.testing.har_recording import Content, Mode
    from trafficmock.testing.har_routes import NotFound
    from trafficmock.testing.matchers import Names, UrlMatcher
    from trafficmock.testing.promise import Promise
    from trafficmock.testing.request import Request
    from trafficmock.testing.response import Response
    from trafficmock.testing.session import Behavior
    from trafficmock.testing.waiters import Kind, Waiter
    from trafficmock.testing.world import World

T = TypeVar("T")


class Expectation(Generic[T]):
    """Something that is to happen within a ``with`` block."""

    def __init__(self, background: Background, begin: Callable[[], Waiter], show: Any) -> None:
        self._background = background
        self._show = show
        self._waiter = background.call(begin)

    def __enter__(self) -> Expectation[T]:
        waiter = self._waiter
        self._background.wait_for(lambda: waiter.ready)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None:
            self.value  # noqa: B018 - leaving the block waits
        else:
            self.cancel()

    def cancel(self) -> None:
        """Wait no longer."""
        self._background.call(self._waiter.promise.cancel)

    @property
    def value(self) -> T:
        """What came; waits for it.

        :raises WaitTimeoutError: nothing did in time.
        """
        waiter = self._waiter
        value: T = self._show(self._background.wait_for(lambda: waiter.promise))
        return value


class TrafficMock:
    """One test's hand on the traffic of the applications that run attached.

    :param background: the connection to the proxy.
    :param session: the test, registered.
    """

    def __init__(self, background: Background, session: Session) -> None:
        self._background = background
        self._calls = SessionCalls(session)
        self._surroundings = BlockingSurroundings(background)

    # Routes

    def route(
        self,
        url: UrlMatcher,
        handler: Callable[..., Any],
        *,
        method: Names = None,
        client_id: Names = None,
        times: float | None = None,
    ) -> None:
        """Let a handler decide requests; the newest that matches comes first.

        :param url: glob, ``re.Pattern``, predicate over the URL, URLPattern, filter, or
            ``None`` for any.
        :param handler: called as ``handler(route, request)``, plain or ``async``.
        :param times: how many requests it takes.
        :raises GlobError: the glob's braces are nested or unmatched.
        """
        calls = self._calls
        matcher = calls.matcher(url, method, client_id)
        self._wait(lambda: calls.route(matcher, handler, times))

    def unroute(
        self,
        url: UrlMatcher,
        handler: Callable[..., Any] | None = None,
        *,
        method: Names = None,
        client_id: Names = None,
    ) -> None:
        """Remove the handlers that were registered so; without a handler all of this matcher."""
        calls = self._calls
        matcher = calls.optional_matcher(url, method, client_id)
        self._wait(lambda: calls.unroute(matcher, handler))

    def unroute_all(self, *, behavior: Behavior = "default") -> None:
        """Remove all handlers of HTTP requests.

        :param behavior: of those that still run: ``default`` lets their requests go on,
            ``wait`` waits for them, ``ignoreErrors`` swallows what they raise.
        """
        self._wait(lambda: self._calls.unroute_all(behavior))

    def route_from_har(
        self,
        har: str | os.PathLike[str],
        *,
        url: UrlMatcher = None,
        not_found: NotFound = "abort",
        update: bool = False,
        update_content: Content = "attach",
        update_mode: Mode = "minimal",
    ) -> None:
        """Answer from a HAR (a file, or a zip archive), or make one.

        :param not_found: what becomes of requests that it does not have.
        :param update: ask upstream instead and write the HAR at the test's end.
        :param update_content: bodies in files of their own, or in the HAR.
        :param update_mode: ``full`` records times and sizes too.
        """
        options = HarOptions(
            store=HarFile(har),
            url=url,
            not_found=not_found,
            update=update,
            update_content=update_content,
            update_mode=update_mode,
        )
        self._wait(lambda: self._calls.route_from_har(options))

    def route_web_socket(self, url: UrlMatcher, handler: Callable[..., Any]) -> None:
        """Let a handler play the server of WebSockets that are opened from now on.

        :param handler: called as ``handler(ws)``, plain or ``async``.
        """
        self._wait(lambda: self._calls.route_web_socket(url, handler))

    # Observation

    def expect_request(
        self, url_or_predicate: Any, *, timeout: float = DEFAULT_TIMEOUT_MS
    ) -> Expectation[Request]:
        """Expect a request within a ``with`` block; its ``value`` is the request.

        :param url_or_predicate: glob, ``re.Pattern``, URLPattern, or a predicate over the
            request.
        :param timeout: milliseconds; 0 for none.
        """
        return self._expect("request", url_or_predicate, timeout, self._surroundings.request)

    def expect_response(
        self, url_or_predicate: Any, *, timeout: float = DEFAULT_TIMEOUT_MS
    ) -> Expectation[Response]:
        """Expect the response to a request that is still to come; see :meth:`expect_request`."""
        return self._expect("response", url_or_predicate, timeout, self._surroundings.response)

    def wait_for_request(
        self, url_or_predicate: Any, *, timeout: float = DEFAULT_TIMEOUT_MS
    ) -> Request:
        """Block until a request comes; those before do not count."""
        return self.expect_request(url_or_predicate, timeout=timeout).value

    def wait_for_response(
        self, url_or_predicate: Any, *, timeout: float = DEFAULT_TIMEOUT_MS
    ) -> Response:
        """Block until the response to a request that is still to come is there."""
        return self.expect_response(url_or_predicate, timeout=timeout).value

    def requests(
        self, url: UrlMatcher = None, *, method: Names = None, client_id: Names = None
    ) -> list[Request]:
        """List the requests of all applications since the test began, oldest first."""
        calls = self._calls
        matcher = calls.optional_matcher(url, method, client_id)
        found = self._wait(lambda: calls.requests(matcher))
        warn_of_capture(calls.session)
        return [self._surroundings.request(state) for state in found]

    def take_errors(self) -> list[BaseException]:
        """Give the errors so far, so that they do not fail the test at its end."""
        return self._wait(self._calls.session.take_errors)

    # Inside

    def _finish(self) -> list[BaseException]:
        return self._wait(self._calls.session.finish)

    def _expect(self, kind: Kind, wanted: Any, timeout: float, show: Any) -> Expectation[Any]:
        return Expectation(
            self._background, lambda: self._calls.expect(kind, wanted, timeout), show
        )

    def _wait(self, function: Callable[[], Promise[T]]) -> T:
        return self._background.wait_for(function)


def warn_of_capture(session: Session) -> None:
    """Say that a list of requests cannot be complete, where that is so."""
    if session.memory.capture is not None:
        text = f"the proxy keeps only part of the traffic (capture: {session.memory.capture})"
        warnings.warn(text, stacklevel=3)


class Connection:
    """A connection on which tests follow one another.

    :param proxy_url: where the proxy is; else what the environment says, else the default.
    :param worker_id: the index of the test worker.
    """

    def __init__(
        self,
        proxy_url: str | None = None,
        *,
        token: str | None = None,
        worker_id: str = "0",
    ) -> None:
        url = proxy_url or places.proxy_url() or places.DEFAULT_PROXY_URL
        identity = Identity(
            version=__version__,
            worker_id=worker_id,
            token=token or places.proxy_token(),
        )
        self.background = Background(url, identity)
        self._world = BlockingWorld(self.background, Pool())
        self.background.open()

    def session(self, info: TestInfo, world: World | None = None) -> Session:
        """Register a test.

        :param world: how its handlers run; blocking unless told.
        """
        hub = self.background.hub
        session = Session(self.background.new_id(), info, hub, world or self._world)
        self.background.wait_for(session.start)
        return session

    def begin(self, info: TestInfo) -> TrafficMock:
        """Register a test, and give its mocks."""
        return TrafficMock(self.background, self.session(info))

    def close(self) -> None:
        """Disconnect."""
        self.background.close()


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
) -> Iterator[TrafficMock]:
    """Connect for one test.

    :param base_url: for relative globs.
    :raises ExceptionGroup: at the end, what went wrong in handlers.
    """
    connection = Connection(proxy_url, token=token)
    try:
        mine = connection.begin(TestInfo(title=title, file=file, base_url=base_url))
        try:
            yield mine
        except BaseException as error:
            add_left(error, finish(mine))
            raise
        raise_left(title, finish(mine))
    finally:
        connection.close()
