"""Records: the events of tests, requests and WebSockets that the core emits.

The history keeps those of requests and WebSockets.

``owner`` is the test that decides about a request or WebSocket; a **context** is the id of a test
that a request carries in its headers.
"""

from typing import Literal

from msgspec import Struct

from trafficmock.texts.wording import Wording
from trafficmock.wire.payloads.quiet_repr import quiet_repr
from trafficmock.wire.payloads.serialized_matcher import RouteMatchDiagnostic, ShownRoute
from trafficmock.wire.payloads.serialized_request import SerializedOverrides, SerializedRequest
from trafficmock.wire.payloads.serialized_response import SerializedError, SerializedResponse


class Owner(Struct, frozen=True):
    """The test and the route that own a request or a WebSocket, as they were at the match.

    :param route: what the route matches, and where the test registers it.
    :param other_tests: the number of other tests that ran, if the request carries no context: it
        may be theirs.
    :param is_shared: whether the route serves requests of several tests, or of none.
    """

    test_id: str
    route_id: str
    title: str
    file: str
    route: ShownRoute | None = None
    other_tests: int = 0
    is_shared: bool = False


class CarriedContext(Struct, frozen=True):
    """The test whose context a request or a WebSocket carries; another test may own it.

    :param late: the test had ended when the request came.
    """

    test_id: str
    title: str
    file: str
    late: bool


class LostContext(Struct, frozen=True):
    """Where a request without a context came from, while tests with contexts were running.

    :param how: where it lost the context, as far as its agent tells that.
    :param remedy: what to do about it.
    """

    how: str
    remedy: str

    @property
    def text(self) -> Wording:
        """Both in words."""
        return Wording(self.how, f" {self.remedy}")


class TestBegan(Struct, frozen=True):
    """A test was registered.

    :param context: its context; ``None`` without one. The history never keeps it.
    :param worker: the id of the connection of its worker.
    :param shared: it is no test, but what a worker serves to all its tests; no end follows.
    """

    __test__ = False

    test_id: str
    title: str
    file: str
    context: str | None
    worker: str = ""
    shared: bool = False

    def __repr__(self) -> str:
        """Show all but the context, which no message or log may have."""
        return f"TestBegan({self.test_id!r}, {self.title!r}, {self.file!r})"


class TestEnded(Struct, frozen=True):
    """A test has ended, or its worker was lost.

    :param passed: its result; ``None`` if the test side did not tell.
    """

    __test__ = False

    test_id: str
    passed: bool | None


class RequestSeen(Struct, frozen=True):
    """An application's request arrived.

    :param body_pending: ``request`` has no body yet; a :class:`RequestBodyCame` follows.
    :param redirected_from: the id of the request of the same client whose redirect this one
        follows.
    :param carried: the test whose context the request carries, if any.
    :param lost: why it carries none, while tests with contexts run.
    :param elsewhere: of a test's own call to its application, its URL at another origin.
    """

    request_id: str
    client_id: str
    request: SerializedRequest
    body_pending: bool = False
    redirected_from: str | None = None
    carried: CarriedContext | None = None
    lost: LostContext | None = None
    elsewhere: str | None = None

    __repr__ = quiet_repr


class RequestBodyCame(Struct, frozen=True):
    """The body of a request with ``body_pending`` arrived, or it is known that it never will.

    :param request: the request with the part of the body that arrived.
    """

    request_id: str
    request: SerializedRequest

    __repr__ = quiet_repr


MOST_ALSO_MATCHED = 5
"""The most routes of other tests that are recorded for a request with a context."""


class ContextMixedUp(Struct, frozen=True):
    """A request carries the context of a test without a route for it; only another one has one.

    :param mixed: which tests these are, and what to do.
    :param also_matched: as in :class:`RequestPassedThrough`.
    """

    request_id: str
    mixed: LostContext
    also_matched: tuple[str, ...]


class RequestPassedThrough(Struct, frozen=True):
    """No route matched the request: it is sent to its server unchanged.

    :param also_matched: the ids of the routes of other tests that match the request, but do not get
        it, because it carries the context of another test. The history keeps the first
        :data:`MOST_ALSO_MATCHED`.
    """

    request_id: str
    also_matched: tuple[str, ...] = ()


class RequestContinued(Struct, frozen=True):
    """The owner continued the request.

    :param overrides: the changes of the handler, ``None`` for none.
    """

    request_id: str
    owner: Owner
    overrides: SerializedOverrides | None

    __repr__ = quiet_repr


class RequestFulfilled(Struct, frozen=True):
    """The owner answered the request with a mock.

    :param body_pending: ``response`` is the head of a streamed mock; its pieces follow.
    """

    request_id: str
    owner: Owner
    response: SerializedResponse
    body_pending: bool = False

    __repr__ = quiet_repr


class StreamPieceSent(Struct, frozen=True):
    """The owner sent a piece of a streamed mock.

    :param size: the bytes of the piece.
    """

    request_id: str
    size: int


class StreamEnded(Struct, frozen=True):
    """A streamed mock is over.

    :param response: the response, with the beginning of its body.
    :param failure: why the response is not complete, ``None`` if it is.
    :param was_left: whether it is not complete because the application closed it.
    """

    request_id: str
    response: SerializedResponse
    failure: str | None
    was_left: bool = False

    __repr__ = quiet_repr


class AnswerNoted(Struct, frozen=True):
    """An answer is not quite what the test wrote.

    :param kind: of the event: ``fault_unreached`` for a body that ended before its fault.
    """

    request_id: str
    kind: str
    detail: str

    __repr__ = quiet_repr


class RequestAborted(Struct, frozen=True):
    """The owner aborted the request, or the application cancelled it.

    :param owner: ``None`` for a request that was cancelled before a test owned it.
    :param error_code: the abort code; ``aborted`` for a cancelled request.
    :param by_fault: whether it stands for an answer with a fault, which ``detail`` names.
    """

    request_id: str
    owner: Owner | None
    error_code: str
    detail: str
    by_fault: bool = False

    __repr__ = quiet_repr


class RequestFailed(Struct, frozen=True):
    """The application gets an error, because no decision was possible or strict mode refused it.

    :param matches: the matching routes, when several tests match.
    """

    request_id: str
    owner: Owner | None
    code: str
    message: str
    matches: list[RouteMatchDiagnostic] | None

    __repr__ = quiet_repr


class ResponseReported(Struct, frozen=True):
    """The outcome of a request that was sent upstream: a response, or an error.

    Both are set when the response's body broke off.

    :param body_pending: ``response`` is the head only; another record follows with the body.
    """

    request_id: str
    response: SerializedResponse | None
    error: SerializedError | None
    body_pending: bool = False

    __repr__ = quiet_repr


class HopSeen(Struct, frozen=True):
    """The agent follows a redirect: the new request is decided as the one before was.

    :param prior_id: the id of the request before, which was redirected.
    :param action: the decision about the request before, which holds for this one too.
    """

    request_id: str
    client_id: str
    request: SerializedRequest
    prior_id: str
    action: Literal["continue", "passthrough"]
    owner: Owner | None
    carried: CarriedContext | None = None

    __repr__ = quiet_repr


class SocketSeen(Struct, frozen=True):
    """An application opened a WebSocket.

    :param protocols: the subprotocols that the application offers.
    :param carried: the test whose context the handshake carries, if any.
    """

    socket_id: str
    client_id: str
    url: str
    protocols: list[str]
    carried: CarriedContext | None = None

    __repr__ = quiet_repr


class SocketOwned(Struct, frozen=True):
    """A test owns the WebSocket."""

    socket_id: str
    owner: Owner


class SocketPassedThrough(Struct, frozen=True):
    """No route matched the WebSocket: it is connected to its server.

    :param also_matched: as in :class:`RequestPassedThrough`.
    """

    socket_id: str
    also_matched: tuple[str, ...] = ()


class SocketFailed(Struct, frozen=True):
    """The WebSocket failed: no decision was possible, or its owner or application was lost."""

    socket_id: str
    owner: Owner | None
    code: str
    message: str
    matches: list[RouteMatchDiagnostic] | None

    __repr__ = quiet_repr


class SocketActivity(Struct, frozen=True):
    """A frame of a WebSocket, or an action of its handler.

    :param direction: ``client`` for a frame to the server, ``server`` for a frame to the
        application, ``system`` for an action.
    :param detail: the name of the action, ``None`` for frames.
    :param data: the payload of a frame: text, or base64 where ``is_base64`` is true.
    """

    socket_id: str
    direction: Literal["client", "server", "system"]
    kind: Literal["frame", "handler"]
    detail: str | None
    data: str | None
    is_base64: bool | None

    __repr__ = quiet_repr


class SocketClosed(Struct, frozen=True):
    """One side of a WebSocket closed; there is one record for each side.

    :param side: ``page`` is the application.
    :param code: the close code (RFC 6455 section 7.4), ``None`` without one.
    """

    socket_id: str
    side: Literal["page", "server"]
    code: int | None
    reason: str | None
    was_clean: bool

    __repr__ = quiet_repr


Record = (
    RequestSeen
    | RequestBodyCame
    | ContextMixedUp
    | RequestPassedThrough
    | RequestContinued
    | RequestFulfilled
    | StreamPieceSent
    | StreamEnded
    | AnswerNoted
    | RequestAborted
    | RequestFailed
    | ResponseReported
    | HopSeen
    | SocketSeen
    | SocketOwned
    | SocketPassedThrough
    | SocketFailed
    | SocketActivity
    | SocketClosed
    | TestBegan
    | TestEnded
)
