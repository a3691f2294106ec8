"""Who owns a request: decided without asking where that is certain, by asking where not."""

from attrs import evolve
from twisted.trial.unittest import SynchronousTestCase

from tests.support.builders import URL, claims, fetch, fulfill, predicate, report, request, start
from tests.support.playbook import SETTINGS, Peer, Playbook, RegisteredTest, to
from trafficmock.core.effects import Effects, Send
from trafficmock.records import RequestPassedThrough, RequestSeen
from trafficmock.wire import inbound, outbound
from trafficmock.wire.payloads.serialized_matcher import SerializedMatcher, SerializedRegex

OBSERVED = outbound.RequestObserved("r1", request(), "app")
CLAIM = outbound.RequestClaim("r1", request(), "app")
ALWAYS_ASK = evolve(SETTINGS, ownership="always-ask")
NO: tuple[str | SerializedMatcher, ...] = (
    "http://other.test/**",
    SerializedMatcher(methods=["PUT"]),
    SerializedMatcher(client_ids=["other"]),
)
YES: tuple[str | SerializedMatcher, ...] = (
    "http://h.test/**",
    SerializedMatcher(),
    SerializedMatcher(methods=["get"], client_ids=["app"]),
    SerializedMatcher(url_regex=SerializedRegex("^http:..h[.]test", "")),
    SerializedMatcher(url_glob="**", url_regex=SerializedRegex("a$", "g")),
)
UNDECIDABLE: tuple[str | SerializedMatcher, ...] = (
    predicate(),
    "/relative",
    SerializedMatcher(url_regex=SerializedRegex("(?<=h)", "")),
    SerializedMatcher(url_glob="**", predicate=True, methods=["GET"]),
)


class OneWorker(SynchronousTestCase):
    """One agent, one worker."""

    def setUp(self) -> None:
        self.playbook = Playbook(self)
        self.agent, self.worker = self.playbook.agent(), self.playbook.worker()

    def matched(self, test: RegisteredTest, route_id: str, request_id: str = "r1") -> Send:
        message = outbound.RequestMatched(request_id, request(), "app", route_id, test.id)
        return test.worker.gets(message)

    def passed(self, request_id: str = "r1") -> Effects:
        decision = outbound.DecisionPassthrough(request_id)
        return [RequestPassedThrough(request_id), self.agent.gets(decision)]

    def seen(self, *observers: Peer, request_id: str = "r1") -> Effects:
        effects: Effects = [RequestSeen(request_id, "app", request())]
        if observers:
            news = outbound.RequestObserved(request_id, request(), "app")
            effects.append(Send(to(*observers), news))
        return effects


class WithoutAskingTests(OneWorker):
    """One test, one route."""

    def test_nobody_there(self) -> None:
        """Without workers a request passes at once."""
        self.worker.dies()
        self.agent.sends(start())
        self.playbook.expect(*self.seen(), *self.passed())

    def test_worker_without_tests(self) -> None:
        """A worker without a test is not told of requests."""
        self.agent.sends(start())
        self.playbook.expect(*self.seen(), *self.passed())

    def test_no(self) -> None:
        """Where no route can match, nobody is asked."""
        test = self.worker.test()
        for wanted in NO:
            test.route(wanted)
        test.route("**", kind="websocket")
        self.agent.sends(start())
        self.playbook.expect(*self.seen(self.worker), *self.passed())

    def test_yes(self) -> None:
        """Where one test's route certainly matches, the match goes out at once."""
        for number, wanted in enumerate(YES):
            test = self.worker.test(f"t{number}")
            test.route("http://other.test/")
            route_id = test.route(wanted)
            self.agent.sends(start())
            self.playbook.expect(*self.seen(self.worker), self.matched(test, route_id))
            self.worker.sends(fulfill())
            self.playbook.take()
            test.ends()
            self.playbook.expect(test.ended())

    def test_route_before_its_test(self) -> None:
        """It counts from the registration of its test on, and ends with it for good."""
        self.worker.sends(inbound.RouteRegister("early", "buys", SerializedMatcher()))
        self.playbook.take()
        self.agent.sends(start())
        self.playbook.expect(*self.seen(), *self.passed())
        self.agent.sends(report("r1"))
        self.playbook.take()
        test = self.worker.test()
        self.agent.sends(start("r2"))
        matched = self.matched(test, "early", "r2")
        self.playbook.expect(*self.seen(self.worker, request_id="r2"), matched)
        self.worker.sends(fulfill("r2"))
        self.playbook.take()
        test.ends()
        self.playbook.take()
        self.worker.test().route(NO[0])
        self.agent.sends(start("r3"))
        self.assertIn(self.passed("r3")[1], self.playbook.take())

    def test_route_before_another_test(self) -> None:
        """A test has no routes that wait for another one."""
        self.worker.sends(inbound.RouteRegister("early", "sells", SerializedMatcher()))
        self.playbook.take()
        self.worker.test().route(NO[0])
        self.agent.sends(start())
        self.assertIn(self.passed()[1], self.playbook.take())

    def test_undecidable(self) -> None:
        """Where only the worker can tell, it is asked, and its answer counts."""
        for number, wanted in enumerate(UNDECIDABLE):
            test = self.worker.test(f"t{number}")
            route_id = test.route(wanted)
            self.agent.sends(start("r1"))
            self.playbook.expect(*self.seen(self.worker), self.worker.gets(CLAIM))
            self.worker.sends(claims("r1", test.id, route_id))
            self.playbook.expect(self.matched(test, route_id))
            self.worker.sends(fulfill())
            self.playbook.take()
            self.agent.sends(start("r2"))
            self.playbook.take()
            self.worker.sends(claims("r2", test.id))
            self.playbook.expect(*self.passed("r2"))
            self.agent.sends(report("r2"))
            self.playbook.take()
            test.ends()
            self.playbook.expect(test.ended())

    def test_yes_beside_undecidable(self) -> None:
        """A test that matches for certain by one route needs no question about another."""
        test = self.worker.test()
        test.route(predicate())
        route_id = test.route("**")
        self.agent.sends(start())
        self.playbook.expect(*self.seen(self.worker), self.matched(test, route_id))

    def test_clients_of_one_agent(self) -> None:
        """The message's client id is what counts, not the connection's."""
        test = self.worker.test()
        route_id = test.route(SerializedMatcher(client_ids=["second"]))
        self.agent.sends(start(client_id="second"))
        seen, _, matched = self.playbook.take()
        self.assertEqual(seen, RequestSeen("r1", "second", request()))
        message = outbound.RequestMatched("r1", request(), "second", route_id, test.id)
        self.assertEqual(matched, self.worker.gets(message))

    def test_snapshot(self) -> None:
        """Routes that are registered after a request do not count for it."""
        test = self.worker.test()
        early = test.route(predicate())
        self.agent.sends(start())
        self.playbook.take()
        late = test.route("**")
        websocket = test.route("**", kind="websocket")
        self.worker.sends(claims("r1", test.id, late, websocket, "unknown"))
        self.playbook.expect(*self.passed())
        self.agent.sends(start("r2", "http://h.test/b"))
        self.playbook.take()
        self.assertNotEqual(early, late)

    def test_route_removed_during_the_round(self) -> None:
        """A route that is gone when the round ends does not count."""
        test = self.worker.test()
        one, other = test.route(predicate()), test.route(predicate())
        self.agent.sends(start())
        self.playbook.take()
        self.worker.sends(inbound.RouteUnregister(one))
        self.playbook.take()
        self.worker.sends(claims("r1", test.id, one, other, other))
        self.playbook.expect(self.matched(test, other))


class GuardTests(OneWorker):
    """A ``times`` route may be expiring while a handler is at work: then its test is asked."""

    def at_work(self, worker_features: tuple[str, ...] = ()) -> tuple[RegisteredTest, str]:
        self.worker = self.playbook.worker("1", features=worker_features)
        test = self.worker.test()
        route_id = test.route("**")
        self.agent.sends(start("r0"))
        self.playbook.take()
        return test, route_id

    def test_asked_while_at_work(self) -> None:
        """The second request is asked about while the first has no terminal result."""
        test, route_id = self.at_work()
        self.worker.sends(fetch("r0"))
        self.playbook.take()
        self.agent.sends(start())
        self.playbook.expect(*self.seen(self.worker), self.worker.gets(CLAIM))
        self.worker.sends(claims("r1", test.id, route_id))
        self.playbook.expect(self.matched(test, route_id))

    def test_another_route_at_work(self) -> None:
        """A handler of another route of the same test cannot expire the one that matches."""
        test, _ = self.at_work()
        self.worker.sends(inbound.RouteUnregister("buys#1"))
        self.playbook.take()
        route_id = test.route("http://h.test/*")
        self.agent.sends(start())
        self.playbook.expect(*self.seen(self.worker), self.matched(test, route_id))

    def test_any_route_counts_between_tests(self) -> None:
        """Before two tests are called ambiguous, one with any handler at work is asked."""
        test, _ = self.at_work()
        self.worker.sends(inbound.RouteUnregister("buys#1"))
        self.playbook.take()
        test.route("http://h.test/*")
        rival = self.playbook.worker("2").test("rival")
        mine = rival.route("http://h.test/a")
        self.agent.sends(start())
        self.playbook.expect(*self.seen(self.worker, rival.worker), self.worker.gets(CLAIM))
        self.worker.sends(claims("r1", test.id))
        self.playbook.expect(self.matched(rival, mine))

    def test_expired_in_between(self) -> None:
        """A route that expires by the first request lets the second one pass."""
        test, route_id = self.at_work()
        self.agent.sends(start())
        self.playbook.take()
        self.worker.sends(inbound.RouteUnregister(route_id))
        self.playbook.expect(self.worker.gets(outbound.RouteUnregistered(route_id)))
        self.worker.sends(claims("r1", test.id))
        self.playbook.expect(*self.passed())

    def test_not_asked_afterwards(self) -> None:
        """Once the first is settled, the next one is matched without a question."""
        test, route_id = self.at_work()
        self.worker.sends(fulfill("r0"))
        self.playbook.take()
        self.agent.sends(start())
        self.playbook.expect(*self.seen(self.worker), self.matched(test, route_id))

    def test_another_test_at_work(self) -> None:
        """The handler of one test does not make another test doubtful."""
        self.at_work()
        idle = self.worker.test("idle")
        self.worker.sends(inbound.RouteUnregister("buys#1"))
        self.playbook.take()
        route_id = idle.route("**")
        self.agent.sends(start())
        self.playbook.expect(*self.seen(self.worker), self.matched(idle, route_id))


class AlwaysAskTests(OneWorker):
    """The npm proxy's way: every test with a route of the kind is asked."""

    def setUp(self) -> None:
        self.playbook = Playbook(self, ALWAYS_ASK)
        self.agent, self.worker = self.playbook.agent(), self.playbook.worker()

    def test_yes_and_no_are_asked(self) -> None:
        """One question to each connection, one answer from each test."""
        other = self.playbook.worker("1")
        tests = [self.worker.test("a"), self.worker.test("b"), other.test("c")]
        sure = tests[0].route("**")
        for test in tests:
            test.route("http://other.test/")
        other.test("without routes")
        other.test("sockets").route("**", kind="websocket")
        self.agent.sends(start())
        ask = Send(to(self.worker, other), CLAIM)
        self.playbook.expect(*self.seen(self.worker, other), ask)
        for test in tests[1:]:
            test.worker.sends(claims("r1", test.id))
            self.playbook.expect()
        self.worker.sends(claims("r1", "a", sure))
        self.playbook.expect(self.matched(tests[0], sure))

    def test_nobody_to_ask(self) -> None:
        """Without an HTTP route a request passes at once."""
        self.worker.test().route("**", kind="websocket")
        self.agent.sends(start())
        self.playbook.expect(*self.seen(self.worker), *self.passed())

    def test_the_worker_is_right(self) -> None:
        """What the worker says counts, whatever its matchers look like."""
        test = self.worker.test()
        route_id = test.route("http://other.test/")
        self.agent.sends(start("r1", URL))
        self.playbook.take()
        self.worker.sends(claims("r1", test.id, route_id))
        self.playbook.expect(self.matched(test, route_id))
