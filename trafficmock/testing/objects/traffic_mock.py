"""What a test can say about traffic; the same calls for all ways of writing tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from trafficmock.testing.har.har_file import HarFile
from trafficmock.testing.har.har_routes import HarOptions
from trafficmock.testing.objects.api import SessionCalls
from trafficmock.testing.session.promise import mapped
from trafficmock.testing.session.waiting import Timeout, milliseconds

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from trafficmock.testing.adapters.surroundings import Surroundings
    from trafficmock.testing.har.har_recording import Content, Mode
    from trafficmock.testing.har.har_routes import NotFound
    from trafficmock.testing.session.http_routes import Behavior
    from trafficmock.testing.session.promise import Promise
    from trafficmock.testing.session.session import Session
    from trafficmock.testing.session.url_matchers import Names, UrlMatcher
    from trafficmock.testing.session.waiting import Kind

__tracebackhide__ = True
"""For pytest: a failure is shown where the test's own code called."""

DoneT = TypeVar("DoneT")
ErrorsT = TypeVar("ErrorsT")
RequestT = TypeVar("RequestT")
ResponseT = TypeVar("ResponseT")
ExpectedRequestT = TypeVar("ExpectedRequestT")
ExpectedResponseT = TypeVar("ExpectedResponseT")


class BaseTrafficMock(
    Generic[DoneT, ErrorsT, RequestT, ResponseT, ExpectedRequestT, ExpectedResponseT]
):
    """One test's hand on the traffic of the applications that run attached.

    What a call gives depends on how the test is written: nothing or a value in blocking tests,
    something to await in others. There too it counts at once; awaiting tells that the proxy
    took it.

    :param surroundings: how to reach the session.
    :param session: the test, registered.
    """

    expectation: ClassVar[type[Any]]

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
    ) -> DoneT:
        """Let a handler decide requests; the newest that matches comes first.

        :param url: glob, ``re.Pattern``, predicate over the URL, URLPattern, filter, or
            ``None`` for any.
        :param handler: called as ``handler(route, request)``, plain or ``async``.
        :param times: how many requests it takes.
        :raises GlobError: the glob's braces are nested or unmatched.
        """
        calls = self._calls
        matcher = calls.matcher(url, method, client_id)
        return self._done(lambda: calls.route(matcher, handler, times))

    def unroute(
        self,
        url: UrlMatcher,
        handler: Callable[..., Any] | None = None,
        *,
        method: Names = None,
        client_id: Names = None,
    ) -> DoneT:
        """Remove the handlers that were registered so; without a handler all of this matcher."""
        calls = self._calls
        matcher = calls.optional_matcher(url, method, client_id)
        return self._done(lambda: calls.unroute(matcher, handler))

    def unroute_all(self, *, behavior: Behavior = "default") -> DoneT:
        """Remove all handlers of HTTP requests.

        :param behavior: of those that still run: ``default`` lets their requests go on,
            ``wait`` waits for them, ``ignoreErrors`` swallows what they raise.
        """
        return self._done(lambda: self._calls.unroute_all(behavior))

    def route_from_har(
        self,
        har: str | os.PathLike[str],
        *,
        url: UrlMatcher = None,
        not_found: NotFound = "abort",
        update: bool = False,
        update_content: Content = "attach",
        update_mode: Mode = "minimal",
    ) -> DoneT:
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
        return self._done(lambda: self._calls.route_from_har(options))

    def route_web_socket(self, url: UrlMatcher, handler: Callable[..., Any]) -> DoneT:
        """Let a handler play the server of WebSockets that are opened from now on.

        :param handler: called as ``handler(ws)``, plain or ``async``.
        """
        return self._done(lambda: self._calls.route_web_socket(url, handler))

    # Observation

    def expect_request(self, url_or_predicate: Any, *, timeout: Timeout = None) -> ExpectedRequestT:
        """Expect a request within a ``with`` (or ``async with``) block; see its ``value``.

        :param url_or_predicate: glob, ``re.Pattern``, URLPattern, or a predicate over the
            request, plain or ``async``.
        :param timeout: milliseconds or a ``timedelta``; 0 for none, 30 s unless told.
        """
        expected: ExpectedRequestT = self._expect("request", url_or_predicate, timeout)
        return expected

    def expect_response(
        self, url_or_predicate: Any, *, timeout: Timeout = None
    ) -> ExpectedResponseT:
        """Expect the response to a request that is still to come; see :meth:`expect_request`."""
        expected: ExpectedResponseT = self._expect("response", url_or_predicate, timeout)
        return expected

    def wait_for_request(self, url_or_predicate: Any, *, timeout: Timeout = None) -> RequestT:
        """Wait for a request; those before do not count. Cancelling ends the wait."""
        came: RequestT = self._expect("request", url_or_predicate, timeout).value
        return came

    def wait_for_response(self, url_or_predicate: Any, *, timeout: Timeout = None) -> ResponseT:
        """Wait for the response to a request that is still to come."""
        came: ResponseT = self._expect("response", url_or_predicate, timeout).value
        return came

    def take_errors(self) -> ErrorsT:
        """Give the errors so far, so that they do not fail the test at its end."""
        errors: ErrorsT = self._surroundings.wait_for(self._calls.session.take_errors)
        return errors

    # Inside

    def _finish(self) -> ErrorsT:
        errors: ErrorsT = self._surroundings.wait_for(self._calls.session.finish)
        return errors

    def _done(self, function: Callable[[], Promise[Any]]) -> DoneT:
        done: DoneT = self._surroundings.wait_for(lambda: mapped(function(), lambda _: None))
        return done

    def _expect(self, kind: Kind, wanted: Any, timeout: Timeout) -> Any:
        def begin() -> Any:
            return self._calls.expect(kind, wanted, milliseconds(timeout))

        surroundings = self._surroundings
        show = surroundings.request if kind == "request" else surroundings.response
        return self.expectation(surroundings, begin, show)

    def _requests(self, url: UrlMatcher, method: Names, client_id: Names) -> Any:
        matcher = self._calls.optional_matcher(url, method, client_id)
        show = self._surroundings.request
        return self._surroundings.wait_for(
            lambda: mapped(self._calls.requests(matcher), lambda found: list(map(show, found)))
        )
