"""Several tests want one request: nobody gets it, and everybody concerned learns why."""

from attrs import evolve
from twisted.trial.unittest import SynchronousTestCase

from tests.support.builders import claims, predicate, request, start, text
from tests.support.playbook import SETTINGS, Playbook, RegisteredTest, to
from trafficmock.core.effects import Effects, Send
from trafficmock.core.ownership.ambiguity import MOST_DIAGNOSTICS, MOST_NAMED, MOST_RIVALS
from trafficmock.records import RequestFailed, RequestSeen
from trafficmock.wire import inbound, outbound
from trafficmock.wire.features import CONTEXT
from trafficmock.wire.payloads.serialized_matcher import RouteMatchDiagnostic, SerializedMatcher
from trafficmock.wire.payloads.serialized_response import SerializedError

SAID = text("Ambiguous backend mock routing", "2 tests", "GET http://h.test/a", '"a"', '"b"')
ONE, OTHER = "1" * 32, "2" * 32
"""Contexts."""
CLAIM = outbound.RequestClaim("r1", request(), "app")


def diagnostic(
    test: RegisteredTest, number: int, matcher: SerializedMatcher
) -> RouteMatchDiagnostic:
    file, worker_id = f"{test.id}.spec.ts", test.worker.id[-1]
    return RouteMatchDiagnostic(f"{test.id}#{number}", test.id, test.id, file, worker_id, matcher)


class AmbiguityTests(SynchronousTestCase):
    """Two tests on two workers, unless a test says otherwise."""

    def setUp(self) -> None:
        self.playbook = Playbook(self)
        self.agent = self.playbook.agent()
        self.one, self.other = self.playbook.worker("1"), self.playbook.worker("2")
        self.a, self.b = self.one.test("a"), self.other.test("b")

    def seen(self) -> Effects:
        news = outbound.RequestObserved("r1", request(), "app")
        observers = to(self.one, self.other)
        return [RequestSeen("r1", "app", request()), Send(observers, news)]

    def ambiguous(self, *matches: RouteMatchDiagnostic) -> Effects:
        """Everything that an ambiguity of ``a`` and ``b`` leads to."""
        detail = list(matches)
        error = SerializedError("Error", SAID, code="ambiguous_route")
        news = inbound.RequestResponse("r1", ok=False, error=error)
        refusal = outbound.DecisionError("r1", "ambiguous_route", SAID, detail)
        complaints = [
            test.worker.gets(outbound.ProxyError("ambiguous_route", SAID, test.id, detail))
            for test in (self.a, self.b)
        ]
        return [
            RequestFailed("r1", None, "ambiguous_route", SAID, detail),
            self.agent.gets(refusal),
            Send(to(self.one, self.other), news),
            *complaints,
        ]

    def test_certain(self) -> None:
        """Two certain matches are ambiguous at once; each test is told once, with all routes."""
        matcher = SerializedMatcher(methods=["GET"])
        self.a.route(matcher)
        self.a.route(SerializedMatcher())
        self.a.route("http://other.test/")
        self.b.route(matcher)
        before = self.playbook.tables()
        self.agent.sends(start())
        matches = [
            diagnostic(self.a, 1, matcher),
            diagnostic(self.a, 2, SerializedMatcher()),
            diagnostic(self.b, 1, matcher),
        ]
        self.playbook.expect(*self.seen(), *self.ambiguous(*matches))
        self.assertEqual(self.playbook.tables(), before)

    def test_the_undecided_are_asked_first(self) -> None:
        """With a question open, the diagnostics wait for its answer and are complete."""
        self.a.route(SerializedMatcher())
        self.b.route(predicate())
        self.agent.sends(start())
        self.playbook.expect(*self.seen(), self.other.gets(CLAIM))
        self.other.sends(claims("r1", "b", "b#1"))
        matches = [diagnostic(self.a, 1, SerializedMatcher()), diagnostic(self.b, 1, predicate())]
        self.playbook.expect(*self.ambiguous(*matches))

    def test_oldest_first(self) -> None:
        """The routes are listed by age, also if the older one needed a question."""
        self.b.route(predicate())
        self.a.route(SerializedMatcher())
        self.agent.sends(start())
        self.playbook.take()
        self.other.sends(claims("r1", "b", "b#1"))
        matches = [diagnostic(self.b, 1, predicate()), diagnostic(self.a, 1, SerializedMatcher())]
        failed = self.playbook.take()[0]
        assert isinstance(failed, RequestFailed)
        self.assertEqual(failed.matches, matches)

    def test_the_undecided_says_no(self) -> None:
        """One certain match and an answer of no: the certain one gets it."""
        self.a.route(SerializedMatcher())
        self.b.route(predicate())
        self.agent.sends(start())
        self.playbook.take()
        self.other.sends(claims("r1", "b"))
        matched = outbound.RequestMatched("r1", request(), "app", "a#1", "a")
        self.playbook.expect(self.one.gets(matched))

    def test_whoever_is_on_an_asked_connection_is_asked(self) -> None:
        """A certain match beside an undecided test on one connection is asked as well."""
        self.a.route(SerializedMatcher())
        self.one.test("c").route(predicate())
        self.agent.sends(start())
        self.playbook.expect(*self.seen(), self.one.gets(CLAIM))
        self.one.sends(claims("r1", "c"))
        self.playbook.expect()
        self.one.sends(claims("r1", "a", "a#1"))
        matched = outbound.RequestMatched("r1", request(), "app", "a#1", "a")
        self.playbook.expect(self.one.gets(matched))

    def test_guard(self) -> None:
        """Of two certain matches the one with a handler at work is asked first."""
        self.a.route(SerializedMatcher(client_ids=["app", "alone"]))
        self.b.route(SerializedMatcher(client_ids=["app"]))
        self.agent.sends(start("r0", client_id="alone"))
        self.playbook.take()
        self.agent.sends(start())
        self.playbook.expect(*self.seen(), self.one.gets(CLAIM))
        self.one.sends(claims("r1", "a"))
        matched = outbound.RequestMatched("r1", request(), "app", "b#1", "b")
        self.playbook.expect(self.other.gets(matched))

    def test_two_tests_of_one_worker(self) -> None:
        """Tests compete, not workers: one worker is told once for each of its tests."""
        self.other.dies()
        self.b = self.one.test("b")
        self.a.route(SerializedMatcher())
        self.b.route(SerializedMatcher())
        self.agent.sends(start())
        complained = [
            effect.message.test_id
            for effect in self.playbook.take()
            if isinstance(effect, Send) and isinstance(effect.message, outbound.ProxyError)
        ]
        self.assertEqual(complained, ["a", "b"])

    def test_one_ends_during_the_round(self) -> None:
        """A test that ends before the round does is no rival."""
        self.a.route(predicate())
        self.b.route(predicate())
        self.agent.sends(start())
        self.playbook.take()
        self.one.sends(claims("r1", "a", "a#1"))
        self.playbook.expect()
        self.a.ends()
        self.playbook.expect(self.a.ended())
        self.other.sends(claims("r1", "b", "b#1"))
        matched = outbound.RequestMatched("r1", request(), "app", "b#1", "b")
        self.playbook.expect(self.other.gets(matched))

    def test_always_asking(self) -> None:
        """When everybody is asked the outcome is the same."""
        playbook = self.playbook = Playbook(self, evolve(SETTINGS, ownership="always-ask"))
        self.agent = playbook.agent()
        self.one, self.other = playbook.worker("1"), playbook.worker("2")
        self.a, self.b = self.one.test("a"), self.other.test("b")
        self.a.route(SerializedMatcher())
        self.b.route(SerializedMatcher())
        self.agent.sends(start())
        playbook.expect(*self.seen(), Send(to(self.one, self.other), CLAIM))
        self.other.sends(claims("r1", "b", "b#1"))
        playbook.expect()
        self.one.sends(claims("r1", "a", "a#1"))
        matches = sorted(
            [
                diagnostic(self.a, 1, SerializedMatcher()),
                diagnostic(self.b, 1, SerializedMatcher()),
            ],
            key=lambda each: each.test_id,
        )
        decided = playbook.take()
        failed = decided[0]
        assert isinstance(failed, RequestFailed)
        assert failed.matches is not None
        self.assertEqual(sorted(failed.matches, key=lambda each: each.test_id), matches)

    def test_texts(self) -> None:
        """The message names tests, files, workers and matchers, and says what to do."""
        self.a.route(SerializedMatcher(methods=["GET", "PUT"], client_ids=["app"], url_glob="**/a"))
        self.b.route(SerializedMatcher(predicate=False))
        self.agent.sends(start())
        failed = next(each for each in self.playbook.take() if isinstance(each, RequestFailed))
        expected = text(
            '"a" (a.spec.ts, worker 1)', "'**/a' GET|PUT client app", "any URL", "narrow the URLs"
        )
        self.assertEqual(failed.message, expected)


class AdviceTests(SynchronousTestCase):
    """What two tests that want one request are advised, by what the proxy knows of them."""

    def advised(self, *tests: tuple[str, bool], features: tuple[str, ...] = (CONTEXT,)) -> str:
        """Give the advice to tests of fixtures with or without contexts, with theirs or none."""
        playbook = Playbook(self)
        agent = playbook.agent(features=features)
        for number, (context, knows) in enumerate(tests):
            worker = playbook.worker(str(number), features=[CONTEXT] if knows else [])
            worker.test("abcdefg"[number], context or None).route("**")
        agent.sends(start())
        failed = next(each for each in playbook.take() if isinstance(each, RequestFailed))
        _, told, advice = failed.message.rpartition("'**'\n")
        self.assertTrue(told, failed.message)
        return advice

    def test_both_have_contexts(self) -> None:
        """The request lacks one: headers or a cookie were forgotten, or the context was lost."""
        said = self.advised((ONE, True), (OTHER, True))
        self.assertLess(said.index("trafficmock.headers"), said.index("lost the context"))
        self.assertLess(
            said.index("lost the context"),
            said.index("Where that is not possible, give each test's"),
        )
        self.assertNotIn("solation", said)
        self.assertNotIn("knows no contexts", said)

    def test_agent_without_contexts(self) -> None:
        """An agent that passes none on is the reason, whatever is on the inbound requests."""
        said = self.advised((ONE, True), (OTHER, True), features=())
        self.assertTrue(said.startswith('The agent of "app" passes on no contexts; use'), said)
        self.assertNotIn("trafficmock.headers", said)

    def test_isolation_is_off(self) -> None:
        """Neither can have put its context on the request."""
        said = self.advised(("", True), ("", True))
        self.assertTrue(said.startswith("Isolation is off for these tests: turn it on"), said)
        self.assertIn(
            "Where that is not possible, give each test's application its own client id", said
        )
        self.assertNotIn("trafficmock.headers", said)

    def test_fixtures_without_contexts(self) -> None:
        """Client ids come first only where nothing else can help."""
        for features in ((CONTEXT,), ()):
            said = self.advised(("", False), ("", False), features=features)
            expected = "The fixture of these tests knows no contexts. Give each test's application"
            self.assertTrue(said.startswith(expected), said)

    def test_mixed(self) -> None:
        """Whose request it is may be seen by which of them has a context."""
        said = self.advised((ONE, True), ("", True), ("", False))
        self.assertTrue(said.startswith("The request carries the context of no test."), said)
        self.assertIn('Isolation is off for "b": turn it on', said)
        self.assertIn(
            'The fixture of "c" knows no contexts. Where that is not possible, give', said
        )

    def test_many(self) -> None:
        """A few tests are named."""
        said = self.advised((ONE, True), *[("", False)] * 6)
        self.assertIn('of "b", "c", "d", "e", "f" and 1 more knows', said)


class ManyTests(SynchronousTestCase):
    """Hundreds of tests with long names want one request with a long URL."""

    def test_bounded(self) -> None:
        """What each of them is told is bounded; the rest is counted."""
        playbook = Playbook(self)
        agent = playbook.agent()
        for number in range(2 * MOST_RIVALS):
            worker = playbook.worker(str(number))
            test = worker.test(f"{number} \x1b[2J\n{'t' * 10_000}")
            for _ in range(MOST_NAMED + 2):
                test.route(f"**{{,{'x' * 500}}}")
        agent.sends(start(url="http://me:secret@h.test/?" + "a" * 10_000))
        sent = [each.message for each in playbook.take() if isinstance(each, Send)]
        errors = [each for each in sent if isinstance(each, outbound.ProxyError)]
        self.assertEqual(len(errors), 2 * MOST_RIVALS)
        for error in errors:
            self.assertLess(len(error.message), 30_000)
            self.assertIn(f"{2 * MOST_RIVALS} tests match GET http://h.test/?aaa", error.message)
            self.assertIn("\n  and 10 more\n", error.message)
            self.assertIn("… and 2 more", error.message)
            self.assertNotIn("secret", error.message)
            self.assertIn('"0 \\x1b[2J\\nttt', error.message)
            self.assertEqual(len(error.detail), MOST_DIAGNOSTICS)
