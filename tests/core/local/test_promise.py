"""Once a route is acknowledged, no agent lets a request pass that the route wants."""

from collections.abc import Callable

from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test
from twisted.trial.unittest import SynchronousTestCase

from tests.core.local.honest_agents import HonestAgents
from tests.support.builders import glob, predicate, start
from tests.support.hypothesis_profiles import DEEP, profile
from tests.support.playbook import Peer, Playbook
from tests.support.state_machines import run_machine
from trafficmock.core.effects import AbortConnection
from trafficmock.core.local.local_decisions import LocalDecisions
from trafficmock.wire import inbound
from trafficmock.wire.payloads.serialized_matcher import SerializedMatcher

MATCHERS = [glob("**/a"), glob("http://h.test/b/*"), glob("**/{a,c}"), predicate()]


class Registrations(RuleBasedStateMachine):
    """Routes come and go, while agents act on what they are sent late, and are lost."""

    def __init__(self) -> None:
        super().__init__()
        self.playbook = Playbook(SynchronousTestCase())
        self.honest = HonestAgents(self.playbook.coordinator)
        self.playbook.watchers.append(self.honest.watch)
        self.count = 0
        self.worker = self.playbook.connect("worker")
        features = ["context", "strict", "subscribe"]
        self.says(self.worker, inbound.Hello(3, "1", "playwright", "w", features=features))
        self.says(self.worker, inbound.TestRegister("t", "t", "f.py", "0"))
        self.agent_comes()

    def says(self, peer: Peer, message: inbound.Message) -> None:
        peer.sends(message)
        self.playbook.take()

    def connected(self) -> list[str]:
        return sorted(self.honest.agents.keys() & self.playbook.coordinator.state.peers.keys())

    @precondition(lambda self: len(self.honest.agents) < 3)
    @rule()
    def agent_comes(self) -> None:
        self.count += 1
        peer = self.playbook.connect(f"agent {self.count}")
        self.says(peer, inbound.Hello(3, "1", "node", "app", features=["local"]))

    @precondition(lambda self: self.connected())
    @rule(data=st.data(), count=st.integers(1, 4), arrives=st.booleans())
    def agent_acts(self, data: st.DataObject, count: int, arrives: bool) -> None:  # noqa: FBT001 - drawn
        """Let an agent act on some of what it was sent; its answers may arrive later."""
        name = data.draw(st.sampled_from(self.connected()))
        agent = self.honest.agents[name]
        for _ in range(min(count, len(agent.inbox))):
            agent.act()
        while arrives and agent.outbox:
            self.says(Peer(self.playbook, name), agent.outbox.popleft())

    @precondition(lambda self: self.connected())
    @rule(data=st.data())
    def agent_asks(self, data: st.DataObject) -> None:
        """Let an agent ask about what no route wants, which gives it a lease."""
        self.count += 1
        name = data.draw(st.sampled_from(self.connected()))
        self.says(Peer(self.playbook, name), start(f"r{self.count}", "http://h.test/other"))

    @precondition(lambda self: self.connected())
    @rule(data=st.data(), clean=st.booleans())
    def agent_leaves(self, data: st.DataObject, clean: bool) -> None:  # noqa: FBT001 - drawn
        name = data.draw(st.sampled_from(self.connected()))
        self.honest.lost(name, clean=clean)
        self.playbook.disconnect(name, clean=clean)
        self.playbook.take()

    @rule(matcher=st.sampled_from(MATCHERS))
    def route(self, matcher: SerializedMatcher) -> None:
        self.count += 1
        self.says(self.worker, inbound.RouteRegister(f"q{self.count}", "t", matcher))

    @precondition(lambda self: self.playbook.coordinator.state.registry.routes)
    @rule(data=st.data())
    def unroute(self, data: st.DataObject) -> None:
        routes = sorted(self.playbook.coordinator.state.registry.routes)
        self.says(self.worker, inbound.RouteUnregister(data.draw(st.sampled_from(routes))))

    @rule()
    def subscribe(self) -> None:
        self.says(self.worker, inbound.TestSubscribe("t"))

    @rule(seconds=st.sampled_from([0.0, 0.1, 0.3, 0.9, 1.0, 6.0, 400.0]))
    def time_passes(self, seconds: float) -> None:
        """Wait; who is cut off is lost."""
        self.playbook.wait(seconds)
        for effect in self.playbook.take():
            if isinstance(effect, AbortConnection):
                self.honest.lost(effect.connection_id)
                self.playbook.disconnect(effect.connection_id)
                self.playbook.take()


class PromiseTests(SynchronousTestCase):
    """The promise holds in any order of events, and is broken without its rules."""

    def test_kept(self) -> None:
        """Whatever comes when, no agent with a lease has a filter without the route."""
        run_machine(Registrations, profile(12, deep=80, steps=40))

    def broken_by(self, name: str, replacement: Callable[..., object]) -> None:
        self.patch(LocalDecisions, name, replacement)
        first = settings(
            profile(500, deep=1, steps=40),
            phases=[Phase.generate],
            derandomize=True,
            database=None,
        )
        error = self.assertRaises(
            AssertionError, run_state_machine_as_test, Registrations, settings=first
        )
        self.assertIn(" by", str(error))

    def test_without_acknowledgement(self) -> None:
        """Not if a route is acknowledged before agents know it."""
        self.broken_by("_hold", lambda _self, _worker, _n, out, release, *_, **__: release(out))

    def test_without_lost_agents(self) -> None:
        """Not if a lost connection counts as an agent that is gone."""
        left = LocalDecisions.left
        self.broken_by("left", lambda self, agent, out, **_: left(self, agent, out, clean=True))

    if not DEEP:
        test_without_lost_agents.skip = "only with TRAFFICMOCK_DEEP=1"  # type: ignore[attr-defined]
