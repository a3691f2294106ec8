"""A test that ends with very much in its hands holds nobody up."""

from msgspec.structs import replace
from twisted.trial.unittest import SynchronousTestCase

from tests.support.builders import claims_socket, fulfill, open_socket, predicate, report, start
from tests.support.playbook import Playbook
from trafficmock.core.effects import Effects, Send
from trafficmock.records import RequestFailed, RequestPassedThrough, SocketClosed
from trafficmock.wire import outbound

MANY = 1000
AT_ONCE = 100


class EndedTestTests(SynchronousTestCase):
    """What it leaves behind is answered a little at a time."""

    def setUp(self) -> None:
        self.playbook = Playbook(self, lost_at_once=AT_ONCE)
        self.agent = self.playbook.agent("app")
        self.worker = self.playbook.worker(features=["chain"])
        self.test = self.worker.test()
        self.test.route("http://h.test/**")

    def owns(self, count: int) -> None:
        for number in range(count):
            self.agent.sends(start(f"r{number}"))
            self.playbook.take()

    def step(self) -> Effects:
        """Wake the core once, as it asked for."""
        self.playbook.wake()
        return self.playbook.take()

    def steps(self) -> list[Effects]:
        """Wake the core as long as something waits."""
        turns = []
        while self.playbook.coordinator.ended_tests.waiting:
            turns.append(self.step())
        return turns

    def test_requests(self) -> None:
        """1,000 requests are answered in order over many turns; the acknowledgement is last."""
        self.owns(MANY)
        self.test.ends()
        turns = [self.playbook.take()]
        self.agent.sends(start("mine", "http://other.test/"))
        decided = [each.message for each in self.playbook.take() if isinstance(each, Send)]
        self.assertIn(outbound.DecisionPassthrough("mine"), decided)
        self.agent.sends(report("mine"))
        self.playbook.take()
        turns += self.steps()
        failed = [[e.request_id for e in turn if isinstance(e, RequestFailed)] for turn in turns]
        self.assertEqual(max(map(len, failed)), AT_ONCE)
        self.assertEqual([each for turn in failed for each in turn], [f"r{n}" for n in range(MANY)])
        self.assertEqual(turns[-1][-1], self.test.ended())
        (noted,) = self.playbook.notes
        self.assertIn(f"ended; requests and WebSockets unsettled: {MANY}", noted)

    def test_rounds(self) -> None:
        """The same holds for the rounds in which it is asked: what no other test wants passes."""
        other = self.worker.test("asked")
        other.route(predicate())
        for number in range(2 * AT_ONCE):
            self.agent.sends(start(f"q{number}", "http://asked.test/"))
            self.playbook.take()
        other.ends()
        turns = [self.playbook.take(), *self.steps()]
        passed = [sum(isinstance(e, RequestPassedThrough) for e in turn) for turn in turns]
        self.assertEqual(passed, [AT_ONCE, AT_ONCE])

    def test_sockets(self) -> None:
        """The same holds for WebSockets."""
        self.test.route("**", kind="websocket")
        for number in range(2 * AT_ONCE):
            self.agent.sends(open_socket(f"s{number}"))
            self.playbook.take()
            self.worker.sends(claims_socket(f"s{number}", self.test.id, "buys#2"))
            self.playbook.take()
        self.test.ends()
        turns = [self.playbook.take(), *self.steps()]
        closed = [sum(isinstance(each, SocketClosed) for each in turn) for turn in turns]
        self.assertEqual(closed, [AT_ONCE, AT_ONCE])

    def test_worker_dies_meanwhile(self) -> None:
        """A worker that is gone before the end is acknowledged leaves nothing either."""
        self.owns(AT_ONCE + 1)
        self.test.ends()
        self.playbook.take()
        self.worker.dies()
        self.playbook.take()
        self.steps()
        self.assertEqual(self.playbook.coordinator.state.pending, {})

    def test_lost_worker(self) -> None:
        """What all tests of a lost worker own is answered in the same way."""
        other = self.worker.test("sells")
        other.route("http://sells.test/**")
        self.owns(AT_ONCE)
        self.agent.sends(start("sold", "http://sells.test/"))
        self.playbook.take()
        self.worker.dies()
        first = self.playbook.take()
        self.assertEqual(sum(isinstance(each, RequestFailed) for each in first), AT_ONCE)
        self.assertEqual(list(self.playbook.coordinator.state.pending), ["sold"])
        self.steps()
        self.assertEqual(self.playbook.coordinator.state.pending, {})

    def test_stop(self) -> None:
        """A service that ends meanwhile answers for all of it."""
        self.owns(2 * AT_ONCE)
        self.test.ends()
        self.playbook.take()
        self.playbook.stop()
        self.playbook.take()
        self.assertEqual(self.playbook.coordinator.state.pending, {})


class SharedRouteTests(SynchronousTestCase):
    """A worker ends its shared routes while another worker's test waits for a handler of them."""

    def setUp(self) -> None:
        self.playbook = Playbook(self)
        self.agent = self.playbook.agent("app")
        self.worker = self.playbook.worker(features=["chain", "context"])
        self.shared = self.worker.test("shared", "shared-context", shared=True)
        route_id = self.shared.route("http://h.test/**")
        self.agent.sends(start("r", "http://h.test/"))
        (run,) = [each for each in self.sent() if isinstance(each, outbound.HandlerRun)]
        self.assertEqual(run.route_id, route_id)

    def sent(self) -> list[object]:
        return [each.message for each in self.playbook.take() if isinstance(each, Send)]

    def test_decides(self) -> None:
        """The handler that runs decides; the end is acknowledged after that."""
        self.shared.ends()
        self.assertEqual(self.sent(), [])
        self.worker.sends(replace(fulfill("r"), run_id="1"))
        sent = self.sent()
        self.assertIsInstance(sent[0], outbound.DecisionFulfill)
        self.assertEqual(sent[-1], outbound.TestUnregistered("shared"))
        self.playbook.wait(2 * self.playbook.coordinator.settings.claim_timeout)
        self.playbook.expect()

    def test_has_decided(self) -> None:
        """Without a handler that runs, the end is acknowledged at once."""
        self.worker.sends(replace(fulfill("r"), run_id="1"))
        self.playbook.take()
        self.shared.ends()
        self.assertEqual(self.sent(), [outbound.TestUnregistered("shared")])

    def test_no_new_request(self) -> None:
        """The routes match no request that comes after the end."""
        self.shared.ends()
        self.playbook.take()
        self.agent.sends(start("late", "http://h.test/"))
        self.assertEqual(self.sent(), [outbound.DecisionPassthrough("late")])

    def test_time_is_over(self) -> None:
        """A handler that does not decide fails the request, and the shared routes."""
        self.shared.ends()
        self.playbook.take()
        time_to_decide = self.playbook.coordinator.settings.claim_timeout
        self.playbook.tick_at(self.playbook.seconds + time_to_decide)
        sent = self.sent()
        (error,) = [each for each in sent if isinstance(each, outbound.ProxyError)]
        self.assertIn("ended before the handler", error.message)
        self.assertIn(outbound.DecisionError, [type(each) for each in sent])
        self.assertEqual(sent[-1], outbound.TestUnregistered("shared"))

    def test_worker_dies(self) -> None:
        """A worker that dies meanwhile leaves nothing."""
        self.shared.ends()
        self.playbook.take()
        self.worker.dies()
        self.assertIn(outbound.DecisionError, [type(each) for each in self.sent()])
        self.assertEqual(self.playbook.coordinator.state.pending, {})
