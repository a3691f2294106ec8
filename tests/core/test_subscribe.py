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
        self.play = Playbook(self)
        self.agent = self.play.agent()
        self.worker = self.play.worker(features=("subscribe",))
        self.begin("t")

    def begin(self, test_id: str) -> None:
        self.worker.says(inbound.TestRegister(test_id, test_id, "f.py", "0"))
        self.play.expect(self.worker.gets(outbound.TestRegistered(test_id, EPOCH_MS)))

    def subscribe(self, test_id: str = "t") -> None:
        self.worker.says(inbound.TestSubscribe(test_id))
        self.play.expect(self.worker.gets(outbound.TestSubscribed(test_id)))

    def told(self, *messages: inbound.Message) -> list[str]:
        """Say something as the agent; list the types of what the worker is told."""
        told = []
        for message in messages:
            self.agent.says(message)
            told += self.read()
        return told

    def read(self) -> list[str]:
        return types_for(self.worker.id, self.play.take())

    def test_nothing(self) -> None:
        """A test that did not subscribe is told of nothing that it does not own."""
        self.assertEqual(self.told(start(), report()), [])

    def test_everything(self) -> None:
        """A subscribed test is told of requests and of how they end."""
        self.subscribe()
        self.assertEqual(self.told(start(), report()), ["request:observed", "request:response"])

    def test_on_its_way(self) -> None:
        """What was on its way when a test subscribed is told of when it ends."""
        self.told(start())
        self.subscribe()
        self.assertEqual(self.told(report()), ["request:response"])

    def test_ends_with_the_test(self) -> None:
        """The subscription of one test ends with it, another's does not."""
        self.begin("u")
        self.subscribe()
        self.subscribe("u")
        for test_id, expected in (("t", ["request:observed"]), ("u", [])):
            self.worker.says(inbound.TestUnregister(test_id))
            self.read()
            self.assertEqual(self.told(start(f"after {test_id}")), expected)

    def test_owner(self) -> None:
        """The owner hears how a continued request and its hops end, but not of its own mock."""
        self.worker.says(inbound.RouteRegister("q", "t", glob("**")))
        self.read()
        self.assertEqual(self.told(start()), ["request:matched"])
        self.worker.says(continue_())
        self.read()
        hops = self.told(report("r1", redirect(NEXT)), observe("r2", "r1", NEXT), report("r2"))
        self.assertEqual(hops, ["request:response", "request:observed", "request:response"])
        self.told(start("r3"))
        self.worker.says(fulfill("r3"))
        self.assertEqual(self.read(), [])

    def test_refused(self) -> None:
        """Nobody subscribes without the feature, or for another's test."""
        plain, other = self.play.worker("1"), self.play.worker("2", features=("subscribe",))
        plain.test("own")
        for worker, test_id in ((plain, "own"), (other, "t"), (other, "nobody's")):
            worker.says(inbound.TestSubscribe(test_id))
            self.assertEqual(types_for(worker.id, self.play.take()), [])


def types_for(connection_id: str, effects: Effects) -> list[str]:
    return [
        str(each.message.__struct_config__.tag)
        for each in effects
        if isinstance(each, Send) and connection_id in each.to
    ]
