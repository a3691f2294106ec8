"""Routes whose conditions look at more than the URL of a request."""

from attrs import evolve
from msgspec import structs

from tests.core.http.pending_bodies import (
    HEAD,
    NEED,
    PASS,
    WHOLE,
    BodyCase,
    announce,
    brings,
    observed,
    types,
)
from tests.core.ownership.context_case import A, B, ContextCase
from tests.support.builders import claims, glob
from tests.support.playbook import SETTINGS
from trafficmock.core.effects import Send
from trafficmock.records import RequestFailed, RequestPassedThrough, RequestSeen
from trafficmock.wire import inbound, outbound
from trafficmock.wire.payloads.serialized_matcher import SerializedCondition, SerializedMatcher

HELLO = [SerializedCondition("form", ["hello"])]
"""Met by the body ``hello``, which is a form with this name."""
BYE = [SerializedCondition("form", ["bye"])]
JSON = [SerializedCondition("json", ["a"], equals=1)]
KEY = [SerializedCondition("header", ["X-Key"], equals="1")]


def having(conditions: list[SerializedCondition], url: str = "**/a") -> SerializedMatcher:
    return structs.replace(glob(url), conditions=conditions)


class AwaitedBodyTests(BodyCase):
    """A body that decides which test owns its request."""

    def asks(self, *matchers: SerializedMatcher) -> None:
        for matcher in matchers:
            self.test.route(matcher)
        self.agent.sends(announce())

    def streams(self) -> None:
        """Check that the request goes on, without a question about its body."""
        self.playbook.expect(
            RequestSeen("r1", "app", HEAD, body_pending=True),
            RequestPassedThrough("r1"),
            self.agent.gets(PASS),
        )

    def needs(self) -> None:
        """Check that the body is asked for."""
        self.playbook.expect(
            RequestSeen("r1", "app", HEAD, body_pending=True), self.agent.gets(NEED)
        )

    def test_met(self) -> None:
        """The owner gets a request whose body meets its conditions."""
        self.asks(having(BYE), having(HELLO))
        self.needs()
        self.agent.sends(brings())
        matched = outbound.RequestMatched("r1", WHOLE, "app", "buys#2", "buys")
        _, *sent = self.playbook.take()
        self.assertEqual(sent, [self.worker.gets(observed()), self.worker.gets(matched)])

    def test_not_met(self) -> None:
        """A request whose body meets none goes on with it."""
        self.asks(having(BYE), having(JSON))
        self.needs()
        self.agent.sends(brings())
        self.assertEqual(types(self.playbook.take()), ["request:observed", "decision:passthrough"])

    def test_only_what_a_body_decides_waits(self) -> None:
        """Another URL, or a head that fails another condition of the route, lets it stream."""
        self.asks(having(HELLO, "**/b"), having([*HELLO, *KEY]), having(KEY))
        self.streams()

    def test_sure_beside(self) -> None:
        """A route without conditions does not take what a later test's body condition may own."""
        other = self.playbook.worker("2").test("sells")
        other.route(having(HELLO))
        self.asks(glob("**/a"))
        self.needs()
        self.agent.sends(brings())
        self.assertIn("decision:error", types(self.playbook.take()))

    def test_two_tests(self) -> None:
        """Of two tests with one URL each owns the requests with its body."""
        other = self.playbook.worker("2").test("sells")
        other.route(having(BYE))
        self.asks(having(HELLO))
        self.needs()
        self.agent.sends(brings())
        (matched,) = [
            each.message
            for each in self.playbook.take()
            if isinstance(each, Send) and isinstance(each.message, outbound.RequestMatched)
        ]
        self.assertEqual(matched.test_id, "buys")

    def test_cut(self) -> None:
        """A body that is not here whole meets nothing."""
        self.asks(having(HELLO))
        self.needs()
        self.agent.sends(brings(b"hello", size=99))
        self.assertEqual(types(self.playbook.take()), ["request:observed", "decision:passthrough"])

    def test_cut_for_another_route(self) -> None:
        """It fails a request that another route owns, which could not be given the whole."""
        self.asks(glob("**/a"), having(HELLO))
        self.needs()
        self.agent.sends(brings(b"hello", size=99))
        self.assertIn("decision:error", types(self.playbook.take()))

    def test_test_ends_before(self) -> None:
        """Without the test that asked for the body the request goes on."""
        self.asks(having(HELLO))
        self.needs()
        self.worker.sends(inbound.TestUnregister("buys"))
        self.playbook.take()
        self.agent.sends(brings())
        self.assertEqual(types(self.playbook.take())[-1], "decision:passthrough")

    def test_given_up(self) -> None:
        """A request that its application gives up waits no longer."""
        self.asks(having(HELLO))
        self.needs()
        self.agent.sends(inbound.RequestCancel("r1"))
        self.playbook.take()
        self.refused(brings())

    def test_invalid(self) -> None:
        """A body that is no valid message fails the request."""
        self.asks(having(HELLO))
        self.needs()
        self.agent.sends_text('{"type":"request:body","requestId":"r1","bodyBase64":1}')
        self.assertIn("decision:error", types(self.playbook.take()))

    def test_then_a_predicate(self) -> None:
        """The worker is asked about a predicate when the conditions are met."""
        self.asks(structs.replace(having(HELLO), predicate=True))
        self.needs()
        self.agent.sends(brings())
        question = outbound.RequestClaim("r1", WHOLE, "app")
        _, seen, asked = self.playbook.take()
        self.assertEqual([seen, asked], [self.worker.gets(observed()), self.worker.gets(question)])
        self.worker.sends(claims("r1", "buys", "buys#1"))
        self.assertEqual(types(self.playbook.take()), ["request:matched"])


class OverdueTests(BodyCase):
    """A body that decides, and does not come."""

    settings = evolve(SETTINGS, body_timeout=20.0)

    def test_overdue(self) -> None:
        """Its request fails; no test is to blame."""
        self.test.route(having(HELLO))
        self.agent.sends(announce())
        self.playbook.take()
        self.playbook.wait(21)
        effects = self.playbook.take()
        self.assertIn("decision:error", types(effects))
        (failed,) = [each for each in effects if isinstance(each, RequestFailed)]
        self.assertIsNone(failed.owner)

    def test_given_up_before(self) -> None:
        """Nothing is due for a request that ended while it waited, by whatever."""
        self.test.route(having(HELLO))
        for end in (
            lambda: self.agent.sends(inbound.RequestCancel("r1")),
            lambda: self.agent.sends_text('{"type":"request:body","requestId":"r1"}'),
            self.agent.closes,
        ):
            self.agent.sends(announce())
            self.assertIn("request:need-body", types(self.playbook.take()))
            end()
            self.playbook.take()
            self.assertNotIn("body_overdue", str(self.playbook.tables()))
            self.playbook.wait(21)
            self.playbook.take()


class ContextTests(ContextCase):
    """The body of a request with a context is asked for only where it may decide something."""

    def asked_for(self, *contexts: str | None) -> list[bool]:
        """Announce a request with each of the contexts; return whether its body is asked for."""
        asked = []
        for number, context in enumerate(contexts):
            self.starts(context, f"r{number}", request=HEAD, body_pending=True)
            asked.append(bool(self.sent(outbound.NeedBody)))
        return asked

    def test_own(self) -> None:
        """A test's own condition counts, and without a context everybody's."""
        self.b.route(having(HELLO))
        self.assertEqual(self.asked_for(A, B, None), [False, True, True])

    def test_shared(self) -> None:
        """So does that of a shared route, for the tests of its worker."""
        self.registered(self.mine, "shared", shared=True).route(having(HELLO))
        self.assertEqual(self.asked_for(A, B), [True, False])

    def test_run(self) -> None:
        """So does that of a route of the run, for each test."""
        self.registered(self.mine, "run", scope="run").route(having(HELLO))
        self.assertEqual(self.asked_for(A, B), [True, True])
