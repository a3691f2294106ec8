"""An agent that decides without asking, and a worker."""

from twisted.trial.unittest import SynchronousTestCase

from tests.support.builders import glob, start
from tests.support.playbook import SETTINGS, Peer, Playbook
from trafficmock.core.effects import Effects, Send
from trafficmock.core.settings import Settings
from trafficmock.wire import inbound, local_reports, outbound
from trafficmock.wire.agent_filter import FilterEntry
from trafficmock.wire.payloads.serialized_matcher import SerializedMatcher

LOCAL = SETTINGS
X = FilterEntry(texts=("", "/x"))


def sent(effects: Effects, kind: type) -> list[inbound.Message]:
    return [e.message for e in effects if isinstance(e, Send) and isinstance(e.message, kind)]


class LocalCase(SynchronousTestCase):
    """An agent with the feature, and a worker that observes nothing unless it subscribes."""

    settings: Settings = LOCAL

    def setUp(self) -> None:
        self.playbook = Playbook(self, self.settings)
        self.agent = self.playbook.agent(features=("local",))
        self.worker = self.playbook.worker(features=("context", "strict", "subscribe"))
        self.worker.sends(inbound.TestRegister("t", "t", "f.py", "0"))
        self.playbook.take()
        self.count = 0

    def acknowledges(self, agent: Peer | None = None) -> Effects:
        """Let an agent say that it has acted on everything it was sent."""
        (agent or self.agent).sends(local_reports.FilterAck(self.playbook.coordinator.local.n))
        return self.playbook.take()

    def asks(self, agent: Peer | None = None, url: str = "http://h.test/other") -> None:
        """Let an agent ask about a request, which gives it a lease."""
        self.count += 1
        (agent or self.agent).sends(start(f"r{self.count}", url))
        self.assertEqual(len(sent(self.playbook.take(), outbound.DecisionPassthrough)), 1)

    def routes(self, matcher: SerializedMatcher | str, route_id: str = "q") -> Effects:
        wanted = glob(matcher) if isinstance(matcher, str) else matcher
        self.worker.sends(inbound.RouteRegister(route_id, "t", wanted))
        return self.playbook.take()

    def assert_answered(self, effects: Effects, answered: bool = True) -> None:  # noqa: FBT001, FBT002 - as assertTrue has it
        self.assertEqual(len(sent(effects, outbound.RouteRegistered)), int(answered))
