"""The front of the core: a method for each event, which returns a list of effects."""

from __future__ import annotations

from collections.abc import Callable

from attrs import define, field

from trafficmock.core import error_messages
from trafficmock.core.answers.giving import Answers
from trafficmock.core.answers.route_answers import RouteAnswers
from trafficmock.core.answers.streamed_answers import StreamedAnswers
from trafficmock.core.effects import CloseConnection, EffectList, Moment
from trafficmock.core.ended_tests import EndedTests
from trafficmock.core.heartbeat import Heartbeat
from trafficmock.core.hello import Handshake, refuse
from trafficmock.core.http.chains import Chains
from trafficmock.core.http.decisions import Decisions
from trafficmock.core.http.handler_results import HandlerResults
from trafficmock.core.http.pending_bodies import PendingBodies
from trafficmock.core.http.redirect_hops import RedirectHops
from trafficmock.core.http.request_routing import RequestRouting
from trafficmock.core.http.response_reports import ResponseReports
from trafficmock.core.invalid_messages import InvalidMessages
from trafficmock.core.isolation.mixed_contexts import MixedContexts
from trafficmock.core.isolation.unhooked_libraries import UnhookedLibraries
from trafficmock.core.isolation.unseen_connections import UnseenConnections
from trafficmock.core.isolation.wanted_origins import WantedOrigins
from trafficmock.core.local.local_decisions import LocalDecisions
from trafficmock.core.local.passed_requests import PassedRequests
from trafficmock.core.lost_agents import LostAgents
from trafficmock.core.message_handlers import Handler, handlers_by_role
from trafficmock.core.registration import Registration
from trafficmock.core.settings import Settings
from trafficmock.core.shared_state import SharedState
from trafficmock.core.state.peers import Agent, Client, Liveness, Unauthenticated, Worker
from trafficmock.core.state.registered import Kind
from trafficmock.core.strict_mode import StrictMode
from trafficmock.core.waits.waits import Waits
from trafficmock.core.websocket.websocket_relay import WebSocketRelay
from trafficmock.core.websocket.websocket_routing import WebSocketRouting
from trafficmock.wire.codec import InvalidMessageError
from trafficmock.wire.features import LOCAL
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
    :param may_run: returns whether a process may run still, by the mark of its ``hello``.
    """

    settings: Settings
    lost_at_once: int = field(default=100, kw_only=True)
    may_run: Callable[[str], bool] = field(default=lambda _: True, kw_only=True)
    state: SharedState = field(init=False)
    local: LocalDecisions = field(init=False)
    strict_mode: StrictMode = field(init=False)
    wanted_origins: WantedOrigins = field(init=False)
    mixed_contexts: MixedContexts = field(init=False)
    unseen_connections: UnseenConnections = field(init=False)
    unhooked_libraries: UnhookedLibraries = field(init=False)
    decisions: Decisions = field(init=False)
    streams: StreamedAnswers = field(init=False)
    answers: Answers = field(init=False)
    requests: RequestRouting = field(init=False)
    sockets: WebSocketRouting = field(init=False)
    routing: dict[Kind, RequestRouting | WebSocketRouting] = field(init=False)
    relay: WebSocketRelay = field(init=False)
    reports: ResponseReports = field(init=False)
    hops: RedirectHops = field(init=False)
    bodies: PendingBodies = field(init=False)
    passed: PassedRequests = field(init=False)
    handlers: HandlerResults = field(init=False)
    waits: Waits = field(init=False)
    lost_agents: LostAgents = field(init=False)
    ended_tests: EndedTests = field(init=False)
    setup: Registration = field(init=False)
    handshake: Handshake = field(init=False)
    heartbeat: Heartbeat = field(init=False)
    invalid: InvalidMessages = field(init=False)
    _handlers: dict[type[Client], dict[type[Message], Handler]] = field(init=False)

    def __attrs_post_init__(self) -> None:
        state = self.state = SharedState(self.settings)
        state.strictness.applications.may_run = self.may_run
        self.local = LocalDecisions(state)
        self.strict_mode = StrictMode(state, self.local)
        self.wanted_origins = WantedOrigins(state)
        self.mixed_contexts = MixedContexts(state, self.wanted_origins)
        self.unseen_connections = UnseenConnections(state)
        self.unhooked_libraries = UnhookedLibraries(state)
        self._make_http(state)
        self._make_websockets(state)
        self.waits = Waits(state, self.local)
        self._make_ends(state)
        self.handshake, self.heartbeat = Handshake(state), Heartbeat(state)
        self.invalid = InvalidMessages(
            state,
            decisions=self.decisions,
            sockets=self.sockets,
            reports=self.reports,
            bodies=self.bodies,
        )
        self._handlers = handlers_by_role(self)

    def _make_http(self, state: SharedState) -> None:
        """Make the rules for requests."""
        self.decisions = Decisions(state)
        self.streams = StreamedAnswers(state, self.decisions)
        self.answers = Answers(self.decisions, self.streams)
        self.requests = RequestRouting(
            state,
            self.strict_mode.refusals,
            self.mixed_contexts.look,
            decisions=self.decisions,
            chains=Chains(state, RouteAnswers(state, self.answers)),
        )
        self.reports = ResponseReports(state)
        self.bodies = PendingBodies(state, requests=self.requests, decisions=self.decisions)
        self.hops = RedirectHops(
            state,
            self.strict_mode.refusals,
            observers_before=self.local.observers_before,
            unseen=self.unseen_connections,
        )
        self.handlers = HandlerResults(
            state, requests=self.requests, decisions=self.decisions, answers=self.answers
        )
        self.passed = PassedRequests(
            state,
            self.local,
            handle=lambda agent, each, out: self._handlers[Agent][type(each)](agent, each, out),
        )

    def _make_websockets(self, state: SharedState) -> None:
        self.sockets = WebSocketRouting(state, self.strict_mode.refusals, self.mixed_contexts.look)
        self.relay = WebSocketRelay(self.sockets)
        self.routing = {"http": self.requests, "websocket": self.sockets}

    def _make_ends(self, state: SharedState) -> None:
        """Make the rules for the beginning and end of tests, and for the end of agents."""
        self.lost_agents = LostAgents(
            state,
            decisions=self.decisions,
            handlers=self.handlers,
            streams=self.streams,
            reports=self.reports,
            sockets=self.sockets,
            at_once=self.lost_at_once,
        )
        self.ended_tests = EndedTests(
            state,
            decisions=self.decisions,
            streams=self.streams,
            routing=self.routing,
            sockets=self.sockets,
            local=self.local,
            waits=self.waits,
            wanted_origins=self.wanted_origins,
            mixed_contexts=self.mixed_contexts,
            unseen_connections=self.unseen_connections,
            at_once=self.lost_at_once,
        )
        self.setup = Registration(
            state,
            unhooked_libraries=self.unhooked_libraries,
            local=self.local,
            requests=self.requests,
            lost_runs=self.strict_mode.lost_runs,
            wanted_origins=self.wanted_origins,
            unowned=self.strict_mode.unowned,
        )

    # Events

    def await_older_leases(self, now: Moment) -> EffectList:
        """Handle that another process may have listened on this port until now."""
        out = EffectList(now)
        self.local.await_older_leases(out)
        return out

    def connect(self, connection_id: str, now: Moment, *, kind: str = "node") -> EffectList:
        """Handle a new connection, before its first message.

        :param kind: the way it is connected (``node`` or ``proxy``), only to be shown.
        """
        out = EffectList(now)
        if not self.state.peers:
            self.heartbeat.begin(out)
        connection = Unauthenticated(connection_id, now.seconds, kind)
        self.state.peers[connection_id] = connection
        self.heartbeat.met(connection, out)
        return out

    def handle(self, connection_id: str, message: Message, now: Moment) -> EffectList:
        """Handle a message; messages of refused and closed connections are ignored."""
        out = EffectList(now)
        peer = self.state.peers.get(connection_id)
        if isinstance(peer, Client):
            _heard(peer, now)
            handler = self._handlers[type(peer)].get(type(message))
            if handler is None:
                text = f"{peer.client_id} sent {type(message).__name__}, not for its role"
                out.note("warn", text)
            else:
                handler(peer, message, out)
                if self.ended_tests.unseen_contexts.waiting:
                    self.ended_tests.end_seen(out)
                if self.ended_tests.deciding:
                    self.ended_tests.settle_decided(out)
        elif peer is not None:
            self._introduce(peer, message, out)
        if self.waits.workers:
            self.waits.compare(out)
        return out

    def handle_invalid(
        self, connection_id: str, error: InvalidMessageError, now: Moment
    ) -> EffectList:
        """Handle a message that could not be decoded."""
        out = EffectList(now)
        peer = self.state.peers.get(connection_id)
        if isinstance(peer, Client):
            _heard(peer, now)
            self.invalid.invalid(peer, error, out)
        elif peer is not None:
            self._refused(peer)
            refuse(peer.id, "invalid_hello", str(error), out)
        self.waits.compare(out)
        return out

    def disconnect(self, connection_id: str, now: Moment, *, clean: bool = False) -> EffectList:
        """Handle the end of a connection; the peers that wait for it are answered.

        :param clean: whether the peer closed the connection by a close frame.
        """
        out = EffectList(now)
        peer = self.state.peers.pop(connection_id, None)
        if isinstance(peer, Agent):
            self.local.left(peer, out, clean=clean)
            self.lost_agents.add(peer, out)
        elif isinstance(peer, Worker):
            self.ended_tests.worker_lost(peer, out)
            self.local.worker_left(peer)
            self.strict_mode.worker_left(peer, out, clean=clean)
            self.waits.left(peer)
        elif isinstance(peer, Liveness):
            peer.gone()
        elif peer is not None:
            self.heartbeat.introduced(connection_id)
        self.waits.compare(out)
        return out

    def tick(self, now: Moment) -> EffectList:
        """Do what is due; the driver calls it for :class:`.Wake`."""
        out = EffectList(now)
        self.state.deadlines.tick(out)
        self.waits.compare(out)
        self.waits.end_overdue(out)
        return out

    def stop(self, now: Moment) -> EffectList:
        """Handle the end of the service: settle all requests and close all connections."""
        out = EffectList(now)
        while self.state.lost_agents:
            self.lost_agents.go_on(out)
        while self.ended_tests.waiting:
            self.ended_tests.settle_more(out)
        requests, sockets = list(self.state.pending.values()), [*self.state.sockets.values()]
        if requests or sockets:
            unsettled = len(requests) + len(sockets)
            out.note("info", error_messages.left_unsettled("the proxy", "stops", unsettled))
        for pending in requests:
            self.decisions.fail(
                pending, "disconnected", error_messages.stopping(pending.subject), out
            )
        for socket in sockets:
            self.sockets.fail(socket, "disconnected", error_messages.stopping(socket.subject), out)
        self.streams.stop(out)
        for peer_id in self.state.peers:
            out.append(CloseConnection(peer_id, GOING_AWAY, "The proxy stops."))
        return out

    def progressed(self, connection_id: str, now: Moment) -> None:
        """Count it as a sign of life that a connection has accepted bytes of its send queue."""
        peer = self.state.peers.get(connection_id)
        if isinstance(peer, Client):
            _heard(peer, now)

    def undelivered(self, message: Message, problem: str, now: Moment) -> EffectList:
        """Handle that a message is too large to be sent, even in its smaller form.

        The request or WebSocket of the message is settled with an error.

        :param problem: the problem of the message, as the predicate of a sentence.
        """
        out = EffectList(now)
        self.invalid.undelivered(message, problem, out)
        return out

    def browser_proxy_called(self, test_id: str, origin: str) -> None:
        """Note that the browser proxy of a test passed a request to its application.

        :param origin: of the application, as in URLs.
        """
        test = self.state.registry.tests.get(test_id)
        if test is not None:
            test.called_origin = test.called_origin or origin

    def would_refuse_tunnel(self, connection_id: str, request: SerializedRequest) -> bool:
        """Return whether strict mode would refuse a tunnel of an agent, see :class:`StrictMode`."""
        agent = self.state.peers.get(connection_id)
        return isinstance(agent, Agent) and self.strict_mode.would_refuse_tunnel(agent, request)

    def may_be_mocked(self, url: str) -> bool:
        """Return whether a route may match a URL of a server; true in doubt.

        :param url: ``https://host:port/``.
        """
        return self.state.registry.may_match(f"{url.removesuffix('/').removesuffix(':443')}/")

    def refuse_tunnel(
        self, connection_id: str, tunnel_id: str, request: SerializedRequest, now: Moment
    ) -> tuple[str | None, EffectList]:
        """Refuse a tunnel of an agent, if strict mode does, see :class:`StrictMode`.

        :returns: the error text, ``None`` for an allowed tunnel; and the effects.
        """
        out = EffectList(now)
        agent = self.state.peers.get(connection_id)
        if not isinstance(agent, Agent):
            return None, out
        return self.strict_mode.refuse_tunnel(agent, tunnel_id, request, out), out

    # Views

    def clients(self) -> list[Client]:
        """Return the clients that have sent ``hello``, in the order of their connection."""
        return self.state.clients()

    # Ends of events

    def _introduce(self, connection: Unauthenticated, message: Message, out: EffectList) -> None:
        client = self.handshake.first_message(connection, message, out)
        if client is not None:
            self.heartbeat.introduced(client.id)
            self.state.peers[client.id] = client
            if isinstance(client, Worker):
                self.waits.joined(client)
            if isinstance(client, Agent):
                self.state.strictness.applications.met(client)
                if LOCAL in client.features:
                    self.local.joined(client, out)
        elif out:
            self._refused(connection)

    def _refused(self, peer: Unauthenticated) -> None:
        self.heartbeat.introduced(peer.id)
        del self.state.peers[peer.id]

    def hello_again(self, client: Client, _: Message, out: EffectList) -> None:
        """Refuse a second ``hello``, and close the connection."""
        refuse(client.id, "invalid_hello", "A connection says `hello` once.", out)
        out.extend(self.disconnect(client.id, out.now))


def _heard(client: Client, now: Moment) -> None:
    """Count a sign of life; that of a worker's second connection is the worker's, too."""
    client.last_heard = now.seconds
    if isinstance(client, Liveness):
        client.worker.last_heard = now.seconds
