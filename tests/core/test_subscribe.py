"""The addition ``subscribe``: who looks at nothing is told nothing."""

from twisted.trial.unittest import SynchronousTestCase

from tests.support.builders import continue_, fulfill, glob, observe, redirect, report, start
from tests.support.playbook import EPOCH_MS, Playbook
from trafficmock.core.effects import Effects, Send
from trafficmock.wire import inbound, outbound

NEXT = "http://h.test/next"


class SubscribeTests(SynchronousTestCase):
    """A worker with the feature, and an agent."""

    def setUp(self) -> None:
        self.playbook = Playbook(self)
        self.agent = self.playbook.agent()
        self.worker = self.playbook.worker(features=("subscribe",))
        self.begin("t")

    def begin(self, test_id: str) -> None:
        self.worker.sends(inbound.TestRegister(test_id, test_id, "f.py", "0"))
        self.playbook.expect(self.worker.gets(outbound.TestRegistered(test_id, EPOCH_MS)))

    def subscribe(self, test_id: str = "t") -> None:
        self.worker.sends(inbound.TestSubscribe(test_id))
        self.playbook.expect(self.worker.gets(outbound.TestSubscribed(test_id)))

    def answers(self, *messages: inbound.Message) -> list[str]:
        """Say something as the agent; list the types of what the worker is told."""
        answers = []
        for message in messages:
            self.agent.sends(message)
            answers += self.read()
        return answers

    def read(self) -> list[str]:
        return types_for(self.worker.id, self.playbook.take())

    def test_nothing(self) -> None:
        """A test that did not subscribe is told of nothing that it does not own."""
        self.assertEqual(self.answers(start(), report()), [])

    def test_everything(self) -> None:
        """A subscribed test is told of requests and of how they end."""
        self.subscribe()
        self.assertEqual(self.answers(start(), report()), ["request:observed", "request:response"])

    def test_on_its_way(self) -> None:
        """What was on its way when a test subscribed is told of when it ends."""
        self.answers(start())
        self.subscribe()
        self.assertEqual(self.answers(report()), ["request:response"])

    def test_undecided(self) -> None:
        """So is what another worker decides about only then."""
        other = self.playbook.worker("1", features=("subscribe",))
        other.test("owns").route("**")
        self.answers(start())
        self.subscribe()
        other.sends(fulfill())
        self.assertEqual(self.read(), ["request:response"])

    def test_ends_with_the_test(self) -> None:
        """The subscription of one test ends with it, another's does not."""
        self.begin("u")
        self.subscribe()
        self.subscribe("u")
        for test_id, expected in (("t", ["request:observed"]), ("u", [])):
            self.worker.sends(inbound.TestUnregister(test_id))
            self.read()
            self.assertEqual(self.answers(start(f"after {test_id}")), expected)

    def test_owner(self) -> None:
        """The owner hears how a continued request and its hops end, but not of its own mock."""
        self.worker.sends(inbound.RouteRegister("q", "t", glob("**")))
        self.read()
        self.assertEqual(self.answers(start()), ["request:matched"])
        self.worker.sends(continue_())
        self.read()
        hops = self.answers(report("r1", redirect(NEXT)), observe("r2", "r1", NEXT), report("r2"))
        self.assertEqual(hops, ["request:response", "request:observed", "request:response"])
        self.answers(start("r3"))
        self.worker.sends(fulfill("r3"))
        self.assertEqual(self.read(), [])

    def test_refused(self) -> None:
        """Nobody subscribes without the feature, or for another's test."""
        plain, other = self.playbook.worker("1"), self.playbook.worker("2", features=("subscribe",))
        plain.test("own")
        for worker, test_id in ((plain, "own"), (other, "t"), (other, "nobody's")):
            worker.sends(inbound.TestSubscribe(test_id))
            self.assertEqual(types_for(worker.id, self.playbook.take()), [])


def types_for(connection_id: str, effects: Effects) -> list[str]:
    return [
        str(each.message.__struct_config__.tag)
        for each in effects
        if isinstance(each, Send) and connection_id in each.to
    ]
