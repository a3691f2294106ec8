"""The errors of the test library."""

from typing import Any

from trafficmock.errors import LocalError, PeerError


class UsageError(LocalError, ValueError):
    """A call has an invalid argument, or came at the wrong time; nothing was sent."""


class HandlerSignatureError(UsageError, TypeError):
    """A function does not take the arguments of a handler; the text has its file and line."""


class UnknownArgumentError(UsageError, TypeError):
    """A call has an argument that it does not know; the text names the one that may be meant."""


class AlreadyHandledError(UsageError):
    """A handler decided a request that is decided already."""


class TestEndedError(LocalError):
    """The test ended before the call, or while it waited."""

    __test__ = False


class ConnectionLostError(LocalError):
    """There is no connection to the proxy: it cannot be reached, closed, or did not answer."""


class UnmetRouteError(LocalError):
    """No request met a route that a request has to meet (``required``); the text names them."""


class ApplicationError(LocalError):
    """The application of the tests did not start; the text has what it wrote."""


class RefusedError(PeerError):
    """The proxy refused the connection by ``hello:error``, for example for a wrong token."""


class WaitTimeoutError(LocalError, TimeoutError):
    """No request or response matched within the timeout; the text lists those that came."""


class FetchError(LocalError):
    """A handler's ``fetch`` got no response from upstream.

    :ivar code: of the network, such as ``ECONNREFUSED``, or of the proxy, if there is one.
    """

    def __init__(self, message: str, code: str | None = None) -> None:
        super().__init__(message)
        self.code = code


class StreamClosedError(LocalError):
    """The application closed a streamed answer, or its connection is lost: no piece arrives."""


class RequestSettledError(FetchError):
    """The application gave its request up while a handler fetched for it.

    A handler that ends with this error does not fail its test.
    """


class UndecidedError(LocalError):
    """A handler returned without a decision and kept no reference to the route."""


class RepeatedError(LocalError):
    """One error for all requests that fail in the same way.

    :ivar repeats: the number of such requests after the first.
    """

    repeats = 0


_WITHOUT_CONTEXT = (
    "Put trafficmock.headers or trafficmock.cookie on the requests of the test; if they have them, "
    "the application lost the context between the request that came in and this one"
)


class IsolationError(RepeatedError):
    """A request came without the context that its test requires (``isolation="required"``).

    :param request: the method and URL of the request.
    :param client_id: the client id of the application that sent it.
    :param lost: where it lost the context, and what to do, as the proxy says.
    """

    def __init__(self, request: str, client_id: str, lost: str = "") -> None:
        super().__init__(
            f"{request} of the application {client_id!r} came without the context of this test. "
            + (lost or _WITHOUT_CONTEXT)
        )


class MixedContextError(IsolationError):
    """A request carries one test's context, although only another test has a route for it.

    It is raised in tests with ``isolation="required"``; others get a :class:`MixedContextWarning`,
    and so does each test where strict mode refuses the request.
    """

    def __init__(self, message: str) -> None:
        super(RepeatedError, self).__init__(message)


class MixedContextWarning(UserWarning):
    """A request carries one test's context, although only another test has a route for it."""


class UnseenTrafficWarning(UserWarning):
    """Traffic of the application is not seen, such as HTTP/2, or a library cannot be changed.

    What the test mocks may have reached a real server all the same, and requests of a process
    with such a library have no context while it knows those of several tests.
    """


class UnusedReplayWarning(UserWarning):
    """A test passed, and a HAR that it replays answered no request of an application."""


class RoutingError(RepeatedError):
    """The proxy reported an error about a test (``proxy:error`` of protocol 3).

    :param code: ``ambiguous_route``, ``handler_failed``, ``invalid_message`` and others.
    :param matches: for ``ambiguous_route``, a list with a dict for each matching route
        (``routeId``, ``testId``, ``title``, ``file``, ``workerId``, ``matcher``).
    """

    def __init__(self, message: str, *, code: str, matches: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.matches = matches


class UnmatchedRequestError(RoutingError):
    """Strict mode refused a request of the test that no route matches.

    :param request: the kind of the request (``http`` or ``websocket``), its method and its URL.
    """

    def __init__(self, message: str, request: tuple[str, str, str]) -> None:
        super().__init__(message, code="unmatched_request")
        self.request = request


class UnownedRequestsError(LocalError):
    """Strict mode refused requests that no test owns; they fail the run instead of a test."""


class NoApplicationError(LocalError):
    """The tests of a strict run ended, and no application was connected to the proxy."""
