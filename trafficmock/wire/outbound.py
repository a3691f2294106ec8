"""The messages that the coordinator sends.

Those that travel both ways (``ping``, ``pong``, ``request:response`` and the
frames and closes of WebSockets) are the classes of :mod:`trafficmock.wire.inbound`.
"""

from collections.abc import Collection
from typing import Any, Final, Literal

from msgspec import UNSET, Raw, Struct, UnsetType

from trafficmock.wire.features import STRICT
from trafficmock.wire.inbound import Message
from trafficmock.wire.payloads.handler_action import AbortCode
from trafficmock.wire.payloads.numbers import SafeInt
from trafficmock.wire.payloads.refused_request import UnmatchedRequest
from trafficmock.wire.payloads.serialized_matcher import RouteMatchDiagnostic
from trafficmock.wire.payloads.serialized_request import SerializedOverrides, SerializedRequest
from trafficmock.wire.payloads.serialized_response import SerializedError, SerializedResponse

UNMATCHED: Final = "unmatched_request"
"""Strict mode refused it."""

ErrorCode = Literal[
    "ambiguous_route",
    "handler_failed",
    "disconnected",
    "internal",
    "claim_timeout",
    "unmatched_request",
]
"""The codes that the npm agent understands in a decision, and ``unmatched_request``.

That one is only for agents with the feature ``strict``; no other code may be sent.
"""


def known_code(code: ErrorCode, features: Collection[str]) -> ErrorCode:
    """Give a code as an agent with these features knows it."""
    return "internal" if code == UNMATCHED and STRICT not in features else code


OWN: Final = "own"
Context = Literal["own"]
"""The context that a request carries, as its worker is told: never the id itself."""

HelloErrorCode = Literal["protocol_mismatch", "unauthorized", "invalid_hello"]


class BodyLimits(Struct, frozen=True, rename="camel"):
    """How much of a body an agent that streams may send, in bytes.

    :param history: of a body that nobody but the history wants.
    :param handler: of a body that was asked for by :class:`NeedBody`.
    """

    history: int
    handler: int


class HelloOk(Message, frozen=True, tag="hello:ok"):
    """The client is in; ``features`` is what both sides know.

    :param body_limits: only for agents with the feature ``stream``.
    :param own_hosts: globs of ``--own-host``, only for agents with the feature ``context``.
    """

    connection_id: str
    protocol_version: int
    package_version: str
    client_id: str
    features: list[str] | UnsetType = UNSET
    body_limits: BodyLimits | UnsetType = UNSET
    own_hosts: list[str] | UnsetType = UNSET


class HelloError(Message, frozen=True, tag="hello:error"):
    """The client is refused."""

    code: HelloErrorCode
    message: str


class TestRegistered(Message, frozen=True, tag="test:registered"):
    """This test counts for every later request; ``at`` is the service's time in epoch milliseconds.

    Only workers get the time that have the feature ``subscribe``.

    :param door_port: of the door that the test asked for; absent when there is none.
    :param clock: the service's monotonic clock in microseconds (feature ``clock``).
    """

    test_id: str
    at: SafeInt | UnsetType = UNSET
    door_port: int | UnsetType = UNSET
    clock: int | UnsetType = UNSET


class TestSubscribed(Message, frozen=True, tag="test:subscribed"):
    """This test's worker gets every later request (feature ``subscribe``)."""

    test_id: str


class TestStricted(Message, frozen=True, tag="test:stricted"):
    """Every later request of this test is judged as ``test:strict`` said."""

    test_id: str


class TestUnregistered(Message, frozen=True, tag="test:unregistered"):
    """The test and its routes are gone."""

    test_id: str


class RouteRegistered(Message, frozen=True, tag="route:registered"):
    """Every later request is compared with this route."""

    route_id: str


class RouteUnregistered(Message, frozen=True, tag="route:unregistered"):
    """Echoes the keys of the message it answers."""

    route_id: str | UnsetType = UNSET
    test_id: str | UnsetType = UNSET


class RequestMessage(Message, frozen=True):
    """The parent of what tells a worker about a request.

    Each has ``context``: ``own`` when it carries the context of a test of this worker, absent
    for traffic without a context and for workers without the feature ``context``. All but claims
    have ``seen_at``: when the service took note of the request, by its clock (feature ``clock``).
    """

    request_id: str
    request: SerializedRequest
    client_id: str


class RequestObserved(RequestMessage, frozen=True, tag="request:observed"):
    """Some application made this request.

    :param test_id: the test whose context it carries, where ``context`` is ``own``.
    """

    context: Context | UnsetType = UNSET
    test_id: str | UnsetType = UNSET
    seen_at: int | UnsetType = UNSET


class RequestClaim(RequestMessage, frozen=True, tag="request:claim"):
    """Which of your tests want it?"""

    context: Context | UnsetType = UNSET


class RequestMatched(RequestMessage, frozen=True, tag="request:matched"):
    """This test owns it: run its handlers."""

    route_id: str
    test_id: str
    context: Context | UnsetType = UNSET
    seen_at: int | UnsetType = UNSET


class RequestReplied(RequestMessage, frozen=True, tag="request:replied"):
    """This test owned it, and the reply of its route answered it (feature ``reply``)."""

    route_id: str
    test_id: str
    context: Context | UnsetType = UNSET
    seen_at: int | UnsetType = UNSET


class RouteExpired(Message, frozen=True, tag="route:expired"):
    """The reply of a route has been given as often as it may: the route is gone.

    :param request_id: that of a request which came too late for it. Its next handler is due.
    """

    route_id: str
    request_id: str | UnsetType = UNSET


class FetchDone(Message, frozen=True, tag="fetch:done"):
    """The answer to a handler's fetch."""

    request_id: str
    fetch_id: str
    ok: bool
    response: SerializedResponse | UnsetType = UNSET
    error: SerializedError | UnsetType = UNSET


class RunStricted(Message, frozen=True, tag="run:stricted"):
    """Every later request that no test owns is judged as ``run:strict`` said.

    :param error: why it changed nothing.
    """

    query_id: str
    error: str | UnsetType = UNSET


class Unmatched(Message, frozen=True, tag="run:unmatched"):
    """The refused requests that no test owns, in the order in which they came first.

    :param dropped: requests for which the list had no place.
    """

    query_id: str
    requests: list[UnmatchedRequest]
    dropped: int


class ProxyError(Message, frozen=True, tag="proxy:error"):
    """Something that must fail a test (all of a worker's tests when none is named).

    :param route_id: of a route that was not registered, for workers with the feature ``reply``.
    """

    code: str
    message: str
    test_id: str | UnsetType = UNSET
    detail: Any = UNSET
    route_id: str | UnsetType = UNSET


class HistoryResult(Message, frozen=True, tag="history:result"):
    """The recorded entries that a query asked for, newest first.

    :param capture: what the history keeps at all: ``all``, ``handled`` or ``none``.
    """

    query_id: str
    entries: list[Raw]
    capture: str | UnsetType = UNSET


class ConnectedClient(Struct, frozen=True, rename="camel", omit_defaults=True):
    """A client as people see it; ``/api/connections`` has the same keys.

    :param connected_at: epoch milliseconds.
    :param kind: of agents, the way they are connected: ``node`` or ``proxy``.
    :param pid: of its process, where it says so.
    :param command: the command line of that process, where it says so.
    """

    client_id: str
    connection_id: str
    connected_at: int
    kind: str | UnsetType = UNSET
    pid: int | UnsetType = UNSET
    command: str | UnsetType = UNSET


class AgentsResult(Message, frozen=True, tag="agents:result"):
    """The agents and forward proxy clients that are connected, in the order in which they came."""

    query_id: str
    agents: list[ConnectedClient]


class NeedBody(Message, frozen=True, tag="request:need-body"):
    """A test owns the request: its body is wanted whole (feature ``stream``)."""

    request_id: str


class DecisionPassthrough(Message, frozen=True, tag="decision:passthrough"):
    """Send it upstream as it is.

    :param judge_hops: ask before a redirect is followed (feature ``strict``).
    """

    request_id: str
    judge_hops: bool | UnsetType = UNSET


class DecisionFulfill(Message, frozen=True, tag="decision:fulfill"):
    """Answer the application with this."""

    request_id: str
    response: SerializedResponse


class DecisionContinue(Message, frozen=True, tag="decision:continue"):
    """Send it upstream with these changes.

    :param judge_hops: as in :class:`DecisionPassthrough`.
    """

    request_id: str
    overrides: SerializedOverrides | UnsetType = UNSET
    judge_hops: bool | UnsetType = UNSET


class DecisionAbort(Message, frozen=True, tag="decision:abort"):
    """Fail it as a network would."""

    request_id: str
    error_code: AbortCode
    message: str | UnsetType = UNSET


class DecisionFetch(Message, frozen=True, tag="decision:fetch"):
    """Ask the upstream and report; the application stays paused."""

    request_id: str
    fetch_id: str
    overrides: SerializedOverrides | UnsetType = UNSET
    max_redirects: SafeInt | UnsetType = UNSET
    max_retries: SafeInt | UnsetType = UNSET


class DecisionError(Message, frozen=True, tag="decision:error"):
    """Nobody could decide; the application's call fails with the message."""

    request_id: str
    code: ErrorCode
    message: str
    matches: list[RouteMatchDiagnostic] | UnsetType = UNSET


class SocketClaim(Message, frozen=True, tag="ws:claim"):
    """Which of your tests want this WebSocket?"""

    socket_id: str
    url: str
    protocols: list[str]
    client_id: str
    context: Context | UnsetType = UNSET


class SocketMatched(Message, frozen=True, tag="ws:matched"):
    """This test owns the WebSocket."""

    socket_id: str
    route_id: str
    test_id: str
    url: str
    protocols: list[str]
    client_id: str
    context: Context | UnsetType = UNSET


class SocketPassthrough(Message, frozen=True, tag="ws:passthrough"):
    """Nobody wants it: connect it to the real server."""

    socket_id: str


class SocketError(Message, frozen=True, tag="ws:error"):
    """The WebSocket must fail."""

    socket_id: str
    code: ErrorCode
    message: str
    matches: list[RouteMatchDiagnostic] | UnsetType = UNSET
