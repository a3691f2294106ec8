"""The front of the core: a method for each event, which returns a list of effects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, field

from trafficmock.core import error_messages
from trafficmock.core.effects import CloseConnection, EffectList
from trafficmock.core.ended_tests import EndedTests
from trafficmock.core.heartbeat import Heartbeat
from trafficmock.core.hello import Handshake, refuse
from trafficmock.core.http.awaited_reports import AwaitedReports
from trafficmock.core.http.chains import Chains
from trafficmock.core.http.decisions import Decisions
from trafficmock.core.http.handler_results import HandlerResults
from trafficmock.core.http.pending_bodies import PendingBodies
from trafficmock.core.http.redirect_hops import RedirectHops
from trafficmock.core.http.replies import Replies
from trafficmock.core.http.request_routing import RequestRouting
from trafficmock.core.http.response_reports import ResponseReports
from trafficmock.core.http.streamed_replies import StreamedReplies
from trafficmock.core.invalid_messages import InvalidMessages
from trafficmock.core.local.local_decisions import LocalDecisions
from trafficmock.core.local.passed_requests import PassedRequests
from trafficmock.core.lost_agents import LostAgents
from trafficmock.core.message_handlers import Handler, handlers_by_role
from trafficmock.core.ownership.claims import Claims
from trafficmock.core.ownership.contexts import Contexts
from trafficmock.core.ownership.owner_timeout import OwnerTimeouts
from trafficmock.core.ownership.registry import Registry
from trafficmock.core.ownership.strictness import Strictness
from trafficmock.core.registration import Registration
from trafficmock.core.state.lifecycle import Socket
from trafficmock.core.state.peers import Agent, Client, Liveness, Peer, Unauthenticated, Worker
from trafficmock.core.strict_mode import StrictMode
from trafficmock.core.timers import Alarm, BodyDeadlines, DelayedDecisions
from trafficmock.core.waits.waits import Waits
from trafficmock.core.websocket.websocket_relay import WebSocketRelay
from trafficmock.core.websocket.websocket_routing import WebSocketRouting
from trafficmock.matching import PatternCache
from trafficmock.wire.features import LOCAL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trafficmock.core.effects import Moment
    from trafficmock.core.settings import Settings
    from trafficmock.core.state.registered import Kind
    from trafficmock.wire.codec import InvalidMessageError
    from trafficmock.wire.inbound import Message
    from trafficmock.wire.payloads.serialized_request import SerializedRequest

GOING_AWAY = 1001
"""The WebSocket close code of a service that ends (RFC 6455 section 7.4.1)."""


@define(eq=False)
class Coordinator:
    """Decides about requests and WebSockets, without I/O and without a clock.

    Each method for an event takes the time of the event and returns the effects, in order.

    :param settings: the options of the core.
    :param lost_at_once: the number of requests and WebSockets, of disconnected agents and of ended
        tests, that are settled in one iteration of the reactor, since other requests wait for their
        decisions meanwhile.
    """

    settings: Settings
    lost_at_once: int = field(default=100, kw_only=True)
    peers: dict[str, Peer] = field(init=False, factory=dict)
    lost_agents: LostAgents = field(init=False)
    registry: Registry = field(init=False)
    claims: Claims = field(init=False, factory=Claims)
    contexts: Contexts = field(init=False)
    alarm: Alarm = field(init=False, factory=Alarm)
    owner_timeouts: OwnerTimeouts = field(init=False)
    deadlines: BodyDeadlines = field(init=False)
    decisions: Decisions = field(init=False)
    replies: Replies = field(init=False)
    requests: RequestRouting = field(init=False)
    sockets: WebSocketRouting = field(init=False)
    routing: dict[Kind, RequestRouting | WebSocketRouting] = field(init=False)
    relay: WebSocketRelay = field(init=False)
    reports: ResponseReports = field(init=False)
    hops: RedirectHops = field(init=False)
    bodies: PendingBodies = field(init=False)
    streams: StreamedReplies = field(init=False)
    handlers: HandlerResults = field(init=False)
    waits: Waits = field(init=False)
    ended_tests: EndedTests = field(init=False)
    setup: Registration = field(init=False)
    strict_mode: StrictMode = field(init=False)
    local: LocalDecisions = field(init=False)
    passed: PassedRequests = field(init=False)
    handshake: Handshake = field(init=False)
    heartbeat: Heartbeat = field(init=False)
    invalid: InvalidMessages = field(init=False)
    _handlers: dict[type[Client], dict[type[Message], Handler]] = field(init=False)

    def __attrs_post_init__(self) -> None:
        strictness = self._make_ownership()
        self._make_http(strictness, AwaitedReports())
        self._make_clients(strictness)
        self._handlers = handlers_by_role(self)

    def _make_ownership(self) -> Strictness:
        """Make the parts for tests, routes, contexts, strict mode and local decisions."""
        settings, alarm = self.settings, self.alarm
        self.contexts = Contexts(alarm)
        self.registry = Registry(
            pattern_cache=PatternCache(settings.regex_memory_bytes),
            regex_steps=settings.regex_steps,
        )
        self.owner_timeouts = OwnerTimeouts(settings.claim_timeout, alarm)
        strictness = Strictness(self.registry, settings.strict, settings.own_hosts)
        self.local = LocalDecisions(settings, self.registry, strictness, self.contexts, alarm)
        self.strict_mode = StrictMode(strictness, self.local, self.clients, self._agents, alarm)
        return strictness

    def _make_http(self, strictness: Strictness, awaited: AwaitedReports) -> None:
        """Make the parts that handle requests and WebSockets."""
        settings, registry, contexts = self.settings, self.registry, self.contexts
        claims, alarm, timeouts = self.claims, self.alarm, self.owner_timeouts
        refusals = self.strict_mode.refusals
        self.deadlines = BodyDeadlines(settings.body_timeout, alarm)
        delayed = DelayedDecisions(alarm)
        self.decisions = Decisions(claims, timeouts, awaited, self.deadlines, delayed, strictness)
        self.streams = StreamedReplies(settings, self.decisions)
        self.replies = Replies(settings, registry, self.decisions, self.streams)
        self.requests = RequestRouting(
            settings,
            registry,
            claims,
            contexts,
            alarm,
            refusals,
            timeouts,
            awaited,
            self.decisions,
            Chains(registry, self.replies),
        )
        self.sockets = WebSocketRouting(
            settings, registry, claims, contexts, alarm, refusals, timeouts
        )
        self.routing = {"http": self.requests, "websocket": self.sockets}
        self.relay = WebSocketRelay(self.sockets)
        self.reports = ResponseReports(settings, awaited)
        self.hops = RedirectHops(
            registry,
            contexts,
            awaited,
            self.decisions.pending,
            refusals,
            self.local.told_by,
        )
        self.bodies = PendingBodies(settings, self.requests, self.decisions)
        self.passed = PassedRequests(
            registry,
            contexts,
            self.local,
            awaited,
            self.decisions,
            lambda agent, message, out: self._handlers[Agent][type(message)](agent, message, out),
        )
        self.handlers = HandlerResults(settings, self.requests, self.decisions, self.streams)

    def _make_clients(self, strictness: Strictness) -> None:
        """Make the parts for the beginning and end of clients and tests."""
        self.lost_agents = LostAgents(
            self.lost_at_once,
            self.decisions,
            self.handlers,
            self.streams,
            self.reports,
            self.sockets,
            self.alarm,
        )
        self.ended_tests = EndedTests(
            self.lost_at_once,
            self.settings.claim_timeout,
            self.claims,
            self.decisions,
            self.streams,
            self.routing,
            self.sockets,
            self.alarm,
        )
        self.waits = Waits(self.registry, self.local, self.alarm, self.clients)
        self.setup = Registration(
            self.registry,
            self.contexts,
            strictness,
            self.ended_tests,
            self.local,
            self._agents,
            self.replies,
            self.requests,
            self.strict_mode.lost_runs,
            self.waits,
        )
        self.handshake = Handshake(self.settings, self.peers)
        self.heartbeat = Heartbeat(self.settings)
        self.invalid = InvalidMessages(self.decisions, self.sockets, self.reports, self.bodies)

    # Events

    def heed_predecessor(self, now: Moment) -> None:
        """Handle that another process may have listened on this port until now."""
        self.local.heed_predecessor(now.seconds)

    def connect(self, connection_id: str, now: Moment, *, kind: str = "node") -> EffectList:
        """Handle a new connection, before its first message.

        :param kind: the way it is connected (``node`` or ``proxy``), only to be shown.
        """
        out = EffectList(now)
        if not self.peers:
            self.heartbeat.begin(now)
        connection = Unauthenticated(connection_id, now.seconds, kind)
        self.peers[connection_id] = connection
        self.heartbeat.met(connection)
        self.alarm.need(self.heartbeat.next_deadline(), out)
        return out

    def handle(self, connection_id: str, message: Message, now: Moment) -> EffectList:
        """Handle a message; messages of refused and closed connections are ignored."""
        out = EffectList(now)
        peer = self.peers.get(connection_id)
        if isinstance(peer, Client):
            peer.heard(now.seconds)
            handler = self._handlers[type(peer)].get(type(message))
            if handler is None:
                text = f"{peer.client_id} sent {type(message).__name__}, not for its role"
                out.note("warn", text)
            else:
                handler(peer, message, out)
                if self.ended_tests.deciding:
                    self.ended_tests.handlers_decided(out)
        elif peer is not None:
            self._introduce(peer, message, out)
        self.waits.heed(out)
        return out

    def handle_invalid(
        self, connection_id: str, error: InvalidMessageError, now: Moment
    ) -> EffectList:
        """Handle a message that could not be decoded."""
        out = EffectList(now)
        peer = self.peers.get(connection_id)
        if isinstance(peer, Client):
            peer.heard(now.seconds)
            self.invalid.invalid(peer, error, out)
        elif peer is not None:
            self._refused(peer)
            refuse(peer.id, "invalid_hello", str(error), out)
        self.waits.heed(out)
        return out

    def disconnect(self, connection_id: str, now: Moment, *, clean: bool = False) -> EffectList:
        """Handle the end of a connection; the peers that wait for it are answered.

        :param clean: whether the peer closed the connection by a close frame.
        """
        out = EffectList(now)
        peer = self.peers.pop(connection_id, None)
        if isinstance(peer, Agent):
            self.local.left(peer, out, clean=clean)
            self.lost_agents.add(peer, out)
        elif isinstance(peer, Worker):
            self.setup.worker_lost(peer, out)
            self.local.worker_left(peer)
            self.strict_mode.worker_left(peer, out, clean=clean)
            self.waits.left(peer)
        elif isinstance(peer, Liveness):
            peer.gone()
        elif peer is not None:
            self.heartbeat.introduced(connection_id)
        self.waits.heed(out)
        return out

    def tick(self, now: Moment) -> EffectList:
        """Handle all deadlines that have passed; the driver calls it for :class:`.Wake`."""
        out = EffectList(now)
        self.alarm.fired()
        self.lost_agents.go_on(out)
        self.ended_tests.handlers_decided(out)
        self.ended_tests.go_on(out)
        for connection in self.heartbeat.late_hellos(out):
            del self.peers[connection.id]
        for claim in list(self.claims.expired(now.seconds)):
            self.routing[claim.kind].claim_expired(claim, out)
        for owned in self.owner_timeouts.overdue(out):
            if isinstance(owned, Socket):
                self.sockets.owner_silent(owned, out)
            else:
                self.requests.owner_silent(owned, out)
        for pending in self.deadlines.overdue(now):
            self.bodies.overdue(pending, out)
        self.decisions.delayed.send(out)
        self.sockets.forget_closed(now.seconds)
        self.contexts.forget_ended(now.seconds)
        self.strict_mode.lost_runs.forget(now.seconds)
        self.local.tick(out)
        self.waits.heed(out)
        self.waits.overdue(out)
        self.heartbeat.beat(self.clients(), out)
        self._set_alarm(out)
        return out

    def stop(self, now: Moment) -> EffectList:
        """Handle the end of the service: settle all requests and close all connections."""
        out = EffectList(now)
        while self.lost_agents.waiting:
            self.lost_agents.go_on(out)
        while self.ended_tests.waiting:
            self.ended_tests.go_on(out)
        requests, sockets = list(self.decisions.pending.values()), [*self.sockets.sockets.values()]
        if requests or sockets:
            unsettled = len(requests) + len(sockets)
            out.note("info", error_messages.left_unsettled("the proxy", "stops", unsettled))
        for pending in requests:
            self.decisions.fail(pending, "disconnected", error_messages.stopping(str(pending)), out)
        for socket in sockets:
            self.sockets.fail(socket, "disconnected", error_messages.stopping(str(socket)), out)
        self.streams.stop(out)
        for peer_id in self.peers:
            out.append(CloseConnection(peer_id, GOING_AWAY, "The proxy stops."))
        return out

    def progressed(self, connection_id: str, now: Moment) -> None:
        """Count it as a sign of life that a connection has accepted bytes of its send queue."""
        peer = self.peers.get(connection_id)
        if isinstance(peer, Client):
            peer.heard(now.seconds)

    def undelivered(self, message: Message, problem: str, now: Moment) -> EffectList:
        """Handle that a message is too large to be sent, even in its smaller form.

        The request or WebSocket of the message is settled with an error.

        :param problem: the problem of the message, as the predicate of a sentence.
        """
        out = EffectList(now)
        self.invalid.undelivered(message, problem, out)
        return out

    def would_refuse_tunnel(self, connection_id: str, request: SerializedRequest) -> bool:
        """Return whether strict mode would refuse a tunnel of an agent, see :class:`StrictMode`."""
        agent = self.peers.get(connection_id)
        return isinstance(agent, Agent) and self.strict_mode.would_refuse_tunnel(agent, request)

    def refuse_tunnel(
        self, connection_id: str, tunnel_id: str, request: SerializedRequest, now: Moment
    ) -> tuple[str | None, EffectList]:
        """Refuse a tunnel of an agent, if strict mode does, see :class:`StrictMode`.

        :returns: the error text, ``None`` for an allowed tunnel; and the effects.
        """
        out = EffectList(now)
        agent = self.peers.get(connection_id)
        if not isinstance(agent, Agent):
            return None, out
        return self.strict_mode.refuse_tunnel(agent, tunnel_id, request, out), out

    # Views

    def clients(self) -> list[Client]:
        """Return the clients that have sent ``hello``, in the order of their connection."""
        return [peer for peer in self.peers.values() if isinstance(peer, Client)]

    def _agents(self) -> Iterator[Agent]:
        yield from (peer for peer in self.peers.values() if isinstance(peer, Agent))
        yield from (lost.agent for lost in self.lost_agents.waiting)

    # Ends of events

    def _introduce(self, connection: Unauthenticated, message: Message, out: EffectList) -> None:
        client = self.handshake.first_message(connection, message, out)
        if client is not None:
            self.heartbeat.introduced(client.id)
            self.peers[client.id] = client
            if isinstance(client, Worker):
                self.waits.joined(client)
            if isinstance(client, Agent):
                self.strict_mode.strictness.applications.any_application = True
                if LOCAL in client.features:
                    self.local.joined(client, out)
        elif out:
            self._refused(connection)

    def _refused(self, peer: Unauthenticated) -> None:
        self.heartbeat.introduced(peer.id)
        del self.peers[peer.id]

    def hello_again(self, client: Client, _: Message, out: EffectList) -> None:
        """Refuse a second ``hello``, and close the connection."""
        refuse(client.id, "invalid_hello", "A connection says `hello` once.", out)
        out.extend(self.disconnect(client.id, out.now))

    def _set_alarm(self, out: EffectList) -> None:
        if self.lost_agents.waiting or self.ended_tests.waiting:
            self.alarm.need(out.now.seconds, out)
        if self.peers:
            self.alarm.need(self.heartbeat.next_deadline(), out)
        for due in (
            self.claims.next_deadline(),
            self.ended_tests.next_deadline(),
            self.owner_timeouts.next_deadline(),
            self.deadlines.next_deadline(),
            self.decisions.delayed.next_deadline(),
            self.sockets.next_deadline(),
            self.contexts.next_deadline(),
            self.strict_mode.lost_runs.next_deadline(),
            self.local.next_deadline(),
            self.waits.next_deadline(),
        ):
            if due is not None:
                self.alarm.need(due, out)
