"""Mocks whose calls are awaited: the same for asyncio and for Twisted, which gives Deferreds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

from trafficmock.testing.api import SessionCalls
from trafficmock.testing.har_file import HarFile
from trafficmock.testing.har_routes import HarOptions
from trafficmock.testing.observing import DEFAULT_TIMEOUT_MS
from trafficmock.testing.promise import Promise
from trafficmock.testing.sync import warn_of_capture

if TYPE_CHECKING:
    import os
    from collections.abc import Awaitable, Callable
    from types import TracebackType

    from trafficmock.testing.har_recording import Content, Mode
    from trafficmock.testing.har_routes import NotFound
    from trafficmock.testing.matchers import Names, UrlMatcher
    from trafficmock.testing.request import AsyncRequest, RequestState
    from trafficmock.testing.response import AsyncResponse
    from trafficmock.testing.session import Behavior, Session
    from trafficmock.testing.surroundings import Surroundings
    from trafficmock.testing.waiters import Kind, Waiter

T = TypeVar("T")


class AsyncExpectation(Generic[T]):
    """Something that is to happen within an ``async with`` block."""

    def __init__(
        self, surroundings: Surroundings, begin: Callable[[], Waiter], show: Callable[[Any], T]
    ) -> None:
        self._surroundings = surroundings
        self._show = show
        self._waiter: Waiter = surroundings.call(begin)

    async def __aenter__(self) -> AsyncExpectation[T]:
        await self._surroundings.wait(self._waiter.ready)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None:
            await self.value
        else:
            self.cancel()

    def cancel(self) -> None:
        """Wait no longer."""
        self._surroundings.call(self._waiter.promise.cancel)

    @property
    def value(self) -> Awaitable[T]:
        """What came, to be awaited.

        :raises WaitTimeoutError: nothing did in time.
        """
        awaited: Awaitable[T] = self._surroundings.wait_for(
            lambda: _shown(self._waiter.promise, self._show)
        )
        return awaited


class AsyncTrafficMock:
    """One test's hand on the traffic of the applications that run attached.

    Every call counts at once; what it gives is awaited to know that the proxy took it.

    :param surroundings: how to reach the session.
    :param session: the test, registered.
    """

    def __init__(self, surroundings: Surroundings, session: Session) -> None:
        self._surroundings = surroundings
        self._calls = SessionCalls(session)

    # Routes

    def route(
        self,
        url: UrlMatcher,
        handler: Callable[..., Any],
        *,
        method: Names = None,
        client_id: Names = None,
        times: float | None = None,
    ) -> Awaitable[None]:
        """Let a handler decide requests; see :meth:`.sync.TrafficMock.route`."""
        calls = self._calls
        matcher = calls.matcher(url, method, client_id)
        return self._none(lambda: calls.route(matcher, handler, times))

    def unroute(
        self,
        url: UrlMatcher,
        handler: Callable[..., Any] | None = None,
        *,
        method: Names = None,
        client_id: Names = None,
    ) -> Awaitable[None]:
        """Remove handlers; see :meth:`.sync.TrafficMock.unroute`."""
        calls = self._calls
        matcher = calls.optional_matcher(url, method, client_id)
        return self._none(lambda: calls.unroute(matcher, handler))

    def unroute_all(self, *, behavior: Behavior = "default") -> Awaitable[None]:
        """Remove all handlers; see :meth:`.sync.TrafficMock.unroute_all`."""
        return self._none(lambda: self._calls.unroute_all(behavior))

    def route_from_har(
        self,
        har: str | os.PathLike[str],
        *,
        url: UrlMatcher = None,
        not_found: NotFound = "abort",
        update: bool = False,
        update_content: Content = "attach",
        update_mode: Mode = "minimal",
    ) -> Awaitable[None]:
        """Answer from a HAR, or make one; see :meth:`.sync.TrafficMock.route_from_har`."""
        options = HarOptions(
            store=HarFile(har),
            url=url,
            not_found=not_found,
            update=update,
            update_content=update_content,
            update_mode=update_mode,
        )
        return self._none(lambda: self._calls.route_from_har(options))

    def route_web_socket(self, url: UrlMatcher, handler: Callable[..., Any]) -> Awaitable[None]:
        """Play the server of WebSockets; see :meth:`.sync.TrafficMock.route_web_socket`."""
        return self._none(lambda: self._calls.route_web_socket(url, handler))

    # Observation

    def expect_request(
        self, url_or_predicate: Any, *, timeout: float = DEFAULT_TIMEOUT_MS
    ) -> AsyncExpectation[AsyncRequest]:
        """Expect a request within an ``async with`` block; await its ``value``.

        :param url_or_predicate: glob, ``re.Pattern``, URLPattern, or a predicate over the
            request, plain or ``async``.
        :param timeout: milliseconds; 0 for none.
        """
        return self._expect("request", url_or_predicate, timeout, self._surroundings.request)

    def expect_response(
        self, url_or_predicate: Any, *, timeout: float = DEFAULT_TIMEOUT_MS
    ) -> AsyncExpectation[AsyncResponse]:
        """Expect the response to a request that is still to come; see :meth:`expect_request`."""
        return self._expect("response", url_or_predicate, timeout, self._surroundings.response)

    def wait_for_request(
        self, url_or_predicate: Any, *, timeout: float = DEFAULT_TIMEOUT_MS
    ) -> Awaitable[AsyncRequest]:
        """Wait for a request; those before do not count. Cancelling ends the wait."""
        return self.expect_request(url_or_predicate, timeout=timeout).value

    def wait_for_response(
        self, url_or_predicate: Any, *, timeout: float = DEFAULT_TIMEOUT_MS
    ) -> Awaitable[AsyncResponse]:
        """Wait for the response to a request that is still to come."""
        return self.expect_response(url_or_predicate, timeout=timeout).value

    async def requests(
        self, url: UrlMatcher = None, *, method: Names = None, client_id: Names = None
    ) -> list[AsyncRequest]:
        """List the requests of all applications since the test began, oldest first."""
        calls = self._calls
        matcher = calls.optional_matcher(url, method, client_id)
        found: list[RequestState] = await self._surroundings.wait_for(
            lambda: calls.requests(matcher)
        )
        warn_of_capture(calls.session)
        return [self._surroundings.request(state) for state in found]

    def take_errors(self) -> Awaitable[list[BaseException]]:
        """Give the errors so far, so that they do not fail the test at its end."""
        errors: Awaitable[list[BaseException]] = self._surroundings.wait_for(
            self._calls.session.take_errors
        )
        return errors

    # Inside

    def _finish(self) -> Awaitable[list[BaseException]]:
        errors: Awaitable[list[BaseException]] = self._surroundings.wait_for(
            self._calls.session.finish
        )
        return errors

    def _none(self, function: Callable[[], Promise[Any]]) -> Awaitable[None]:
        awaited: Awaitable[None] = self._surroundings.wait_for(
            lambda: _shown(function(), lambda _: None)
        )
        return awaited

    def _expect(
        self, kind: Kind, wanted: Any, timeout: float, show: Callable[[Any], T]
    ) -> AsyncExpectation[T]:
        return AsyncExpectation(
            self._surroundings, lambda: self._calls.expect(kind, wanted, timeout), show
        )


def finish(mocks: AsyncTrafficMock) -> Awaitable[list[BaseException]]:
    """End a test, and give the errors that are left."""
    return mocks._finish()  # noqa: SLF001 - for those who run tests, not for tests


def _shown(promise: Promise[Any], show: Callable[[Any], T]) -> Promise[T]:
    shown: Promise[T] = Promise(on_cancel=promise.cancel)

    def done(settled: Promise[Any]) -> None:
        if settled.error is not None:
            shown.reject(settled.error)
        else:
            shown.resolve(show(settled.value))

    promise.watch(done)
    return shown
