"""The errors of the test library."""

from typing import Any

from trafficmock.errors import LocalError, PeerError


class UsageError(LocalError, ValueError):
    """An argument or an order of calls that has no meaning; nothing was sent."""


class HandlerSignatureError(UsageError, TypeError):
    """A function cannot be called as a handler is; the text has its file and line."""


class AlreadyHandledError(UsageError):
    """A route was decided twice."""


class TestEndedError(LocalError):
    """The test ended before this could happen."""

    __test__ = False


class ConnectionLostError(LocalError):
    """There is no connection to the proxy (any more)."""


class RefusedError(PeerError):
    """The proxy refused the connection, as its ``hello:error`` says."""


class WaitTimeoutError(LocalError, TimeoutError):
    """Nothing came in time; the text says what did come."""


class FetchError(LocalError):
    """The upstream gave no response to a handler's ``fetch``."""


class RequestSettledError(FetchError):
    """A handler fetched for a request that nobody waits for any more.

    The application gave the request up, as it may: a handler that ends with this
    error does not fail its test.
    """


class UndecidedError(LocalError):
    """A handler returned without a decision, and nobody can make it any more."""


class RepeatedError(LocalError):
    """An error that stands for every request that meets the same.

    :ivar repeats: how many more they are.
    """

    repeats = 0


class IsolationError(RepeatedError):
    """A request came without the context that its test requires (``isolation="required"``).

    :param request: method and URL.
    """

    def __init__(self, request: str, client_id: str) -> None:
        super().__init__(
            f"{request} of the application {client_id!r} came without the context of this test. "
            "Put trafficmock.headers or trafficmock.cookie on the requests of the test; if they "
            "have them, the application lost the context between the request that came in and "
            "this one"
        )


class RoutingError(RepeatedError):
    """The proxy could not do what a test asked for (protocol 3 ``proxy:error``).

    :param code: ``ambiguous_route``, ``handler_failed``, ``invalid_message`` and others.
    :param matches: for an ambiguous route, the diagnostics of all that match.
    """

    def __init__(self, message: str, *, code: str, matches: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.matches = matches


class UnmatchedRequestError(RoutingError):
    """Strict mode refused a request of the test that no route wants.

    :param request: kind (``http`` or ``websocket``), method and URL.
    """

    def __init__(self, message: str, request: tuple[str, str, str]) -> None:
        super().__init__(message, code="unmatched_request")
        self.request = request


class UnownedRequestsError(LocalError):
    """Strict mode refused requests that no test owns: they fail the run, and no test."""
