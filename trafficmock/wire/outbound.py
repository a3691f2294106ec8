"""The messages that the coordinator sends.

The messages that both sides send (``ping``, ``pong``, ``request:response`` and the
frames and closes of WebSockets) are in :mod:`trafficmock.wire.inbound`.
"""

from collections.abc import Collection
from typing import Any, Final, Literal

from msgspec import UNSET, Raw, UnsetType, field

from trafficmock.wire.features import STRICT
from trafficmock.wire.inbound import Message
from trafficmock.wire.payloads.answer import AbortCode, BodyWay
from trafficmock.wire.payloads.body import MessageBody
from trafficmock.wire.payloads.numbers import SafeInt
from trafficmock.wire.payloads.quiet_repr import quiet_repr
from trafficmock.wire.payloads.refused_request import UnmatchedRequest
from trafficmock.wire.payloads.serialized_matcher import PlacedValues, RouteMatchDiagnostic
from trafficmock.wire.payloads.serialized_request import SerializedOverrides, SerializedRequest
from trafficmock.wire.payloads.serialized_response import SerializedError, SerializedResponse
from trafficmock.wire.payloads.welcome import BodyLimits

UNMATCHED: Final = "unmatched_request"
"""The code for a request or WebSocket that strict mode refused."""

NO_APPLICATION: Final = "no_application"
"""The code of ``proxy:error`` for a strict test that ended without an application."""

MIXED_CONTEXT: Final = "mixed_context"
REFUSED_CONTEXT: Final = "refused_context"
"""The code of ``test:warning`` for a request that may carry the context of the wrong test."""

UNSEEN_CONNECTION: Final = "unseen_connection"
"""The code of ``test:warning`` for a connection to a real server whose requests are not seen."""

UNHOOKED_LIBRARY: Final = "unhooked_library"
"""The code of ``test:warning`` for a library of the application that an agent cannot change."""

ErrorCode = Literal[
    "ambiguous_route",
    "handler_failed",
    "disconnected",
    "internal",
    "claim_timeout",
    "unmatched_request",
]
"""The error codes of decisions: those of the npm agent, and ``unmatched_request``.

``unmatched_request`` is only for agents with the feature ``strict``, see :func:`known_code`.
"""


def known_code(code: ErrorCode, features: Collection[str]) -> ErrorCode:
    """Return ``code``, or ``internal`` for a code that agents with these features do not know."""
    return "internal" if code == UNMATCHED and STRICT not in features else code


OWN: Final = "own"
Context = Literal["own"]
"""The ``context`` of a message to a worker: ``own`` for one of its tests, never the id itself."""

HelloErrorCode = Literal["protocol_mismatch", "unauthorized", "invalid_hello"]


class HelloOk(Message, frozen=True, tag="hello:ok"):
    """The client is accepted.

    :param features: the features that both sides know.
    :param body_limits: only for agents with the feature ``stream``.
    :param own_hosts: the globs of ``--own-host``, only for agents with the feature ``context``.
    :param origins: as ``wanted`` of ``origins``, only for agents with the feature ``origins``.
    """

    connection_id: str
    protocol_version: int
    package_version: str
    client_id: str
    features: list[str] | UnsetType = UNSET
    body_limits: BodyLimits | UnsetType = UNSET
    own_hosts: list[str] | UnsetType = UNSET
    origins: bool | UnsetType = UNSET


class HelloError(Message, frozen=True, tag="hello:error"):
    """The client is refused."""

    code: HelloErrorCode
    message: str


class TestRegistered(Message, frozen=True, tag="test:registered"):
    """The test is registered: every later request may belong to it.

    :param at: the service's time in epoch milliseconds (features ``context`` and ``subscribe``).
    :param browser_proxy_port: the port of the browser proxy that the test requested; absent without
        one.
    :param browser_proxy_error: why that could not be opened.
    :param clock: the service's monotonic clock in microseconds (feature ``clock``).
    """

    test_id: str
    at: SafeInt | UnsetType = UNSET
    browser_proxy_port: int | UnsetType = field(default=UNSET, name="doorPort")
    clock: int | UnsetType = UNSET
    browser_proxy_error: str | UnsetType = field(default=UNSET, name="doorError")


class TestSubscribed(Message, frozen=True, tag="test:subscribed"):
    """The worker gets the events of every later request (feature ``subscribe``)."""

    test_id: str


class TestStricted(Message, frozen=True, tag="test:stricted"):
    """``test:strict`` applies to every later request of the test."""

    test_id: str


class TestUnregistered(Message, frozen=True, tag="test:unregistered"):
    """The test and its routes are removed."""

    test_id: str


class RouteRegistered(Message, frozen=True, tag="route:registered"):
    """The route is registered: every later request is compared with it.

    :param responses: those of its answers, without bodies and URLs; ``None`` for one that fails or
        breaks, of which the worker is told.
    """

    route_id: str
    responses: list[SerializedResponse | None] | UnsetType = UNSET


class HandlerRead(Message, frozen=True, tag="handler:read"):
    """The options of a decision have been read (:class:`~.answer.Written`).

    :param error: why they are refused; the request is still undecided.
    :param response: the response that they make, without its body, to workers with the feature
        ``subscribe``.
    """

    request_id: str
    run_id: str
    error: str | UnsetType = UNSET
    response: SerializedResponse | UnsetType = UNSET


class RouteUnregistered(Message, frozen=True, tag="route:unregistered"):
    """The routes are removed; the keys are those of ``route:unregister``."""

    route_id: str | UnsetType = UNSET
    test_id: str | UnsetType = UNSET


class RequestMessage(Message, frozen=True):
    """The parent of the messages about a request to a worker.

    Each has ``context``: ``own`` for a request with the context of a test of this worker, absent
    for traffic without a context and for workers without the feature ``context``. ``shown_url`` is
    the URL with marks for its secrets, if it has any (feature ``shown-urls``).
    """

    request_id: str
    request: SerializedRequest
    client_id: str


class RequestObserved(RequestMessage, frozen=True, tag="request:observed"):
    """An application made a request.

    :param test_id: the test whose context the request carries, where ``context`` is ``own``.
    :param seen_at: when the service received the request, by its monotonic clock in microseconds
        (feature ``clock``).
    """

    context: Context | UnsetType = UNSET
    test_id: str | UnsetType = UNSET
    seen_at: int | UnsetType = UNSET
    shown_url: str | UnsetType = UNSET


class RequestClaim(RequestMessage, frozen=True, tag="request:claim"):
    """The question which routes of the worker's tests match a request.

    The worker answers with one ``request:claim-result`` for each test.

    :param test_id: the test that is asked; absent for all tests of the worker.
    :param route_ids: the routes of which the worker evaluates the predicates; workers with the
        feature ``chain`` are asked about these only.
    :param values: those at the places of the functions of these routes.
    """

    context: Context | UnsetType = UNSET
    test_id: str | UnsetType = UNSET
    route_ids: list[str] | UnsetType = UNSET
    values: list[PlacedValues] | UnsetType = UNSET
    shown_url: str | UnsetType = UNSET


class RequestMatched(RequestMessage, frozen=True, tag="request:matched"):
    """The test owns the request; the worker runs the handler of the route."""

    route_id: str
    test_id: str
    context: Context | UnsetType = UNSET


class HandlerRun(RequestMessage, frozen=True, tag="handler:run"):
    """The worker runs the handler of a route, and answers with ``handler:result``.

    It belongs to the feature ``chain``. ``request`` has the changes of the handlers before.

    :param run_id: identifies the run in ``handler:result``.
    :param test_id: the test that owns the request; the route may be a shared one of its worker.
    :param lost: where a request without a context lost it, and what to do.
    """

    run_id: str
    route_id: str
    test_id: str
    context: Context | UnsetType = UNSET
    lost: str | UnsetType = UNSET
    shown_url: str | UnsetType = UNSET


ReplyAction = Literal["abort", "fallback"]


class RequestReplied(RequestMessage, frozen=True, tag="request:replied"):
    """The test owned the request, and the reply of its route decided it.

    :param seen_at: as in :class:`RequestObserved`.
    :param action: what the HAR or the sequence of the route did instead of giving a response.
    :param message: why it aborted the request.
    :param step: the index of the answer in the sequence of the route.
    :param entries: the numbers, from 1, of the entries of the HAR that were used: redirects, and
        the last one.
    :param lost: as in :class:`HandlerRun`.
    """

    route_id: str
    test_id: str
    context: Context | UnsetType = UNSET
    seen_at: int | UnsetType = UNSET
    action: ReplyAction | UnsetType = UNSET
    message: str | UnsetType = UNSET
    step: int | UnsetType = UNSET
    entries: list[int] | UnsetType = UNSET
    lost: str | UnsetType = UNSET
    shown_url: str | UnsetType = UNSET


class UntaggedOrigin(Message, frozen=True, tag="door:untagged"):
    """The browser of a test sent a request to a host under test without the context.

    The origins that the test named do not match it. Each origin is told once.
    """

    test_id: str
    origin: str


class RouteExpired(Message, frozen=True, tag="route:expired"):
    """A route has taken ``times`` requests, and is removed."""

    route_id: str


class FetchDone(Message, frozen=True, tag="fetch:done"):
    """The result of a handler's fetch: the upstream's response, or the error."""

    request_id: str
    fetch_id: str
    ok: bool
    response: SerializedResponse | UnsetType = UNSET
    error: SerializedError | UnsetType = UNSET


class RunStricted(Message, frozen=True, tag="run:stricted"):
    """``run:strict`` applies to every later request that no test owns.

    :param error: the reason for which ``run:strict`` was refused; then it does not apply.
    """

    query_id: str
    error: str | UnsetType = UNSET


class Unmatched(Message, frozen=True, tag="run:unmatched"):
    """The refused requests that no test owns, in the order of their first occurrence.

    :param dropped: the number of requests that the list had no room for.
    :param no_application: the error text, if a strict run had tests, but no application.
    :param frameworks: those that frameworks send for themselves, which fail no run.
    """

    query_id: str
    requests: list[UnmatchedRequest]
    dropped: int
    no_application: str | UnsetType = UNSET
    frameworks: list[UnmatchedRequest] | UnsetType = UNSET


class ProxyError(Message, frozen=True, tag="proxy:error"):
    """An error that fails a test, or all tests of the worker when ``testId`` is absent.

    :param route_id: the route that could not be registered, for workers with the feature
        ``reply``.
    """

    code: str
    message: str
    test_id: str | UnsetType = UNSET
    detail: Any = UNSET
    route_id: str | UnsetType = UNSET


class TestWarning(Message, frozen=True, tag="test:warning"):
    """Something about a test that may be a fault; it does not fail the test (``warnings``).

    :param code: ``mixed_context``, by which a test fails that requires its context;
        ``refused_context`` for the same of a request that strict mode refuses, which is an error
        of its test already; ``unseen_connection`` or ``unhooked_library``.
    """

    test_id: str
    code: str
    message: str


class HistoryResult(Message, frozen=True, tag="history:result"):
    """The history entries that match a query, newest first.

    :param capture: the value of ``--history-capture``: ``all``, ``handled`` or ``none``.
    :param values: for each entry the values for the functions of the query's matcher, each as
        :class:`~trafficmock.wire.payloads.serialized_matcher.PlacedValues`.
    :param truncated: whether older entries are left out, because the answer would be too large.
    :param shown_urls: for each entry its URL with marks for its secrets, empty for one without any;
        absent if none has any (feature ``shown-urls``).
    """

    query_id: str
    entries: list[Raw]
    capture: str | UnsetType = UNSET
    values: list[Raw] | UnsetType = UNSET
    truncated: bool | UnsetType = UNSET
    shown_urls: list[str] | UnsetType = UNSET


class DiagnosisResult(Message, frozen=True, tag="diagnosis:result"):
    """What came to a test, in lines.

    :param text: empty if nothing is to be said.
    """

    query_id: str
    text: str

    __repr__ = quiet_repr


class ReportResult(Message, frozen=True, tag="report:result"):
    """What the history has about a test, or about no test, oldest first.

    :param entries: requests, as ``/api/history/{id}`` has them.
    :param connections: WebSockets, as ``/api/ws/{id}`` has them.
    :param har: the requests as HAR 1.2.
    :param omitted: how many of both are left out, because the answer would be too large.
    :param counts: what was counted for this worker, and for no test
        (:class:`trafficmock.history.traffic_counts.WorkerCounts`).
    :param service: names this start of the service.
    :param texts: those of the query, redacted.
    :param missing: why the history does not have all of it; empty if it has.
    :param error: why there are neither entries nor texts: a word of ``redact`` is no field.
    """

    query_id: str
    entries: list[Raw]
    connections: list[Raw]
    har: Raw
    omitted: int
    counts: Raw
    service: str
    texts: list[str]
    missing: str
    error: str | UnsetType = UNSET


class RecordingPiece(Message, frozen=True, tag="recording:piece"):
    """A piece of a file that a worker writes; the pieces of a file follow on one another.

    :param body_base64: the bytes of the piece.
    :param file: the name of a file of a report, or of a body of a recording; without it, the piece
        is of the entries of a recording, a JSON list.
    :param done: nothing follows.
    :param error: why there are no files.
    """

    query_id: str
    body_base64: MessageBody
    file: str | UnsetType = UNSET
    done: bool | UnsetType = UNSET
    error: str | UnsetType = UNSET


class NeedBody(Message, frozen=True, tag="request:need-body"):
    """A test owns the request: the agent must send the whole body (feature ``stream``)."""

    request_id: str


class DecisionPassthrough(Message, frozen=True, tag="decision:passthrough"):
    """The request goes upstream unchanged.

    :param judge_hops: the agent must ask before it follows a redirect (feature ``strict``).
    """

    request_id: str
    judge_hops: bool | UnsetType = UNSET


class DecisionFulfill(Message, frozen=True, tag="decision:fulfill"):
    """The application gets this response.

    :param stream: as in :class:`~trafficmock.wire.payloads.answer.Fulfill`.
    :param way: how the answer breaks, if it does; ``after`` is set (feature ``faults``).
    """

    request_id: str
    response: SerializedResponse
    stream: bool | UnsetType = UNSET
    way: BodyWay | UnsetType = UNSET


class DecisionContinue(Message, frozen=True, tag="decision:continue"):
    """The request goes upstream with these changes.

    :param judge_hops: as in :class:`DecisionPassthrough`.
    :param way: what happens to the body of the answer on its way back (feature ``faults``).
    """

    request_id: str
    overrides: SerializedOverrides | UnsetType = UNSET
    judge_hops: bool | UnsetType = UNSET
    way: BodyWay | UnsetType = UNSET


class DecisionAbort(Message, frozen=True, tag="decision:abort"):
    """The request fails with the network error of ``errorCode``."""

    request_id: str
    error_code: AbortCode
    message: str | UnsetType = UNSET


class DecisionFetch(Message, frozen=True, tag="decision:fetch"):
    """The agent fetches the upstream's response and reports it; the request stays paused."""

    request_id: str
    fetch_id: str
    overrides: SerializedOverrides | UnsetType = UNSET
    max_redirects: SafeInt | UnsetType = UNSET
    max_retries: SafeInt | UnsetType = UNSET


class DecisionError(Message, frozen=True, tag="decision:error"):
    """No decision was possible, or strict mode refused: the request fails with the message."""

    request_id: str
    code: ErrorCode
    message: str
    matches: list[RouteMatchDiagnostic] | UnsetType = UNSET


class SocketClaim(Message, frozen=True, tag="ws:claim"):
    """The question which routes of the worker's tests match a WebSocket.

    ``test_id``, ``route_ids`` and ``shown_url`` are those of :class:`RequestClaim`.
    """

    socket_id: str
    url: str
    protocols: list[str]
    client_id: str
    context: Context | UnsetType = UNSET
    test_id: str | UnsetType = UNSET
    route_ids: list[str] | UnsetType = UNSET
    shown_url: str | UnsetType = UNSET


class SocketMatched(Message, frozen=True, tag="ws:matched"):
    """The test owns the WebSocket; the worker runs the handler of the route.

    :param shown_url: as in :class:`RequestMessage`.
    """

    socket_id: str
    route_id: str
    test_id: str
    url: str
    protocols: list[str]
    client_id: str
    context: Context | UnsetType = UNSET
    shown_url: str | UnsetType = UNSET


class SocketPassthrough(Message, frozen=True, tag="ws:passthrough"):
    """No route matches the WebSocket: the agent connects it to the real server."""

    socket_id: str


class SocketError(Message, frozen=True, tag="ws:error"):
    """The WebSocket fails with the message."""

    socket_id: str
    code: ErrorCode
    message: str
    matches: list[RouteMatchDiagnostic] | UnsetType = UNSET
