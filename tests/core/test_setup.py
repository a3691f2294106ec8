"""Tests and routes come and go: acknowledged once they count, and only to their owner."""

from twisted.trial.unittest import SynchronousTestCase

from tests.support.builders import ANY, glob, start, text
from tests.support.playbook import Playbook
from trafficmock.core.effects import AnswerReport, Diagnose, Redact
from trafficmock.records import RequestPassedThrough, RequestSeen
from trafficmock.wire import outbound
from trafficmock.wire.client_message import RedactQuery
from trafficmock.wire.inbound import (
    DiagnosisQuery,
    ReportQuery,
    RouteRegister,
    RouteUnregister,
    TestRegister,
    TestUnregister,
)
from trafficmock.wire.payloads.serialized_matcher import SerializedMatcher, SerializedRegex


class SetupTests(SynchronousTestCase):
    """What one worker sets up, it can take down."""

    def setUp(self) -> None:
        self.playbook = Playbook(self)
        self.worker = self.playbook.worker()
        self.before = self.playbook.tables()

    def routes(self) -> set[str]:
        return set(self.playbook.coordinator.state.registry.routes)

    def test_sequence(self) -> None:
        """Each step is acknowledged, and the end leaves nothing behind."""
        test = self.worker.test("buys")
        one, other = test.route("**/a"), test.route("ws://**", kind="websocket")
        self.assertEqual(self.routes(), {one, other})
        self.worker.sends(RouteUnregister(one))
        self.playbook.expect(self.worker.gets(outbound.RouteUnregistered(one)))
        self.assertEqual(self.routes(), {other})
        self.worker.sends(RouteUnregister(test_id="buys"))
        self.playbook.expect(self.worker.gets(outbound.RouteUnregistered(test_id="buys")))
        self.assertEqual(self.routes(), set())
        test.ends()
        self.playbook.expect(test.ended())
        self.assertEqual(self.playbook.tables(), self.before)

    def test_the_end_takes_the_routes_along(self) -> None:
        """Ending a test removes its routes of both kinds."""
        test = self.worker.test()
        test.route("**")
        test.route("**", kind="websocket")
        test.ends()
        self.playbook.expect(test.ended())
        self.assertEqual(self.playbook.tables(), self.before)

    def test_unregister_echoes(self) -> None:
        """The answer has the keys of the question, also when nothing was there."""
        for message in (
            RouteUnregister("q"),
            RouteUnregister(test_id="t"),
            RouteUnregister("q", "t"),
            RouteUnregister(),
        ):
            self.worker.sends(message)
            answer = outbound.RouteUnregistered(message.route_id, message.test_id)
            self.playbook.expect(self.worker.gets(answer))
        self.worker.sends(TestUnregister("t"))
        self.playbook.expect(self.worker.gets(outbound.TestUnregistered("t")))

    def test_diagnosis(self) -> None:
        """A diagnosis is handed on, with the agents and the ids of the worker's own tests."""
        self.playbook.agent("shop")
        peer = self.playbook.worker("w2", features=["context"])
        peer.sends(TestRegister("all", "all", "f", "1", scope="worker"))
        self.playbook.take()
        peer.sends(TestRegister("other", "other", "f", "1"))
        self.playbook.take()
        mine = TestRegister("mine", "mine", "f", "1", context="a" * 32)
        peer.sends(mine)
        self.playbook.take()
        for test_id, own in (("mine", {"mine", "all"}), ("other", set[str]())):
            query = DiagnosisQuery("d1", test_id, [], {}, {})
            peer.sends(query)
            (effect,) = self.playbook.take()
            assert isinstance(effect, Diagnose)
            self.assertEqual(
                (effect.connection_id, effect.query, effect.own), (peer.id, query, own)
            )
            self.assertEqual([each.client_id for each in effect.agents], ["shop"])

    def test_report(self) -> None:
        """The query of a report is handed on."""
        asks = ReportQuery("p1", 10, "mine")
        self.worker.sends(asks)
        self.playbook.expect(AnswerReport(self.worker.id, asks))

    def test_redact(self) -> None:
        """So is what a worker is about to write."""
        asks = RedactQuery("p1", texts=["token=a"])
        self.worker.sends(asks)
        self.playbook.expect(Redact(self.worker.id, asks))

    def test_route_before_test(self) -> None:
        """A route of a test that is not registered yet sleeps until it is."""
        agent = self.playbook.agent()
        self.worker.sends(RouteRegister("q", "t", glob("**")))
        self.playbook.expect(self.worker.gets(outbound.RouteRegistered("q")))
        agent.sends(start("r1"))
        self.playbook.expect(
            RequestSeen("r1", "app", start().request),
            RequestPassedThrough("r1"),
            agent.gets(outbound.DecisionPassthrough("r1")),
        )
        self.worker.sends(TestRegister("t", "t", "f", "0"))
        self.playbook.expect(self.worker.gets(outbound.TestRegistered("t")))
        agent.sends(start("r2"))
        matched = outbound.RequestMatched("r2", start().request, "app", "q", "t")
        self.assertIn(self.worker.gets(matched), self.playbook.take())

    def test_sleeping_routes_can_be_removed(self) -> None:
        """A sleeping route goes by its id, by its test's id, and with its worker."""
        for message in (RouteUnregister("q"), RouteUnregister(test_id="t"), TestUnregister("t")):
            self.worker.sends(RouteRegister("q", "t", glob("**")))
            self.playbook.take()
            self.assertIn("q", self.routes())
            self.worker.sends(message)
            self.playbook.take()
            self.assertEqual(self.playbook.tables(), self.before)
        self.worker.sends(RouteRegister("q", "t", glob("**")))
        self.playbook.take()
        self.worker.dies()
        self.assertEqual(self.playbook.tables(), {})

    def test_any_matcher(self) -> None:
        """No matcher makes a registration fail: what cannot be judged is asked about."""
        test = self.worker.test()
        for matcher in (
            glob("http://h.test/{a"),
            glob("\ud800"),
            SerializedMatcher(url_regex=SerializedRegex("(", "")),
            SerializedMatcher(url_regex=SerializedRegex("a", "gimsuyvdz")),
            SerializedMatcher(methods=[], client_ids=[], predicate=False),
        ):
            test.route(matcher)
        test.ends()
        self.playbook.expect(test.ended())

    def test_again(self) -> None:
        """Registering a test again is acknowledged and changes nothing."""
        test = self.worker.test()
        test.route("**")
        before = self.playbook.tables()
        self.worker.test()
        self.assertEqual(self.playbook.tables(), before)

    def test_route_id_in_use(self) -> None:
        """The first holder of a route id keeps it; the second is told, by its test's id."""
        test = self.worker.test()
        route_id = test.route("**/a")
        self.worker.sends(RouteRegister(route_id, test.id, glob("**/b")))
        complaint = outbound.ProxyError("invalid_message", text(route_id, "in use"), test.id)
        self.playbook.expect(self.worker.gets(complaint))
        self.assertEqual(
            self.playbook.coordinator.state.registry.routes[route_id].matcher, glob("**/a")
        )


class OtherWorkersTests(SynchronousTestCase):
    """Nobody touches another worker's tests and routes."""

    def setUp(self) -> None:
        self.playbook = Playbook(self)
        self.owner, self.other = self.playbook.worker("0"), self.playbook.worker("1")
        self.test = self.owner.test()
        self.route_id = self.test.route("**")
        self.before = self.playbook.tables()

    def test_taking_over(self) -> None:
        """Another worker's test id cannot be registered, nor be given routes."""
        for message in (
            TestRegister(self.test.id, "mine", "f", "1"),
            RouteRegister("q", self.test.id, glob("**")),
        ):
            self.other.sends(message)
            complaint = outbound.ProxyError("invalid_message", ANY, self.test.id)
            self.playbook.expect(self.other.gets(complaint))
            self.assertEqual(self.playbook.tables(), self.before)

    def test_taking_down(self) -> None:
        """Another worker's test and routes cannot be unregistered."""
        for message in (TestUnregister(self.test.id), RouteUnregister(self.route_id)):
            self.other.sends(message)
            self.playbook.expect()
            self.assertEqual(self.playbook.tables(), self.before)
        self.other.sends(RouteUnregister(test_id=self.test.id))
        answer = outbound.RouteUnregistered(test_id=self.test.id)
        self.playbook.expect(self.other.gets(answer))
        self.assertEqual(self.playbook.tables(), self.before)

    def test_sleeping_in_anothers_bed(self) -> None:
        """A route that sleeps for a test id does not wake for another worker's test."""
        agent = self.playbook.agent()
        self.other.sends(RouteRegister("q", "late", glob("**/late")))
        self.playbook.expect(self.other.gets(outbound.RouteRegistered("q")))
        late = self.owner.test("late")
        agent.sends(start("r1", "http://h.test/late"))
        self.playbook.take()
        late.ends()
        self.playbook.expect(late.ended())
        self.assertIn("q", self.playbook.coordinator.state.registry.routes)
