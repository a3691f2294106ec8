"""The messages that clients send to the coordinator.

Each class is the shape of one ``type``. The coordinator checks which role may send a message, and
when (:mod:`trafficmock.core.message_handlers`).
"""

from typing import Annotated, Any, Final, Literal

from msgspec import UNSET, Meta, Raw, Struct, UnsetType, field

from trafficmock.wire.client_id import ClientId
from trafficmock.wire.payloads.answer import (
    Abort,
    AbortCode,
    Continue,
    Fallback,
    Fetch,
    Fulfill,
    Written,
)
from trafficmock.wire.payloads.answer_options import WrittenOptions
from trafficmock.wire.payloads.application_origins import ApplicationOrigins, CalledServers
from trafficmock.wire.payloads.body import MessageBody
from trafficmock.wire.payloads.numbers import Count, Number, SafeInt, Times
from trafficmock.wire.payloads.quiet_repr import quiet_repr
from trafficmock.wire.payloads.request_origin import RequestOrigin
from trafficmock.wire.payloads.serialized_har import SerializedHar, SerializedRecording
from trafficmock.wire.payloads.serialized_matcher import SerializedMatcher
from trafficmock.wire.payloads.serialized_request import BodySize, NonEmpty, SerializedRequest
from trafficmock.wire.payloads.serialized_response import SerializedError, SerializedResponse
from trafficmock.wire.payloads.unmet_routes import UnmetRoute

RouteKind = Literal["http", "websocket"]
Behavior = Literal["default", "wait", "ignoreErrors"]
NewContext = Annotated[str, Meta(pattern=r"^(?!0{32})[0-9a-f]{32}\Z")]
"""128 random bits in lower-case hex: a context is also a valid trace id of W3C Trace Context."""


class Message(Struct, frozen=True, tag_field="type", rename="camel", omit_defaults=True):
    """The parent of all messages; the tag of a class is the ``type`` of its messages."""

    __repr__ = quiet_repr


class Hello(Message, frozen=True, tag="hello"):
    """The first message of a connection: the role of the client, and its protocol.

    :param features: the names in :mod:`trafficmock.wire.features` that the client knows.
    :param pid: the id of the client's process. It is only shown, so any value is accepted.
    :param command: the command line of that process; any value is accepted as well.
    :param process_mark: names that process on its machine; any value is accepted.
    :param liveness_of: the connection id of a worker for which this connection answers pings; its
        other messages are ignored.
    :param redact: what else is secret in shown URLs (feature ``shown-urls``).
    :param language: of the worker's tests: ``python`` or ``javascript``, in whose spelling their
        options come and are refused. Any value is accepted.
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
    process_mark: Any = UNSET
    liveness_of: str | UnsetType = UNSET
    redact: list[str] | UnsetType = UNSET
    language: Any = UNSET


class Ping(Message, frozen=True, tag="ping"):
    """A ping; the receiver answers with ``pong`` and the same ``at``."""

    at: Number


class Pong(Message, frozen=True, tag="pong"):
    """The answer to a ping."""

    at: Number


class RequestStart(Message, frozen=True, tag="request:start"):
    """An application's request is paused and waits for a decision.

    :param body_pending: the body has not arrived; ``request:body`` follows (feature ``stream``).
    :param redirected_from_request_id: the request whose redirect the application follows
        with this one. This request is routed like any other.
    :param context: the context of the request (feature ``context``); any text.
    :param unreported: the number of requests that the agent has let pass without a report since
        its last ``request:start``, because reports are turned off (feature ``local``).
    :param origin: where it was sent from, if it carries no context.
    """

    request_id: str
    client_id: ClientId
    request: SerializedRequest
    body_pending: bool | UnsetType = UNSET
    redirected_from_request_id: str | UnsetType = UNSET
    context: str | UnsetType = UNSET
    unreported: Count | UnsetType = UNSET
    origin: RequestOrigin | UnsetType = UNSET


class RequestBody(Message, frozen=True, tag="request:body"):
    """The body of a request that was announced with ``bodyPending`` (feature ``stream``).

    :param body_base64: the body; where ``truncated`` is true its beginning, or ``null``.
    :param body_size: the bytes of the whole body, where ``truncated`` is true.
    """

    request_id: str
    body_base64: MessageBody
    truncated: bool | UnsetType = UNSET
    body_size: BodySize | UnsetType = UNSET


class RequestCancel(Message, frozen=True, tag="request:cancel"):
    """The application cancelled the request."""

    request_id: str
    reason: str | UnsetType = UNSET


class FetchResult(Message, frozen=True, tag="fetch:result"):
    """The upstream's response to the ``decision:fetch`` of a handler, or the error."""

    request_id: str
    fetch_id: str
    ok: bool
    response: SerializedResponse | UnsetType = UNSET
    error: SerializedError | UnsetType = UNSET


class RequestResponse(Message, frozen=True, tag="request:response"):
    """The upstream's response after passthrough or continue, or the error; one for each hop.

    :param body_pending: the response is the head only; another message follows with the body
        (feature ``stream``).
    """

    request_id: str
    ok: bool
    response: SerializedResponse | UnsetType = UNSET
    error: SerializedError | UnsetType = UNSET
    body_pending: bool | UnsetType = UNSET


class RequestObserve(Message, frozen=True, tag="request:observe"):
    """The next hop of a redirect that the agent follows by itself.

    :param context: as in :class:`RequestStart`; the coordinator prefers the context of the hop
        before, if it knows that hop.
    :param decide: the agent waits for a decision, because the decision about the hop before had
        ``judgeHops``.
    """

    request_id: str
    client_id: ClientId
    request: SerializedRequest
    redirected_from_request_id: str | UnsetType = UNSET
    context: str | UnsetType = UNSET
    decide: bool | UnsetType = UNSET


class AgentError(Message, frozen=True, tag="agent:error"):
    """A message of the agent for the service's log."""

    message: str
    detail: Raw = Raw()


class Strict(Struct, frozen=True, rename="camel", omit_defaults=True):
    """Strict mode of a test: requests that no route matches are refused (feature ``strict``).

    :param allow: hosts, URL globs and matchers (``conditions``) of requests that are not refused.
    """

    allow: list[str | SerializedMatcher] = []


class TestRegister(Message, frozen=True, tag="test:register"):
    """A test begins.

    :param context: the context of the test's requests (feature ``context``).
    :param scope: ``worker`` for a test whose routes serve all tests of this worker, after their
        own routes (feature ``context``); ``run`` for one whose routes serve all tests of all
        workers, after all other routes, and are one route although each worker registers them.
    :param browser_proxy: opens a browser proxy (:mod:`trafficmock.proxy.browser_proxy`) for the
        application; only for a test with a context (feature ``context``).
    :param strict: makes the test strict from its start (feature ``strict``).
    """

    test_id: str
    title: str
    file: str
    worker_id: str
    context: NewContext | UnsetType = UNSET
    scope: Literal["worker", "run"] | UnsetType = UNSET
    browser_proxy: ApplicationOrigins | UnsetType = field(default=UNSET, name="door")
    strict: Strict | UnsetType = UNSET


class TestUnregister(Message, frozen=True, tag="test:unregister"):
    """A test ends; its routes are removed.

    :param passed: the result of the test, where the test side knows it. It decides nothing.
    :param called: the servers to which clients of the test sent its context, where it saw that.
    """

    test_id: str
    passed: bool | UnsetType = UNSET
    called: CalledServers | UnsetType = UNSET


class TestSubscribe(Message, frozen=True, tag="test:subscribe"):
    """A test subscribes to the events of all later traffic (feature ``subscribe``)."""

    test_id: str


class TestStrict(Message, frozen=True, tag="test:strict"):
    """A test becomes strict, or ends its strict mode (feature ``strict``).

    :param allow: as in :class:`Strict`; absent to end strict mode.
    """

    test_id: str
    allow: list[str | SerializedMatcher] | UnsetType = UNSET


class RouteRegister(Message, frozen=True, tag="route:register"):
    """A test registers a route.

    :param kind: whether the route is for requests or for WebSockets.
    :param place: file and line of the route in the test, to be shown (feature ``strict``).
    :param options: those of the answer, as the test has written them; with ``sequence``, of the
        answers to one request after the other.
    :param stream: the options of the answer that the handler will begin, to be refused if wrong.
    :param har: the HAR from which the requests of a route without ``options`` are answered.
    :param times: the number of requests that the route takes (feature ``chain``). Then it is
        removed.
    :param record: the real server answers the requests of a route without ``options``, and the
        coordinator records both. ``recording:query`` gets the recording.
    """

    route_id: str
    test_id: str
    matcher: SerializedMatcher
    kind: RouteKind = "http"
    place: str | UnsetType = UNSET
    options: WrittenOptions | UnsetType = UNSET
    stream: WrittenOptions | UnsetType = UNSET
    har: SerializedHar | UnsetType = UNSET
    times: Times | UnsetType = UNSET
    record: SerializedRecording | UnsetType = UNSET


class RouteUnregister(Message, frozen=True, tag="route:unregister"):
    """A test removes one route, or all its routes when only ``testId`` is there.

    :param behavior: removes the routes for requests only (feature ``chain``): ``default`` continues
        the requests of running handlers, ``ignoreErrors`` lets them run at the end of the test.
    """

    route_id: str | UnsetType = UNSET
    test_id: str | UnsetType = UNSET
    behavior: Behavior | UnsetType = UNSET


class RouteMatch(Struct, frozen=True, rename="camel"):
    """A route that matches, according to the worker."""

    route_id: str


class RequestClaimResult(Message, frozen=True, tag="request:claim-result"):
    """The answer of a test to ``request:claim``: its matching routes, possibly none."""

    request_id: str
    test_id: str
    matches: list[RouteMatch]


class SocketClaimResult(Message, frozen=True, tag="ws:claim-result"):
    """The answer of a test to ``ws:claim``."""

    socket_id: str
    test_id: str
    matches: list[RouteMatch]


class HandlerResult(Message, frozen=True, tag="handler:result"):
    """The action of a handler for a request that its test owns.

    :param run_id: that of ``handler:run`` (feature ``chain``).
    """

    request_id: str
    result: Fulfill | Continue | Abort | Fetch | Fallback | Written
    run_id: str | UnsetType = UNSET


class HistoryQuery(Message, frozen=True, tag="history:query"):
    """A worker reads the history.

    :param since: the earliest time, in epoch milliseconds.
    :param only_ids: whether the entries have nothing but ``id``.
    """

    query_id: str
    test_id: str | UnsetType = UNSET
    matcher: SerializedMatcher | UnsetType = UNSET
    since: SafeInt | UnsetType = UNSET
    only_ids: bool | UnsetType = UNSET


class DiagnosisQuery(Message, frozen=True, tag="diagnosis:query"):
    """A worker asks what came to a test, and what came instead of what its routes are for.

    :param test_id: the test; requests with the context of another one are listed only if they
        match.
    :param unmet: its routes that no request met.
    :param routes: all routes that it had, in words, by their ids.
    :param decisions: what its routes did with each request that they got, in a word, by the id of
        the request.
    :param since: the earliest time of a request, in epoch milliseconds.
    :param only_unmet: whether nothing is said of the requests themselves.
    """

    query_id: str
    test_id: str
    unmet: list[UnmetRoute]
    routes: dict[str, str]
    decisions: dict[str, str]
    since: SafeInt | UnsetType = UNSET
    only_unmet: bool = False

    __repr__ = quiet_repr


class ReportQuery(Message, frozen=True, tag="report:query"):
    """A worker reads what a report has about a test, or about no test.

    :param body_bytes: the most bytes of each body and each frame; longer ones are cut.
    :param test_id: the test; by default, what no test owned and no test's context was on.
    :param since: the earliest time, in epoch milliseconds.
    :param redact: what is secret besides what the coordinator knows, or ``off``.
    :param texts: further texts of the report, to be redacted.
    """

    query_id: str
    body_bytes: Count
    test_id: str | UnsetType = UNSET
    since: SafeInt | UnsetType = UNSET
    redact: list[str] | UnsetType = UNSET
    texts: list[str] | UnsetType = UNSET


class ReportMake(Message, frozen=True, tag="report:make"):
    """A worker has the files of a report made of data that it sends in parts.

    :param query_id: the same for all parts.
    :param body_base64: a part: lines of data files, each file behind a line with its path.
    :param more: whether further parts follow.
    """

    query_id: str
    body_base64: MessageBody
    more: bool | UnsetType = UNSET


class RecordingQuery(Message, frozen=True, tag="recording:query"):
    """A test side gets what a route has recorded, in pieces, before its test ends."""

    query_id: str
    test_id: str
    route_id: str


class RunStrict(Message, frozen=True, tag="run:strict"):
    """A strict run, begun ``age_ms`` ago: requests of no test are refused while it is connected."""

    query_id: str
    allow: list[str | SerializedMatcher]
    age_ms: Count | UnsetType = UNSET


class UnmatchedQuery(Message, frozen=True, tag="run:unmatched:query"):
    """A worker lists the refused requests of no test; by ``tell`` those that none has told of."""

    query_id: str
    age_ms: Count | UnsetType = UNSET
    tell: bool | UnsetType = UNSET


class SocketOpen(Message, frozen=True, tag="ws:connection"):
    """An application opened a WebSocket, which is held until a decision.

    :param context: as in :class:`RequestStart`.
    """

    socket_id: NonEmpty
    url: NonEmpty
    protocols: list[str]
    client_id: Annotated[ClientId, Meta(min_length=1)]
    context: str | UnsetType = UNSET


class SocketFrame(Message, frozen=True):
    """The parent of frames; ``data`` is base64 for a binary frame, which has ``isBase64``."""

    socket_id: NonEmpty
    data: str
    is_base64: bool


class MessageFromPage(SocketFrame, frozen=True, tag="ws:messageFromPage"):
    """A frame that the application sent."""


class MessageFromServer(SocketFrame, frozen=True, tag="ws:messageFromServer"):
    """A frame that the real server sent."""


class SendToPage(SocketFrame, frozen=True, tag="ws:sendToPage"):
    """A frame that the handler sends to the application."""


class SendToServer(SocketFrame, frozen=True, tag="ws:sendToServer"):
    """A frame that the handler sends to the real server."""


class SocketConnect(Message, frozen=True, tag="ws:connect"):
    """The handler connects the WebSocket to the real server."""

    socket_id: NonEmpty


class SocketEnsureOpened(Message, frozen=True, tag="ws:ensureOpened"):
    """The handler returned without connecting: the mocked WebSocket is to be opened."""

    socket_id: NonEmpty


class SocketClose(Message, frozen=True):
    """The parent of ``ws:closePage`` and ``ws:closeServer``.

    :param code: the close code (RFC 6455 section 7.4).
    """

    socket_id: NonEmpty
    was_clean: bool
    code: SafeInt | UnsetType = UNSET
    reason: str | UnsetType = UNSET


class ClosePage(SocketClose, frozen=True, tag="ws:closePage"):
    """The application closed the WebSocket, or the handler closes the application's side."""


class CloseServer(SocketClose, frozen=True, tag="ws:closeServer"):
    """The real server closed the WebSocket, or the handler closes the server's side."""


# Streamed mocks (feature ``stream-mocks``), in all directions. Pieces, end and abort have
# consecutive numbers (`seq`), which begin with 1 in each stream.

MAX_STREAM_PIECE_BYTES: Final = 256 * 2**10
"""The most bytes of one piece; test sides cut larger ones."""

STREAM_WINDOW_BYTES: Final = 2**20
"""The most bytes of a stream that are sent and not acknowledged."""

STREAM_WINDOW_PIECES: Final = 1000
"""The most pieces of a stream that are sent and not acknowledged."""

CloseReason = Literal["application", "agent", "ended", "limit"]
"""Why a stream is over: the application went away or cancelled the response, its agent was lost,
the test ended, or the worker exceeded a limit."""


class StreamData(Message, frozen=True, tag="stream:data"):
    """A piece of the body: from the worker to the coordinator, and on to the agent."""

    request_id: str
    seq: Count
    body: MessageBody


class StreamEnd(Message, frozen=True, tag="stream:end"):
    """The body is complete; same directions as :class:`StreamData`."""

    request_id: str
    seq: Count


class StreamAbort(Message, frozen=True, tag="stream:abort"):
    """The answer breaks off; same directions as :class:`StreamData`."""

    request_id: str
    seq: Count
    error_code: AbortCode


class StreamAck(Message, frozen=True, tag="stream:ack"):
    """All pieces up to ``seq`` are with the application: from the agent, and on to the worker."""

    request_id: str
    seq: Count


class StreamClosed(Message, frozen=True, tag="stream:closed"):
    """No further piece arrives: from the agent without a reason, and on to the worker.

    :param message: an explanation for people.
    """

    request_id: str
    reason: CloseReason | UnsetType = UNSET
    message: str | UnsetType = UNSET


FromWorker = StreamData | StreamEnd | StreamAbort
"""The messages by which a test writes a stream."""
