"""The addition ``clock``: workers learn when the coordinator took note of a request."""

from msgspec import UNSET, UnsetType
from twisted.trial.unittest import SynchronousTestCase

from tests.support.builders import (
    glob,
    observe,
    options,
    redirect,
    report,
    request,
    response,
    start,
)
from tests.support.playbook import EPOCH_MS, Playbook
from trafficmock.core.effects import Effects, Send
from trafficmock.wire import inbound, outbound
from trafficmock.wire.features import CHAIN, CLOCK, CONTEXT, LOCAL, STREAM
from trafficmock.wire.inbound import RequestBody
from trafficmock.wire.local_reports import Batch, FilterAck, RequestPassed
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.answer import Fulfill

SECONDS = 1000
"""Where the clock of a playbook begins."""

ID = "0123456789abcdef" * 2


def at(seconds: float) -> int:
    """Write a reading of the clock so many seconds after the beginning."""
    return round((SECONDS + seconds) * 1_000_000)


class ClockTests(SynchronousTestCase):
    """A worker with the feature and one without observe all requests of an agent."""

    def setUp(self) -> None:
        self.playbook = Playbook(self)
        self.agent = self.playbook.agent(features=(CONTEXT, LOCAL, STREAM))
        self.told = self.playbook.worker("0", features=(CHAIN, CLOCK, CONTEXT))
        self.other = self.playbook.worker("1")
        self.told.sends(inbound.TestRegister("t", "t", "f.py", "0", ID))
        registered = outbound.TestRegistered("t", EPOCH_MS, clock=at(0))
        self.assertIn(self.told.gets(registered), self.playbook.take())
        self.other.sends(inbound.TestRegister("u", "u", "f.py", "1"))
        self.assertIn(self.other.gets(outbound.TestRegistered("u")), self.playbook.take())

    def readings(self, message: inbound.Message) -> list[int | UnsetType | None]:
        """Say something as the agent; list what either worker learns of its time."""
        self.agent.sends(message)
        took = self.playbook.take()
        return [seen_at(worker.id, took) for worker in (self.told, self.other)]

    def test_observed(self) -> None:
        """Only who knows the feature is told, of requests and of hops."""
        self.playbook.wait(1)
        self.assertEqual(self.readings(start()), [at(1), UNSET])
        self.agent.sends(report("r1", redirect("http://h.test/b")))
        self.playbook.take()
        self.playbook.wait(1)
        self.assertEqual(self.readings(observe("r2", "r1", "http://h.test/b")), [at(2), UNSET])

    def test_own(self) -> None:
        """So it is with a request that carries the context of a test of that worker."""
        self.agent.sends(inbound.RequestStart("r1", "app", request(), context=ID))
        (sent,) = [each for each in self.playbook.take() if isinstance(each, Send)][:1]
        expected = outbound.RequestObserved("r1", request(), "app", "own", "t", at(0))
        self.assertEqual(sent, self.told.gets(expected))

    def test_body_later(self) -> None:
        """A request whose body comes later was there when its head was."""
        head = inbound.RequestStart("r1", "app", request(method="POST"), body_pending=True)
        self.assertEqual(self.readings(head), [None, None])
        self.playbook.wait(2)
        content = RequestBody("r1", body.from_bytes(b"late"))
        self.assertEqual(self.readings(content), [at(0), UNSET])

    def test_reported_in_a_batch(self) -> None:
        """A request that an agent let pass was there when the agent wrote of it."""
        n = self.playbook.coordinator.local.n
        self.agent.sends(FilterAck(n))
        self.playbook.take()
        self.playbook.wait(1)
        passed = RequestPassed("r1", "app", request(), n)
        self.assertEqual(self.readings(Batch([passed], [250])), [at(0.75), UNSET])

    def test_replied(self) -> None:
        """The owner learns it with a request that its fixed answer answered."""
        reply = inbound.RouteRegister("p", "t", glob("**"), options=options(Fulfill(response())))
        self.told.sends(reply)
        self.playbook.take()
        self.playbook.wait(1)
        self.agent.sends(start())
        self.assertEqual(
            seen_at(self.told.id, self.playbook.take(), outbound.RequestReplied), at(1)
        )

    def test_ended(self) -> None:
        """Without such a worker no time is taken."""
        registry = self.playbook.coordinator.state.registry
        self.assertEqual(registry.asking_when, {self.told.id})
        self.told.sends(inbound.TestUnregister("t"))
        self.playbook.take()
        self.assertEqual(registry.asking_when, frozenset())


Kind = type[outbound.RequestObserved | outbound.RequestReplied]


def seen_at(
    worker_id: str, took: Effects, kind: Kind = outbound.RequestObserved
) -> int | UnsetType | None:
    """Find what a worker is told of the time of a request; ``None`` without the message."""
    for effect in took:
        if isinstance(effect, Send) and worker_id in effect.to and isinstance(effect.message, kind):
            return effect.message.seen_at
    return None
