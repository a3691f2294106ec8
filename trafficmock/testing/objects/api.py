"""What both ways of writing tests have in common: arguments in, calls of the session out."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from attrs import define, field

from trafficmock.matching import GlobError
from trafficmock.testing.har.har_routes import HarOptions, route_from_har
from trafficmock.testing.session.callables import check_handler
from trafficmock.testing.session.url_matchers import Names, UrlMatcher, make_matcher
from trafficmock.testing.session.waiting import Observation

if TYPE_CHECKING:
    from trafficmock.testing.session.http_routes import Behavior
    from trafficmock.testing.session.promise import Promise
    from trafficmock.testing.session.request_state import RequestState
    from trafficmock.testing.session.session import Session
    from trafficmock.testing.session.url_matchers import Matcher
    from trafficmock.testing.session.waiting import Kind, Waiter

__tracebackhide__ = True
"""For pytest: a failure is shown where the test's own code called."""


@define
class SessionCalls:
    """Calls of one session; each is made where the session lives."""

    session: Session
    observing: Observation = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.observing = Observation(self.session)

    def matcher(self, url: UrlMatcher, method: Names, client_id: Names) -> Matcher:
        """Read what a test gave."""
        base_url = self.session.base_url
        try:
            return make_matcher(url, method=method, client_id=client_id, base_url=base_url)
        except GlobError as error:
            # The glob is the test's; where its reader stopped says nothing.
            raise error.with_traceback(None) from None

    def optional_matcher(self, url: UrlMatcher, method: Names, client_id: Names) -> Matcher | None:
        """Read what a test gave; nothing is no matcher."""
        if url is None and method is None and client_id is None:
            return None
        return self.matcher(url, method, client_id)

    def route(self, matcher: Matcher, handler: Any, times: float | None) -> Promise[Any]:
        """Register a handler."""
        check_handler(handler, "(route, request)")
        return self.session.http.route(matcher, handler, times)

    def unroute(self, matcher: Matcher | None, handler: Any) -> Promise[None]:
        """Remove handlers."""
        return self.session.http.unroute(matcher, handler)

    def unroute_all(self, behavior: Behavior) -> Promise[None]:
        """Remove all handlers of HTTP requests."""
        return self.session.http.unroute_all(behavior)

    def route_from_har(self, options: HarOptions) -> Promise[Any]:
        """Answer from a HAR file, or write one."""
        return route_from_har(self.session, options)

    def route_web_socket(self, url: UrlMatcher, handler: Any) -> Promise[Any]:
        """Register a handler of WebSockets."""
        check_handler(handler, "(ws)")
        matcher = make_matcher(url, base_url=self.session.base_url, websocket=True)
        return self.session.sockets.add(matcher, handler)

    def expect(self, kind: Kind, wanted: Any, timeout: float) -> Waiter:
        """Begin a wait."""
        return self.observing.expect(kind, wanted, timeout)

    def requests(self, matcher: Matcher | None) -> Promise[list[RequestState]]:
        """Promise the traffic so far."""
        return self.observing.requests(matcher)


def warn_of_capture(session: Session) -> None:
    """Say that a list of requests cannot be complete, where that is so."""
    if session.memory.capture is not None:
        text = f"the proxy keeps only part of the traffic (capture: {session.memory.capture})"
        warnings.warn(text, stacklevel=3)
