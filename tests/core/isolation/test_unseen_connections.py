"""Connections whose requests nobody sees: sessions of HTTP/2, and tunnels."""

from typing import Any

from attrs import evolve

from tests.core.ownership.context_case import A, B, ContextCase
from tests.support.builders import failure, request
from tests.support.playbook import SETTINGS, Playbook
from trafficmock.core.isolation.unseen_connections import MOST_TOLD
from trafficmock.records import RequestPassedThrough, RequestSeen, ResponseReported
from trafficmock.wire import inbound, outbound
from trafficmock.wire.outbound import UNSEEN_CONNECTION, TestWarning

OURS = ("chain", "context", "headers-list", "strict", "subscribe", "warnings")


class UnseenConnectionsTests(ContextCase):
    """An agent tells of connections that it lets pass."""

    def begin(self, features: tuple[str, ...] = OURS, **settings: Any) -> None:
        self.playbook = Playbook(self, evolve(SETTINGS, **settings))
        self.mine = self.playbook.worker("0", features=features)
        self.theirs = self.playbook.worker("1", features=features)
        self.agent = self.playbook.agent(features=["context", "stream", "strict"])

    def connects(self, number: int = 1, *, call: str = "c", **fields: Any) -> list[TestWarning]:
        """Let an agent tell of a connection, and give the warnings that it leads to."""
        asked = request(f"https://grpc{number}.example/", method="CONNECT")
        self.agent.sends(inbound.RequestObserve(f"{call}{number}", "app", asked, **fields))
        return [each for _, each in self.sent(TestWarning)]

    def test_recorded(self) -> None:
        """The history has it as passed, and its error, and nobody observes it."""
        asked = request("https://grpc.example/", method="CONNECT")
        self.agent.sends(inbound.RequestObserve("c", "app", asked))
        self.playbook.expect(RequestSeen("c", "app", asked), RequestPassedThrough("c"))
        self.agent.sends(inbound.RequestResponse("c", ok=False, error=failure()))
        self.playbook.expect(ResponseReported("c", None, failure()))

    def test_own(self) -> None:
        """The test of its context is warned, of each origin once."""
        self.registered(self.mine, "buys", A)
        self.registered(self.theirs, "sells", B)
        (told,) = self.connects(context=A)
        self.assertEqual((told.test_id, told.code), ("buys", UNSEEN_CONNECTION))
        self.assertIn('"app" has connected to https://grpc1.example. ', told.message)
        self.assertEqual(self.connects(call="again", context=A), [])
        (other,) = self.connects(call="other", context=B)
        self.assertEqual(other.test_id, "sells")

    def test_alone(self) -> None:
        """Without a context the only test is warned; of several tests none."""
        self.assertEqual(self.connects(call="before"), [])
        self.registered(self.mine, "for all", shared=True)
        self.registered(self.mine, "buys", A)
        (told,) = self.connects()
        self.assertEqual(told.test_id, "buys")
        self.registered(self.theirs, "sells", B)
        self.assertEqual(self.connects(2), [])

    def test_ended(self) -> None:
        """What carries the context of a test that has ended warns no other test."""
        ended = self.registered(self.mine, "buys", A)
        self.registered(self.theirs, "sells", B)
        ended.worker.sends(inbound.TestUnregister("buys"))
        self.playbook.take()
        self.assertEqual(self.connects(context=A), [])

    def test_allowed(self) -> None:
        """What strict mode allows is known: it is recorded without a warning."""
        self.registered(self.mine, "buys", A)
        self.mine.sends(inbound.TestStrict("buys", ["grpc1.example"]))
        self.playbook.take()
        self.assertEqual(self.connects(context=A, decide=True), [])
        asked = request("https://grpc2.example/", method="CONNECT")
        self.agent.sends(inbound.RequestObserve("c2", "app", asked, context=A, decide=True))
        (refused,) = (each for _, each in self.sent(outbound.DecisionError))
        self.assertEqual(refused.code, outbound.UNMATCHED)

    def test_many(self) -> None:
        """A test is warned of so many origins, and not by a worker without the feature."""
        self.registered(self.mine, "buys", A)
        told = [self.connects(number, context=A) for number in range(MOST_TOLD + 2)]
        self.assertEqual(sum(map(len, told)), MOST_TOLD)
        self.begin(features=("context", "headers-list", "subscribe"))
        self.registered(self.mine, "buys", A)
        self.assertEqual(self.connects(context=A), [])
