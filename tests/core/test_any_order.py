"""Any order of anything from anybody: no error, no second answer, nothing left behind."""

from typing import Any

from attrs import evolve
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)
from msgspec import UNSET, structs
from twisted.trial.unittest import SynchronousTestCase

from tests.core import strategies as some
from tests.core.local.honest_agents import HonestAgents
from tests.support.hypothesis_profiles import profile
from tests.support.playbook import SETTINGS, Playbook
from tests.support.state_machines import run_machine
from trafficmock.core.effects import AbortConnection, Send
from trafficmock.core.state.lifecycle import Chain
from trafficmock.core.state.peers import Agent, Worker
from trafficmock.matching.allow_list import read_allow_list
from trafficmock.wire import inbound, outbound
from trafficmock.wire.inbound import STREAM_WINDOW_PIECES, Message
from trafficmock.wire.payloads import body

REPLACEABLE = (
    outbound.RequestObserved,
    outbound.RequestClaim,
    outbound.RequestMatched,
    outbound.HandlerRun,
    outbound.DecisionFetch,
    outbound.SocketMatched,
    inbound.RequestResponse,
)
"""Messages that the driver may find too large; decisions never are."""


class AnyOrder(RuleBasedStateMachine):
    """A coordinator among connections in any order; its invariants are checked."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0
        self.connections: list[str] = []

    @initialize(
        ownership=st.sampled_from(["direct", "always-ask"]),
        strict=st.sampled_from([None, None, [], ["h.test"]]),
        limits=st.tuples(st.sampled_from([0, 20]), st.sampled_from([0, 20])),
        lost_at_once=st.sampled_from([1, 100]),
        features=some.FEATURES,
        local=st.booleans(),
        routes=st.lists(some.registrations, min_size=2, max_size=4),
    )
    def begin(
        self,
        *,
        ownership: Any,
        strict: list[str] | None,
        limits: tuple[int, int],
        lost_at_once: int,
        features: list[str],
        local: bool,
        routes: list[inbound.RouteRegister],
    ) -> None:
        """Bring in a cast that has something to do with each other."""
        limit, kept = limits
        settings = evolve(
            SETTINGS,
            ownership=ownership,
            strict=None if strict is None else read_allow_list(strict),
            handler_body_bytes=limit,
            history_body_bytes=kept,
            reply_bytes=2 * kept,
        )
        self.playbook = Playbook(SynchronousTestCase(), settings, lost_at_once=lost_at_once)
        self.honest = HonestAgents(self.playbook.coordinator)
        self.playbook.watchers.append(self.honest.watch)
        for role in ("node", "node", "playwright", "playwright"):
            wanted = [*features, "local"] if local and role == "node" else features
            self.arrive(inbound.Hello(3, "0.1.0", role, "app", features=wanted))
        for number, route in enumerate(routes):
            test_id, worker = f"t{number % 2}", self.connections[2 + number % 2]
            self.send(worker, inbound.TestRegister(test_id, "title", "file", "0"))
            self.send(worker, structs.replace(route, route_id=f"q{number}", test_id=test_id))

    # Who there is

    def agents(self) -> list[Agent]:
        return [each for each in self.playbook.coordinator.clients() if isinstance(each, Agent)]

    def workers(self) -> list[Worker]:
        return [each for each in self.playbook.coordinator.clients() if isinstance(each, Worker)]

    def matched(self) -> dict[str, str]:
        """List the requests that have an owner, and where it is."""
        pending = self.playbook.coordinator.state.pending.values()
        return {each.id: each.test.worker.id for each in pending if each.test is not None}

    def asking(self) -> dict[str, Chain]:
        """List the requests about whose further routes a worker is asked, and their chains."""
        pending = self.playbook.coordinator.state.pending.values()
        return {each.id: each.chain for each in pending if each.chain and each.chain.asks}

    def uploads(self) -> dict[str, str]:
        """List the requests whose body is not there, and their agents."""
        found: dict[str, str] = {}
        for agent in self.agents():
            found |= {each.id: agent.id for each in agent.pending.values() if each.deferred}
            late = (each for each in agent.awaited.values() if each.deferred)
            found |= {each.request_id: agent.id for each in late}
        return found

    def one_of(self, data: st.DataObject, things: Any) -> Any:
        return data.draw(st.sampled_from(sorted(things)))

    # What disturbs; one rule of many, so that something comes about in between

    @rule(data=st.data(), how=st.sampled_from(["arrive", "leave", "anything", "nonsense", "time"]))
    def disturb(self, data: st.DataObject, how: str) -> None:
        if how == "time":
            seconds = data.draw(st.sampled_from([0.0, 0.1, 0.5, 1.0, 2.5, 5.0, 70.0]))
            self.let_time_pass(seconds, muted=data.draw(st.booleans()))
        elif how == "arrive" and len(self.connections) < 6:
            self.arrive(data.draw(some.hellos | some.hellos | some.messages))
        elif not self.connections:
            return
        elif how == "leave":
            self.leave(self.one_of(data, self.connections), clean=data.draw(st.booleans()))
        elif how == "anything":
            sender, message = self.one_of(data, self.connections), data.draw(some.messages)
            self.honest.lies(sender, message)
            self.send(sender, data.draw(st.just(message) | some.hellos))
        elif how == "nonsense":
            self.playbook.deliver_text(
                self.one_of(data, self.connections), data.draw(some.broken())
            )
            self.playbook.take()

    def arrive(self, first: Message) -> None:
        """Connect, and say something."""
        self.count += 1
        peer = self.playbook.connect(f"c{self.count}")
        self.connections.append(peer.id)
        self.send(peer.id, first)

    def leave(self, connection_id: str, *, clean: bool = False) -> None:
        """Lose a connection, or end it."""
        self.connections.remove(connection_id)
        self.honest.lost(connection_id, clean=clean)
        self.playbook.disconnect(connection_id, clean=clean)
        self.playbook.take()

    def let_time_pass(self, seconds: float, *, muted: bool) -> None:
        """Wait; connections that are cut are lost."""
        self.playbook.muted = set(self.connections) if muted else set()
        self.playbook.tick_at(self.playbook.seconds)
        self.playbook.take()
        self.playbook.wait(seconds)
        for effect in self.playbook.take():
            if isinstance(effect, AbortConnection) and effect.connection_id in self.connections:
                self.leave(effect.connection_id)

    # What is likely

    @precondition(lambda self: self.agents())
    @rule(data=st.data(), start=some.starts)
    def request(self, data: st.DataObject, start: inbound.RequestStart) -> None:
        """Let an application request something."""
        self.send(self.one_of(data, [each.id for each in self.agents()]), start)

    @precondition(lambda self: self.agents())
    @rule(data=st.data(), message=some.of_agents)
    def agent_says(self, data: st.DataObject, message: Message) -> None:
        self.send(self.one_of(data, [each.id for each in self.agents()]), message)

    @precondition(
        lambda self: any(each.inbox or each.outbox for each in self.honest.agents.values())
    )
    @rule(data=st.data(), count=st.integers(1, 4), arrives=st.booleans())
    def agent_acts(self, data: st.DataObject, count: int, arrives: bool) -> None:  # noqa: FBT001 - drawn
        """Let an agent act on some of what it was sent; its answers may arrive later."""
        agents = self.honest.agents
        sender = self.one_of(
            data, [name for name, each in agents.items() if each.inbox or each.outbox]
        )
        agent = agents[sender]
        for _ in range(min(count, len(agent.inbox))):
            agent.act()
        while arrives and agent.outbox:
            self.send(sender, agent.outbox.popleft())

    @precondition(lambda self: self.workers())
    @rule(data=st.data(), message=some.of_workers)
    def worker_says(self, data: st.DataObject, message: Message) -> None:
        self.send(self.one_of(data, [each.id for each in self.workers()]), message)

    @precondition(lambda self: len(self.playbook.coordinator.state.claims) > 0)
    @rule(data=st.data())
    def answer_a_claim(self, data: st.DataObject) -> None:
        """Let a test that is asked answer with some of its routes."""
        kind, subject_id = self.one_of(data, self.playbook.coordinator.state.claims._open)
        claim = self.playbook.coordinator.state.claims._open[kind, subject_id]
        test = claim.waiting[self.one_of(data, claim.waiting)]
        wanted = data.draw(st.lists(st.sampled_from(sorted(test.routes) or ["q0"]), max_size=2))
        result = inbound.RequestClaimResult if kind == "http" else inbound.SocketClaimResult
        matches = [inbound.RouteMatch(route_id) for route_id in wanted]
        self.send(test.worker.id, result(subject_id, test.id, matches))

    @precondition(lambda self: self.matched())
    @rule(data=st.data(), action=some.actions)
    def decide(self, data: st.DataObject, action: Any) -> None:
        """Let an owner decide."""
        matched = self.matched()
        request_id = self.one_of(data, matched)
        chain = self.playbook.coordinator.state.pending[request_id].chain
        run_id = UNSET if chain is None or chain.run_id is None else chain.run_id
        self.send(matched[request_id], inbound.HandlerResult(request_id, action, run_id))

    @precondition(lambda self: self.asking())
    @rule(data=st.data())
    def judge(self, data: st.DataObject) -> None:
        """Let a worker say which routes of a chain match."""
        asking = self.asking()
        chain = asking[request_id := self.one_of(data, asking)]
        ids = sorted(each.route.id for each in chain.candidates)
        wanted = data.draw(st.lists(st.sampled_from(ids), max_size=2))
        matches = [inbound.RouteMatch(route_id) for route_id in wanted]
        answer = inbound.RequestClaimResult(request_id, chain.owner.id, matches)
        self.send(chain.owner.worker.id, answer)

    @precondition(lambda self: self.uploads())
    @rule(data=st.data(), content=some.contents)
    def bring_a_body(self, data: st.DataObject, content: inbound.RequestBody) -> None:
        """Let an agent send a body that is awaited, of an owner or of the history."""
        uploads = self.uploads()
        request_id = self.one_of(data, uploads)
        self.send(uploads[request_id], structs.replace(content, request_id=request_id))

    @precondition(lambda self: any(each.fetches for each in self.agents()))
    @rule(data=st.data(), answer=some.responses)
    def answer_a_fetch(self, data: st.DataObject, answer: Any) -> None:
        """Let an agent answer a fetch."""
        agent = next(each for each in self.agents() if each.fetches)
        request_id, fetch_id = self.one_of(data, agent.fetches)
        message = inbound.FetchResult(request_id, fetch_id, ok=True, response=answer)
        self.send(agent.id, message)

    @precondition(lambda self: self.playbook.coordinator.state.sockets)
    @rule(data=st.data(), by_owner=st.booleans())
    def use_a_socket(self, data: st.DataObject, by_owner: bool) -> None:  # noqa: FBT001 - drawn
        """Let an owner, or an application, send, act or close."""
        sockets = self.playbook.coordinator.state.sockets
        socket = sockets[self.one_of(data, sockets)]
        if by_owner and socket.test is not None:
            message = data.draw(some.on_sockets_by_workers)
            self.send(socket.test.worker.id, structs.replace(message, socket_id=socket.id))
        else:
            message = data.draw(some.on_sockets_by_agents)
            self.send(socket.agent.id, structs.replace(message, socket_id=socket.id))

    @precondition(lambda self: any(each.awaited for each in self.agents()))
    @rule(data=st.data(), answer=some.responses)
    def report(self, data: st.DataObject, answer: Any) -> None:
        """Let an agent report what is awaited of it, and follow a redirect."""
        agent = next(each for each in self.agents() if each.awaited)
        request_id = self.one_of(data, agent.awaited)
        self.send(agent.id, inbound.RequestResponse(request_id, ok=True, response=answer))
        hop = data.draw(
            st.builds(inbound.RequestObserve, some.REQUESTS, some.clients, some.requests)
        )
        linked = inbound.RequestObserve(hop.request_id, "app", hop.request, request_id)
        self.send(agent.id, linked)

    @precondition(lambda self: self.playbook.coordinator.streams.open)
    @rule(data=st.data(), how=st.sampled_from(["piece", "end", "abort", "ack", "ack", "closed"]))
    def use_a_stream(self, data: st.DataObject, how: str) -> None:
        """Let an owner write what comes next, or an agent say what it has of that."""
        streams = self.playbook.coordinator.streams.open
        stream = streams[self.one_of(data, streams)]
        request_id, following = stream.request_id, stream.seq + 1
        by_worker, by_agent = stream.worker.id, stream.agent.id
        match how:
            case "piece":
                content = body.from_bytes(b"x" * 30)
                self.send(by_worker, inbound.StreamData(request_id, following, content))
            case "end":
                self.send(by_worker, inbound.StreamEnd(request_id, following))
            case "abort":
                self.send(by_worker, inbound.StreamAbort(request_id, following, "failed"))
            case "ack":
                acknowledged = data.draw(st.integers(0, following))
                self.send(by_agent, inbound.StreamAck(request_id, acknowledged))
            case _:
                self.send(by_agent, inbound.StreamClosed(request_id))

    @invariant()
    def streams_and_waits_belong_to_somebody(self) -> None:
        """Both ends of each stream are connected, and its test runs; so does that of each wait."""
        if not hasattr(self, "playbook"):
            return
        coordinator = self.playbook.coordinator
        connected = set(self.connections)
        for stream in coordinator.streams.open.values():
            assert {stream.agent.id, stream.worker.id} <= connected, stream
            assert coordinator.state.registry.tests.get(stream.test.id) is stream.test, stream
            assert len(stream.unacknowledged) <= STREAM_WINDOW_PIECES + 1, stream
            assert stream.waiting == sum(size for _, size in stream.unacknowledged), stream
        for worker_id, waits in coordinator.waits.workers.items():
            assert worker_id in connected, waits
            assert all(each.test.id in waits.worker.tests for each in waits.open.values()), waits

    # Ends

    def send(self, connection_id: str, message: Message) -> None:
        """Say it, and find every second message too large that may be."""
        self.playbook.deliver(connection_id, message)
        effects = self.playbook.take()
        for number, effect in enumerate(effects):
            if number % 2 and isinstance(effect, Send) and isinstance(effect.message, REPLACEABLE):
                self.playbook.too_big(effect, 123, 100)
                self.playbook.take()

    def teardown(self) -> None:
        """Let time pass and tests end: all are answered. Let all leave: nothing is left."""
        if not hasattr(self, "playbook"):
            return
        self.let_time_pass(70.0, muted=False)
        for worker in self.workers():
            for test_id in list(worker.tests):
                self.playbook.deliver(worker.id, inbound.TestUnregister(test_id))
                self.playbook.take()
        # What an ended test leaves is answered over several turns.
        self.let_time_pass(0.0, muted=False)
        invariants = self.playbook.invariants
        assert not invariants.requests.unsettled(), invariants.requests
        assert not invariants.sockets.undecided(), invariants.sockets
        # The list of refused requests stays until somebody has asked for it and left.
        self.arrive(inbound.Hello(3, "0.1.0", "playwright", "asks", features=["strict"]))
        self.send(self.connections[-1], inbound.UnmatchedQuery("q"))
        for connection_id in list(self.connections):
            self.leave(connection_id)
        self.let_time_pass(70.0, muted=False)
        assert self.playbook.coordinator.state.registry.reply_bytes == 0
        left = {key for key in self.playbook.tables() if ".service." not in key}
        assert left == set(), self.playbook.tables()


class AnyOrderTests(SynchronousTestCase):
    """Runs the machine; ``TRAFFICMOCK_DEEP=1`` runs it far longer."""

    def test_any_order(self) -> None:
        """Whatever is sent by whomever and when, the invariants hold."""
        run_machine(AnyOrder, profile(60, steps=50))
