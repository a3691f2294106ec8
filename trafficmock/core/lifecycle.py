"""Paused requests and WebSockets: what is known of each, and one table of steps for each."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Literal

from msgspec import UNSET, Struct, field

from trafficmock import records
from trafficmock.errors import TrafficMockError
from trafficmock.wire import inbound

if TYPE_CHECKING:
    from trafficmock.core.effects import EffectList
    from trafficmock.core.http.deferred_bodies import DeferredObservation
    from trafficmock.core.ownership.claims import Claim
    from trafficmock.core.ownership.contexts import ContextTest
    from trafficmock.core.ownership.registry import RegisteredRoute, RegisteredTest
    from trafficmock.core.peers import Agent
    from trafficmock.records import Owner
    from trafficmock.wire.inbound import RequestBody
    from trafficmock.wire.payloads.serialized_request import SerializedRequest


class IllegalStepError(TrafficMockError):
    """The core tried a step that its table does not have: a mistake in the core."""


class RequestStage(enum.IntEnum):
    """How far a request has come; a number, because those are quickly looked up."""

    OBSERVED = enum.auto()
    CLAIMING = enum.auto()
    AWAITS_BODY = enum.auto()
    MATCHED = enum.auto()
    SETTLED = enum.auto()


class SocketStage(enum.IntEnum):
    """How far a WebSocket has come."""

    HELD = enum.auto()
    CLAIMING = enum.auto()
    MATCHED = enum.auto()
    CLOSING = enum.auto()
    GONE = enum.auto()


_R, _S = RequestStage, SocketStage

REQUEST_STEPS: dict[RequestStage, frozenset[RequestStage]] = {
    _R.OBSERVED: frozenset({_R.CLAIMING, _R.AWAITS_BODY, _R.MATCHED, _R.SETTLED}),
    _R.CLAIMING: frozenset({_R.AWAITS_BODY, _R.MATCHED, _R.SETTLED}),
    _R.AWAITS_BODY: frozenset({_R.MATCHED, _R.SETTLED}),
    _R.MATCHED: frozenset({_R.SETTLED}),
    _R.SETTLED: frozenset(),
}

SOCKET_STEPS: dict[SocketStage, frozenset[SocketStage]] = {
    _S.HELD: frozenset({_S.CLAIMING, _S.GONE}),
    _S.CLAIMING: frozenset({_S.MATCHED, _S.GONE}),
    _S.MATCHED: frozenset({_S.CLOSING, _S.GONE}),
    _S.CLOSING: frozenset({_S.GONE}),
    _S.GONE: frozenset(),
}


class PendingRequest(Struct, eq=False, kw_only=True):
    """What is known of a paused request.

    :param announced_at: monotonic seconds.
    :param observers: the connections that get its announcement and its end.
    :param owner_id: the connection of an owner that is told how it ended though it may not
        observe (feature ``subscribe``).
    :param routes: the ids of the owner's routes that match it.
    :param deferred: what the observers get when the body is there; ``None`` when they got it.
    :param fetches: the ids of the fetches that are under way for it.
    :param made_for: the test whose context it carries, if any.
    :param also_matched: routes of other tests that would have matched without its context.
    :param judged_at: routes registered later did not count when its owner was looked for.
    :param unsure: the ids of tests that match by a route and may match by a newer one.
    :param reply: the owner's route whose reply answers it.
    :param presumed: the strict test that it belongs to without a context: the only one that was
        registered when its round of asking began.
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
    made_for: ContextTest | None = None
    also_matched: tuple[str, ...] = ()
    judged_at: int = 0
    unsure: frozenset[str] = frozenset()
    reply: RegisteredRoute | None = None
    presumed: RegisteredTest | None = None

    def __str__(self) -> str:
        return self.named(self.request.url)

    @property
    def url(self) -> str:
        return self.request.url

    @property
    def method(self) -> str:
        return self.request.method

    def named(self, url: str) -> str:
        """Name it for people, with its URL as it is to be shown."""
        return f"{self.request.method} {url}"

    def send_deferred(self, out: EffectList, content: RequestBody | None = None) -> None:
        """Send its observers what was deferred, if anything was.

        :param content: its body; without it there will be none.
        """
        if self.deferred is not None:
            self.request = self.deferred.send(self.id, content, self.observers, out)
            self.deferred = None

    def step(self, stage: RequestStage) -> None:
        """Go on to ``stage``.

        :raises IllegalStepError: when the table has no such step.
        """
        if stage not in REQUEST_STEPS[self.stage]:
            raise IllegalStepError(f"a request cannot go from {self.stage.name} to {stage.name}")
        self.stage = stage


CloseMessage = inbound.ClosePage | inbound.CloseServer
SocketSide = Literal["page", "server"]


class Socket(Struct, eq=False, kw_only=True):
    """What is known of a WebSocket that is held or matched.

    :param connected: the handler asked for the real upstream.
    :param closed: the sides whose close was recorded.
    :param early: closes that came before there was an owner to tell, and when.
    :param made_for: the test whose context it carries, if any.
    :param also_matched: routes of other tests that would have matched without its context.
    :param presumed: as of :class:`PendingRequest`.
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
    made_for: ContextTest | None = None
    also_matched: tuple[str, ...] = ()
    judged_at: int = 0
    unsure: frozenset[str] = frozenset()
    presumed: RegisteredTest | None = None

    def __str__(self) -> str:
        return self.named(self.url)

    @property
    def method(self) -> str:
        """That of its handshake."""
        return "GET"

    def named(self, url: str) -> str:
        """Name it for people, with its URL as it is to be shown."""
        return f"the WebSocket {url}"

    def step(self, stage: SocketStage) -> None:
        """Go on to ``stage``.

        :raises IllegalStepError: when the table has no such step.
        """
        if stage not in SOCKET_STEPS[self.stage]:
            raise IllegalStepError(f"a socket cannot go from {self.stage.name} to {stage.name}")
        self.stage = stage

    def record_close(self, message: CloseMessage, out: EffectList) -> None:
        """Record that a side closed, once for each side."""
        side: SocketSide = "page" if isinstance(message, inbound.ClosePage) else "server"
        if side in self.closed:
            return
        self.closed.add(side)
        code = message.code if message.code is not UNSET else None
        reason = message.reason if message.reason is not UNSET else None
        out.record(records.SocketClosed(self.id, side, code, reason, message.was_clean))

    def closes(self, code: int, reason: str, *, was_clean: bool) -> list[CloseMessage]:
        """Write the close of the page's side and, where there is one, of the server's."""
        closes: list[CloseMessage] = []
        if "page" not in self.closed:
            closes.append(inbound.ClosePage(self.id, was_clean, code, reason))
        if self.connected and "server" not in self.closed:
            closes.append(inbound.CloseServer(self.id, was_clean, code, reason))
        return closes


Owned = PendingRequest | Socket
"""What a test can own."""
