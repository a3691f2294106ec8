"""The state of paused requests and of WebSockets."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Literal, TypeAlias

import attrs
from msgspec import UNSET, Struct, UnsetType, field

from trafficmock import records
from trafficmock.core.deadlines import Deadline
from trafficmock.core.effects import EffectList
from trafficmock.core.state.stages import (
    REQUEST_STEPS,
    SOCKET_STEPS,
    IllegalStepError,
    RequestStage,
    SocketStage,
)
from trafficmock.matching.allow_list import AllowList
from trafficmock.matching.patterns.framework_calls import FrameworkCall
from trafficmock.matching.url_parts import shown_url
from trafficmock.records import CarriedContext, Owner
from trafficmock.texts.wording import Wording
from trafficmock.wire import inbound
from trafficmock.wire.outbound import OWN, Context
from trafficmock.wire.payloads.answer import Fault
from trafficmock.wire.payloads.quiet_repr import quiet_repr
from trafficmock.wire.payloads.request_origin import RequestOrigin
from trafficmock.wire.payloads.serialized_request import SerializedOverrides, SerializedRequest

if TYPE_CHECKING:
    from trafficmock.core.state.peers import Agent
    from trafficmock.core.state.registered import (
        Kind,
        MatchingTests,
        RegisteredRoute,
        RegisteredTest,
    )


LONGEST_URL = 2000
"""The most characters of a URL in a message."""


@attrs.frozen
class EndedTest:
    """The test of a context that has ended.

    :param carried: the test, for the history.
    :param ended_at: monotonic seconds.
    :param allow_late: as in :class:`.RegisteredTest`.
    """

    carried: CarriedContext
    ended_at: float
    allow_late: AllowList | None = None


ContextTest: TypeAlias = "RegisteredTest | EndedTest"
"""The test whose context a request carries."""


def context_of(test: ContextTest | None) -> Context | UnsetType:
    """Return the key ``context`` of messages about a request with the context of ``test``."""
    return UNSET if test is None or isinstance(test, EndedTest) else OWN


@attrs.define(eq=False)
class Claim:
    """A question to several tests about one request or WebSocket.

    :param pending_id: the id of the request or WebSocket.
    :param sequence: the number of the latest route at the beginning; later routes do not count.
    :param waiting: the tests that were asked and have not answered, by id.
    :param certain: the ids of routes that match for certain, by test id; without those of the tests
        that are asked about all their routes.
    :param answers: the ids of the routes that match according to the workers, by test id.
    :param deadline: when it expires.
    """

    kind: Kind
    pending_id: str
    sequence: int
    waiting: dict[str, RegisteredTest]
    certain: dict[str, list[str]]
    answers: dict[str, list[str]] = attrs.field(factory=dict)
    deadline: Deadline | None = None


class Candidate(Struct):
    """A route that a chain has not come to.

    :param matches: whether the route matches for certain; otherwise its worker is asked.
    """

    route: RegisteredRoute
    matches: bool


class Chain(Struct, eq=False):
    """The handlers of a request that have not run, and the changes of those before.

    :param owner: the test that owns the request.
    :param request: the request with the changes so far.
    :param candidates: the routes that may come next, the next one first.
    :param changes: the changes of all handlers so far.
    :param route: the route whose handler runs; ``None`` before the first one.
    :param run_id: the id of that run; ``None`` when it is over.
    :param asks: whether the worker is being asked about the candidates.
    """

    owner: RegisteredTest
    request: SerializedRequest
    candidates: deque[Candidate]
    changes: SerializedOverrides
    route: RegisteredRoute | None = None
    run_id: str | None = None
    asks: bool = False

    __repr__ = quiet_repr


class Arrival(Struct, frozen=True, gc=False):
    """The time at which the coordinator received a request (feature ``clock``).

    :param at: on the coordinator's monotonic clock, in microseconds.
    :param asking: the connections of the workers with the feature.
    """

    at: int
    asking: frozenset[str]


@attrs.frozen
class DeferredObservation:
    """The observation of a request that is sent when its body has arrived, or never will.

    :param request: the request without its body.
    :param context_test: the test whose context the request carries, if any.
    :param arrival: the time of the request's head, if an observer needs it.
    :param not_for: the connections of observers that began to observe after the request.
    """

    client_id: str
    request: SerializedRequest
    context_test: ContextTest | None = None
    arrival: Arrival | None = None
    not_for: frozenset[str] = frozenset()


class PendingRequest(Struct, eq=False, kw_only=True):
    """The state of a paused request.

    :param announced_at: the time of its ``request:start``, in monotonic seconds.
    :param observers: the connections that get ``request:observed`` and ``request:response``.
    :param owner_id: the connection of an owner that gets ``request:response`` although it does not
        observe (feature ``subscribe``).
    :param routes: the ids of the owner's matching routes.
    :param deferred: the observation that waits for the body; ``None`` after it was sent.
    :param fetches: the ids of the unanswered fetches of its handler.
    :param context_test: the test whose context the request carries, if any.
    :param lost: why it carries no context, while tests with contexts run.
    :param origin: where it was sent from, if its agent tells that.
    :param is_contested: whether its test has ended and several tests run: then none may own it.
    :param also_matched: the ids of routes of other tests that match the request, but do not get
        it because of its context.
    :param judged_at: the ``sequence`` of the latest route that was registered when the request was
        compared with all routes.
    :param matching: the tests that match the request, or may match it.
    :param chain: the handlers of the owner that have not run (feature ``chain``).
    :param only_test: the strict test to which a request without a context belongs: the only test
        that was registered when the claim began.
    :param framework: what a framework sends for itself, which belongs to no test.
    :param elsewhere: of a test's own call to its application, its URL at another origin: routes
        that match this one as well do not get the request.
    :param body_deadline: when the body that it waits for is overdue.
    """

    id: str
    client_id: str
    request: SerializedRequest
    agent: Agent
    announced_at: float
    observers: tuple[str, ...]
    stage: RequestStage = RequestStage.OBSERVED
    claim: Claim | None = None
    test: RegisteredTest | None = None
    owner: Owner | None = None
    owner_id: str | None = None
    routes: tuple[str, ...] = ()
    deferred: DeferredObservation | None = None
    fetches: set[str] = field(default_factory=set)
    context_test: ContextTest | None = None
    lost: records.LostContext | None = None
    origin: RequestOrigin | UnsetType = UNSET
    is_contested: bool = False
    also_matched: tuple[str, ...] = ()
    judged_at: int = 0
    matching: MatchingTests | None = None
    chain: Chain | None = None
    only_test: RegisteredTest | None = None
    framework: FrameworkCall | None = None
    elsewhere: str | None = None
    body_deadline: Deadline | None = None

    __repr__ = quiet_repr

    @property
    def subject(self) -> Wording:
        """The name of the request for messages."""
        return self.named(shown_url(self.request.url, LONGEST_URL))

    @property
    def url(self) -> str:
        return self.request.url

    @property
    def method(self) -> str:
        return self.request.method

    def named(self, url: Wording) -> Wording:
        """Return the name of the request for messages.

        :param url: its URL as messages show it.
        """
        return Wording(f"{self.request.method} ", url)

    def step(self, stage: RequestStage) -> None:
        """Change the stage.

        :raises IllegalStepError: for a step that :data:`REQUEST_STEPS` does not have.
        """
        if stage not in REQUEST_STEPS[self.stage]:
            raise IllegalStepError(f"a request cannot go from {self.stage.name} to {stage.name}")
        self.stage = stage

    def give_to(self, test: RegisteredTest) -> None:
        """Make a test own this request from now on."""
        self.test = test
        test.requests[self.id] = self
        for route_id in self.routes:
            test.busy[route_id] = test.busy.get(route_id, 0) + 1

    def leave(self, test: RegisteredTest) -> None:
        """Remove this request, which is settled, from the test that owns it."""
        self.test = None
        del test.requests[self.id]
        for route_id in self.routes:
            test.busy[route_id] -= 1
            if not test.busy[route_id]:
                del test.busy[route_id]
        if test.when_settled is not None:
            test.when_settled()


class AwaitedReport(Struct, eq=False, kw_only=True):
    """The report about a request that was sent upstream.

    :param observers: the connections that get the report.
    :param owner_id: the connection of an owner that gets the report although it does not observe.
    :param head: the id of the first request of the chain of redirects; without redirects that of
        the request itself.
    :param recorded: whether the history has the request; it does not get a hop after one that it
        does not have.
    :param deferred: the observation that waits for the body; ``None`` after it was sent.
    :param redirected: whether a redirect was reported and the next hop has not come yet.
    :param begun: whether the history has the head of the response and waits for the body.
    :param unasked: whether the agent let the request pass without asking.
    :param context_test: the test whose context the chain carries, if any.
    :param fault: with which the response breaks, unless its body ends before.
    """

    request_id: str
    action: Literal["continue", "passthrough"]
    owner: Owner | None
    observers: tuple[str, ...]
    head: str
    recorded: bool = True
    owner_id: str | None = None
    deferred: DeferredObservation | None = None
    redirected: bool = False
    begun: bool = False
    unasked: bool = False
    context_test: ContextTest | None = None
    fault: Fault | None = None


CloseMessage = inbound.ClosePage | inbound.CloseServer
SocketSide = Literal["page", "server"]


class Socket(Struct, eq=False, kw_only=True):
    """The state of a WebSocket that is held or matched.

    ``context_test``, ``is_contested``, ``also_matched``, ``judged_at``, ``matching``,
    ``only_test`` and ``elsewhere`` are those of :class:`PendingRequest`. No framework of the table
    sends one.

    :param connected: whether the handler has connected it to the real server.
    :param closed: the sides whose close was recorded.
    :param early: closes that came before there was an owner, with their monotonic time in seconds.
    """

    id: str
    client_id: str
    url: str
    protocols: list[str]
    agent: Agent
    stage: SocketStage = SocketStage.HELD
    claim: Claim | None = None
    test: RegisteredTest | None = None
    owner: records.Owner | None = None
    connected: bool = False
    closed: set[SocketSide] = field(default_factory=set)
    early: dict[type, tuple[CloseMessage, float]] = field(default_factory=dict)
    context_test: ContextTest | None = None
    lost: records.LostContext | None = None
    origin: RequestOrigin | UnsetType = UNSET
    is_contested: bool = False
    also_matched: tuple[str, ...] = ()
    judged_at: int = 0
    matching: MatchingTests | None = None
    only_test: RegisteredTest | None = None
    framework: None = None
    elsewhere: str | None = None

    __repr__ = quiet_repr

    @property
    def subject(self) -> Wording:
        """The name of the WebSocket for messages."""
        return self.named(shown_url(self.url, LONGEST_URL))

    @property
    def method(self) -> str:
        """The method of the handshake."""
        return "GET"

    def named(self, url: Wording) -> Wording:
        """Return the name of the WebSocket for messages.

        :param url: its URL as messages show it.
        """
        return Wording("the WebSocket ", url)

    def step(self, stage: SocketStage) -> None:
        """Change the stage.

        :raises IllegalStepError: for a step that :data:`SOCKET_STEPS` does not have.
        """
        if stage not in SOCKET_STEPS[self.stage]:
            raise IllegalStepError(f"a socket cannot go from {self.stage.name} to {stage.name}")
        self.stage = stage

    def record_close(self, message: CloseMessage, out: EffectList) -> None:
        """Record the close of a side, once for each side."""
        side: SocketSide = "page" if isinstance(message, inbound.ClosePage) else "server"
        if side in self.closed:
            return
        self.closed.add(side)
        code = message.code if message.code is not UNSET else None
        reason = message.reason if message.reason is not UNSET else None
        out.record(records.SocketClosed(self.id, side, code, reason, message.was_clean))

    def closes(self, code: int, reason: str, *, was_clean: bool) -> list[CloseMessage]:
        """Return the closes to send: of the page's side and, if connected, of the server's."""
        closes: list[CloseMessage] = []
        if "page" not in self.closed:
            closes.append(inbound.ClosePage(self.id, was_clean, code, reason))
        if self.connected and "server" not in self.closed:
            closes.append(inbound.CloseServer(self.id, was_clean, code, reason))
        return closes


Owned = PendingRequest | Socket
"""The things that a test can own."""
