"""The messages that clients send to the coordinator.

A class stands for one ``type``. Which role may send what, and when, is the
coordinator's business; here is only their shape.
"""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Raw, Struct, UnsetType

from trafficmock.wire.client_id import ClientId
from trafficmock.wire.payloads.handler_action import Abort, Continue, Decline, Fetch, Fulfill
from trafficmock.wire.payloads.numbers import Count, Number, SafeInt, Times
from trafficmock.wire.payloads.serialized_matcher import SerializedMatcher
from trafficmock.wire.payloads.serialized_request import (
    BodySize,
    NonEmpty,
    SerializedRequest,
)
from trafficmock.wire.payloads.serialized_response import SerializedError, SerializedResponse

RouteKind = Literal["http", "websocket"]
NewContext = Annotated[str, Meta(pattern=r"^(?!0{32})[0-9a-f]{32}\Z")]
"""128 random bits in lower-case hex, so that it can be a trace id of W3C Trace Context too."""


class Message(Struct, frozen=True, tag_field="type", rename="camel", omit_defaults=True):
    """The parent of all messages, which gives them their ``type``."""


class Hello(Message, frozen=True, tag="hello"):
    """Who speaks, in which protocol; the first message of a connection.

    :param pid: the process that speaks. It is only shown, so that no value of it is refused.
    :param command: the command line of that process, likewise.
    :param liveness_of: the connection id of a worker (feature ``liveness``) that this connection
        answers pings for; its other messages are ignored.
    """

    protocol_version: SafeInt
    package_version: str
    role: Literal["node", "playwright", "runner"]
    client_id: str | UnsetType = UNSET
    worker_id: str | UnsetType = UNSET
    token: str | UnsetType = UNSET
    features: list[str] | UnsetType = UNSET
    pid: Any = UNSET
    command: Any = UNSET
    liveness_of: str | UnsetType = UNSET


class Ping(Message, frozen=True, tag="ping"):
    """A client asks for a sign of life."""

    at: Number


class Pong(Message, frozen=True, tag="pong"):
    """A client answers a ping of the service."""

    at: Number


class RequestStart(Message, frozen=True, tag="request:start"):
    """An application's request is paused and waits for a decision.

    :param body_pending: its body has not arrived and stands nowhere yet (feature ``stream``).
    :param redirected_from_request_id: the request whose redirect the application follows
        with this one, which is routed like any other.
    :param context: what the request that led to it carried (feature ``context``); any text.
    :param unreported: how many requests the agent has let pass since the last one without a
        report, because reports were turned off (feature ``local``).
    """

    request_id: str
    client_id: ClientId
    request: SerializedRequest
    body_pending: bool | UnsetType = UNSET
    redirected_from_request_id: str | UnsetType = UNSET
    context: str | UnsetType = UNSET
    unreported: Count | UnsetType = UNSET


class RequestBody(Message, frozen=True, tag="request:body"):
    """The body of a request that was announced without it (feature ``stream``).

    :param body_base64: all of it, or where ``truncated`` is true a part or nothing.
    :param body_size: the bytes that it had, where it is truncated.
    """

    request_id: str
    body_base64: Raw
    truncated: bool | UnsetType = UNSET
    body_size: BodySize | UnsetType = UNSET


class RequestCancel(Message, frozen=True, tag="request:cancel"):
    """The application gave the request up."""

    request_id: str
    reason: str | UnsetType = UNSET


class FetchResult(Message, frozen=True, tag="fetch:result"):
    """What the upstream said to a fetch that a handler asked for."""

    request_id: str
    fetch_id: str
    ok: bool
    response: SerializedResponse | UnsetType = UNSET
    error: SerializedError | UnsetType = UNSET


class RequestResponse(Message, frozen=True, tag="request:response"):
    """What the upstream said after passthrough or continue, one report a hop.

    :param body_pending: this is the head; the whole comes when the body has (feature
        ``stream``).
    """

    request_id: str
    ok: bool
    response: SerializedResponse | UnsetType = UNSET
    error: SerializedError | UnsetType = UNSET
    body_pending: bool | UnsetType = UNSET


class RequestObserve(Message, frozen=True, tag="request:observe"):
    """The next hop of a redirect that the agent follows by itself.

    :param context: as in :class:`RequestStart`; that of the hop before counts where it is known.
    :param decide: the agent waits for a decision: the hop before had ``judge_hops``.
    """

    request_id: str
    client_id: ClientId
    request: SerializedRequest
    redirected_from_request_id: str | UnsetType = UNSET
    context: str | UnsetType = UNSET
    decide: bool | UnsetType = UNSET


class AgentError(Message, frozen=True, tag="agent:error"):
    """A message for the service's log."""

    message: str
    detail: Raw = Raw()


class Door(Struct, frozen=True, rename="camel", omit_defaults=True):
    """A forward proxy of a test's own, which puts its context on requests for the application.

    :param origins: globs of the application's origins; without any, hosts under test are it.
    """

    origins: list[str] = []


class Strict(Struct, frozen=True, rename="camel", omit_defaults=True):
    """A test is strict: what no route wants is refused (feature ``strict``).

    :param allow: hosts and URL globs that are allowed all the same.
    """

    allow: list[str] = []


class TestRegister(Message, frozen=True, tag="test:register"):
    """A test begins.

    :param context: what its traffic carries (feature ``context``).
    :param scope: ``worker`` for routes that serve all tests of this worker, after their own
        (feature ``context``).
    :param door: is to be opened; only for a test with a context (feature ``context``).
    :param strict: refuses its requests that no route wants (feature ``strict``).
    """

    test_id: str
    title: str
    file: str
    worker_id: str
    context: NewContext | UnsetType = UNSET
    scope: Literal["worker"] | UnsetType = UNSET
    door: Door | UnsetType = UNSET
    strict: Strict | UnsetType = UNSET


class TestUnregister(Message, frozen=True, tag="test:unregister"):
    """A test ends, and with it its routes."""

    test_id: str


class TestSubscribe(Message, frozen=True, tag="test:subscribe"):
    """A test asks for all traffic from now on (feature ``subscribe``)."""

    test_id: str


class TestStrict(Message, frozen=True, tag="test:strict"):
    """A test is strict from now on, or not any more (feature ``strict``).

    :param allow: as in :class:`Strict`; absent to end it.
    """

    test_id: str
    allow: list[str] | UnsetType = UNSET


class RecordedReply(Struct, frozen=True, rename="camel"):
    """What answers the requests of a route with exactly this method and URL."""

    method: str
    url: str
    response: SerializedResponse


class RouteRegister(Message, frozen=True, tag="route:register"):
    """A test wants the traffic that the matcher matches.

    :param place: where the test states it, for people (feature ``strict``).
    :param reply: what answers each request of the route (feature ``reply``).
    :param replies: what answers some of them, where there is no ``reply``.
    :param times: how many requests the reply answers; then the route is gone.
    """

    route_id: str
    test_id: str
    matcher: SerializedMatcher
    kind: RouteKind = "http"
    place: str | UnsetType = UNSET
    reply: SerializedResponse | UnsetType = UNSET
    replies: list[RecordedReply] | UnsetType = UNSET
    times: Times | UnsetType = UNSET


class RouteUnregister(Message, frozen=True, tag="route:unregister"):
    """A test gives up one route, or all of them when only the test is named."""

    route_id: str | UnsetType = UNSET
    test_id: str | UnsetType = UNSET


class RouteMatch(Struct, frozen=True, rename="camel"):
    """A route that the worker found to match."""

    route_id: str


class RequestClaimResult(Message, frozen=True, tag="request:claim-result"):
    """A test's answer to a claim; no matches is an answer too."""

    request_id: str
    test_id: str
    matches: list[RouteMatch]


class SocketClaimResult(Message, frozen=True, tag="ws:claim-result"):
    """A test's answer to a claim about a WebSocket."""

    socket_id: str
    test_id: str
    matches: list[RouteMatch]


class HandlerResult(Message, frozen=True, tag="handler:result"):
    """What a handler decided about a request that was matched to its test."""

    request_id: str
    result: Fulfill | Continue | Abort | Fetch | Decline


class HistoryQuery(Message, frozen=True, tag="history:query"):
    """A worker asks for recorded traffic, from an epoch millisecond on if it says so."""

    query_id: str
    test_id: str | UnsetType = UNSET
    matcher: SerializedMatcher | UnsetType = UNSET
    since: SafeInt | UnsetType = UNSET


class AgentsQuery(Message, frozen=True, tag="agents:query"):
    """A worker asks which applications are connected (feature ``agents``)."""

    query_id: str


class RunStrict(Message, frozen=True, tag="run:strict"):
    """Refuse what no test owns, as long as this connection lives (feature ``strict``).

    :param allow: as in :class:`Strict`.
    """

    query_id: str
    allow: list[str]


class UnmatchedQuery(Message, frozen=True, tag="run:unmatched:query"):
    """A worker asks for the refused requests that no test owns (feature ``strict``)."""

    query_id: str


class SocketOpen(Message, frozen=True, tag="ws:connection"):
    """An application opened a WebSocket; it is held until somebody decides.

    :param context: as in :class:`RequestStart`.
    """

    socket_id: NonEmpty
    url: NonEmpty
    protocols: list[str]
    client_id: Annotated[ClientId, Meta(min_length=1)]
    context: str | UnsetType = UNSET


class SocketFrame(Message, frozen=True):
    """The parent of the frames; ``data`` is base64 when the frame is binary."""

    socket_id: NonEmpty
    data: str
    is_base64: bool


class MessageFromPage(SocketFrame, frozen=True, tag="ws:messageFromPage"):
    """A frame of the application."""


class MessageFromServer(SocketFrame, frozen=True, tag="ws:messageFromServer"):
    """A frame of the real server."""


class SendToPage(SocketFrame, frozen=True, tag="ws:sendToPage"):
    """A frame that the handler sends to the application."""


class SendToServer(SocketFrame, frozen=True, tag="ws:sendToServer"):
    """A frame that the handler sends to the real server."""


class SocketConnect(Message, frozen=True, tag="ws:connect"):
    """The handler wants the real upstream opened.

    :param unhandled: no handler was found for the WebSocket: nobody wants it opened.
    """

    socket_id: NonEmpty
    unhandled: bool | UnsetType = UNSET


class SocketEnsureOpened(Message, frozen=True, tag="ws:ensureOpened"):
    """The handler is done and did not connect: open the mocked socket."""

    socket_id: NonEmpty


class SocketClose(Message, frozen=True):
    """The parent of the two closes."""

    socket_id: NonEmpty
    was_clean: bool
    code: SafeInt | UnsetType = UNSET
    reason: str | UnsetType = UNSET


class ClosePage(SocketClose, frozen=True, tag="ws:closePage"):
    """The application's side closed, or is to be closed."""


class CloseServer(SocketClose, frozen=True, tag="ws:closeServer"):
    """The real server's side closed, or is to be closed."""
