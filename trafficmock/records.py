"""Records of what happened: the core emits them and forgets them, the history keeps them."""

from typing import Literal

from msgspec import Struct

from trafficmock.wire.payloads.serialized_matcher import RouteMatchDiagnostic
from trafficmock.wire.payloads.serialized_request import SerializedOverrides, SerializedRequest
from trafficmock.wire.payloads.serialized_response import SerializedError, SerializedResponse


class Owner(Struct, frozen=True):
    """The test that got a request or a socket, as it was called when it was matched."""

    test_id: str
    route_id: str
    title: str
    file: str


class MadeFor(Struct, frozen=True):
    """The test whose context a request or a socket carries, whoever gets it.

    :param late: the test had ended.
    """

    test_id: str
    title: str
    file: str
    late: bool


class RequestSeen(Struct, frozen=True):
    """An application's request arrived.

    :param body_pending: without its body, of which :class:`RequestBodyCame` will tell.
    :param redirected_from: the request of the same client whose redirect it follows.
    :param made_for: the test whose context it carries, if any.
    """

    request_id: str
    client_id: str
    request: SerializedRequest
    body_pending: bool = False
    redirected_from: str | None = None
    made_for: MadeFor | None = None


class RequestBodyCame(Struct, frozen=True):
    """The body of a request that was seen without it is there, or will never be.

    :param request: with as much of the body as there is.
    """

    request_id: str
    request: SerializedRequest


class RequestPassedThrough(Struct, frozen=True):
    """Nobody wanted it: it goes to the real network unchanged.

    :param also_matched: routes of other tests that match it, where its context kept it from
        them; the first few ids.
    """

    request_id: str
    also_matched: tuple[str, ...] = ()


class RequestContinued(Struct, frozen=True):
    """Its owner sent it on, changed or not."""

    request_id: str
    owner: Owner
    overrides: SerializedOverrides | None


class RequestFulfilled(Struct, frozen=True):
    """Its owner answered it."""

    request_id: str
    owner: Owner
    response: SerializedResponse


class RequestAborted(Struct, frozen=True):
    """Its owner failed it, or the application gave it up."""

    request_id: str
    owner: Owner | None
    error_code: str
    detail: str


class RequestFailed(Struct, frozen=True):
    """It could not be decided."""

    request_id: str
    owner: Owner | None
    code: str
    message: str
    matches: list[RouteMatchDiagnostic] | None


class ResponseReported(Struct, frozen=True):
    """The upstream answered, or failed, after the decision; both when the body broke off.

    :param body_pending: the response is only a head; another report will bring the body.
    """

    request_id: str
    response: SerializedResponse | None
    error: SerializedError | None
    body_pending: bool = False


class HopSeen(Struct, frozen=True):
    """The agent follows a redirect: a request with the fate of the one before."""

    request_id: str
    client_id: str
    request: SerializedRequest
    prior_id: str
    action: Literal["continue", "passthrough"]
    owner: Owner | None
    made_for: MadeFor | None = None


class SocketSeen(Struct, frozen=True):
    """An application opened a WebSocket.

    :param made_for: the test whose context it carries, if any.
    """

    socket_id: str
    client_id: str
    url: str
    protocols: list[str]
    made_for: MadeFor | None = None


class SocketOwned(Struct, frozen=True):
    """A test owns it."""

    socket_id: str
    owner: Owner


class SocketPassedThrough(Struct, frozen=True):
    """No route matched it.

    :param also_matched: as in :class:`RequestPassedThrough`.
    """

    socket_id: str
    also_matched: tuple[str, ...] = ()


class SocketFailed(Struct, frozen=True):
    """It could not be decided, or lost its owner or its application."""

    socket_id: str
    owner: Owner | None
    code: str
    message: str
    matches: list[RouteMatchDiagnostic] | None


class SocketActivity(Struct, frozen=True):
    """A frame or an action of the handler.

    ``direction`` is who seems to speak to the application's eyes: ``client`` for what
    goes to the server, ``server`` for what goes to the application.
    """

    socket_id: str
    direction: Literal["client", "server", "system"]
    kind: Literal["frame", "handler"]
    detail: str | None
    data: str | None
    is_base64: bool | None


class SocketClosed(Struct, frozen=True):
    """One side closed; recorded once for each side."""

    socket_id: str
    side: Literal["page", "server"]
    code: int | None
    reason: str | None
    was_clean: bool


Record = (
    RequestSeen
    | RequestBodyCame
    | RequestPassedThrough
    | RequestContinued
    | RequestFulfilled
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
)
