"""An agent that is gone with very much on its way holds nobody up."""

from twisted.trial.unittest import SynchronousTestCase

from tests.support.builders import (
    claims,
    open_socket,
    report,
    start,
)
from tests.support.playbook import Playbook
from trafficmock.core.effects import Effects, Send
from trafficmock.records import RequestFailed, ResponseReported
from trafficmock.wire import inbound, outbound
from trafficmock.wire.features import SUBSCRIBE

MANY = 3000
AT_ONCE = 100


class LostAgentTests(SynchronousTestCase):
    """What it leaves behind is ended a little at a time."""

    def setUp(self) -> None:
        self.playbook = Playbook(self, lost_at_once=AT_ONCE)
        self.agent, self.other = self.playbook.agent("app"), self.playbook.agent("other")
        self.worker = self.playbook.worker(features=[SUBSCRIBE])
        self.before = self.playbook.tables()
        self.test = self.worker.test()

    def step(self) -> Effects:
        """Wake the core once, as it asked for."""
        self.playbook.wake()
        return self.playbook.take()

    def test_pending(self) -> None:
        """3,000 paused requests end in order over many turns; between them others are decided."""
        self.test.route("http://h.test/**")
        for number in range(MANY):
            self.agent.sends(start(f"r{number}"))
            self.playbook.take()
            if number == 0:
                self.worker.sends(claims("r0", self.test.id, "buys#1"))
                self.playbook.take()
        self.agent.dies()
        turns = [self.playbook.take()]
        self.other.sends(start("mine", "http://other.test/", "other"))
        decided = [e.message for e in self.playbook.take() if isinstance(e, Send)]
        self.assertIn(outbound.DecisionPassthrough("mine"), decided)
        self.other.sends(report("mine"))
        self.playbook.take()
        while self.playbook.coordinator.state.lost_agents:
            turns.append(self.step())
        failed = [[e.request_id for e in turn if isinstance(e, RequestFailed)] for turn in turns]
        self.assertLessEqual(max(map(len, failed)), AT_ONCE)
        in_order = [request_id for turn in failed for request_id in turn]
        self.assertEqual(in_order, [f"r{number}" for number in range(MANY)])
        noted = "the application 'app' disconnected; requests and WebSockets unsettled: 3000"
        self.assertEqual(self.playbook.notes, [f"disconnected: {noted}"])

    def test_on_their_way(self) -> None:
        """The same holds for requests on their way upstream, and for WebSockets."""
        for number in range(AT_ONCE):
            self.agent.sends(start(f"r{number}"))
            self.playbook.take()
            self.agent.sends(open_socket(f"s{number}"))
            self.playbook.take()
        self.test.route("**", kind="websocket")
        for number in range(AT_ONCE):
            self.agent.sends(open_socket(f"t{number}"))
            self.playbook.take()
        self.agent.dies()
        first = self.playbook.take()
        reported = [effect for effect in first if isinstance(effect, ResponseReported)]
        self.assertEqual(len(reported), AT_ONCE)
        self.assertEqual(len(self.playbook.coordinator.state.sockets), AT_ONCE)
        self.step()
        self.step()
        self.ends_empty()

    def ends_empty(self) -> None:
        self.test.ends()
        self.playbook.take()
        self.other.dies()
        self.playbook.take()
        self.assertEqual(self.playbook.coordinator.state.pending, {})
        self.assertEqual(self.playbook.coordinator.state.sockets, {})
        self.assertEqual(len(self.playbook.coordinator.state.lost_agents), 0)

    def test_decided_meanwhile(self) -> None:
        """An owner may decide about a request that is not ended yet; it ends once."""
        self.test.route("http://h.test/**")
        for number in range(AT_ONCE + 1):
            self.agent.sends(start(f"r{number}"))
            self.playbook.take()
        last = f"r{AT_ONCE}"
        self.agent.dies()
        self.playbook.take()
        self.assertEqual(list(self.playbook.coordinator.state.pending), [last])
        self.test.ends()
        self.playbook.take()
        self.step()
        self.ends_empty()

    def test_subscription_meanwhile(self) -> None:
        """A test that subscribes to all traffic hears of an agent that is not ended yet."""
        self.test.route("http://h.test/**")
        for number in range(AT_ONCE + 1):
            self.agent.sends(start(f"r{number}"))
            self.playbook.take()
        self.agent.dies()
        self.playbook.take()
        self.assertEqual(len(self.playbook.coordinator.state.lost_agents), 1)
        self.worker.sends(inbound.TestSubscribe(self.test.id))
        self.playbook.expect(self.worker.gets(outbound.TestSubscribed(self.test.id)))

    def test_stop(self) -> None:
        """A service that ends meanwhile answers for all of it."""
        self.test.route("http://h.test/**")
        for number in range(2 * AT_ONCE):
            self.agent.sends(start(f"r{number}"))
            self.playbook.take()
        self.agent.dies()
        self.playbook.take()
        self.playbook.stop()
        self.playbook.take()
        self.assertEqual(self.playbook.coordinator.state.pending, {})
