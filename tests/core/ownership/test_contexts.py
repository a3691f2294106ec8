"""A request with a running test's context belongs to that test alone."""

import json
import re
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st
from msgspec import UNSET, structs

from tests.core.ownership.context_case import OURS, UNKNOWN, A, B, ContextCase
from tests.support.builders import (
    abort,
    claims,
    fulfill,
    open_socket,
    predicate,
    report,
    response,
    start,
    text,
)
from trafficmock.core.deadlines import Deadlines
from trafficmock.core.effects import EffectList, Moment, Send
from trafficmock.core.ownership.contexts import LATE_SECONDS, MOST_ENDED, Contexts
from trafficmock.records import (
    CarriedContext,
    ContextMixedUp,
    Owner,
    RequestFailed,
    RequestFulfilled,
    RequestPassedThrough,
    RequestSeen,
    SocketPassedThrough,
)
from trafficmock.wire import inbound, outbound
from trafficmock.wire.codec import InvalidMessageError, decode

CARRIED_A = CarriedContext("buys", "buys", "buys.py", late=False)


class OwnerTests(ContextCase):
    """The tests of two workers want the same URL."""

    def test_own(self) -> None:
        """Each gets what carries its context; what carries none is ambiguous."""
        for test in (self.a, self.b):
            test.route("**")
        self.assertEqual(self.owner(A, "r1"), "buys")
        self.assertEqual(self.owner(B, "r2"), "sells")
        self.starts(None, "r3")
        self.assertEqual(len(self.sent(outbound.DecisionError)), 1)

    def test_match_says_so(self) -> None:
        """The owner hears that the request carries its context; the id is in no message."""
        self.a.route("**")
        self.starts()
        ((to, matched),) = self.sent(outbound.RequestMatched)
        self.assertEqual((to, matched.context), ((self.mine.id,), "own"))
        self.mine.sends(fulfill())
        self.playbook.take()
        self.starts(None, "r2")
        ((_, matched),) = self.sent(outbound.RequestMatched)
        self.assertIs(matched.context, UNSET)

    def test_others_ran(self) -> None:
        """Of a request without a context the record has the number of other tests that ran."""
        self.a.route("**")
        self.registered(self.theirs, "shared", UNKNOWN, shared=True)
        counts = []
        for number, context in enumerate((A, None)):
            self.starts(context, f"r{number}")
            self.playbook.take()
            self.mine.sends(fulfill(f"r{number}"))
            counts.append(self.owner_of_the_last().other_tests)
        self.theirs.sends(inbound.TestUnregister("sells"))
        self.playbook.take()
        self.starts(None, "r2")
        self.playbook.take()
        self.mine.sends(fulfill("r2"))
        self.assertEqual([*counts, self.owner_of_the_last().other_tests], [0, 1, 0])

    def test_others_beside_shared(self) -> None:
        """A shared route may serve each of them, so its requests are nobody else's."""
        self.registered(self.mine, "shared", UNKNOWN, shared=True).route("**")
        self.starts(None)
        self.playbook.take()
        self.mine.sends(fulfill())
        self.assertEqual(self.owner_of_the_last().other_tests, 0)

    def owner_of_the_last(self) -> Owner:
        """Give the owner that the record of a fulfilled request has."""
        (owner,) = [
            each.owner for each in self.playbook.take() if isinstance(each, RequestFulfilled)
        ]
        return owner

    def test_nobody_else(self) -> None:
        """Another test's routes do not get it; the record names them."""
        for _ in range(2):
            self.b.route("**")
        self.b.route(predicate())
        self.starts()
        effects = [each for each in self.playbook.take() if not isinstance(each, ContextMixedUp)]
        self.assertEqual(effects, self.passes("sells#1", "sells#2", carried=CARRIED_A))

    def test_predicate(self) -> None:
        """Only the worker of the context is asked what only a worker can tell."""
        self.a.route(predicate())
        self.b.route(predicate())
        self.starts()
        ((to, claim),) = self.sent(outbound.RequestClaim)
        self.assertEqual((to, claim.context), ((self.mine.id,), "own"))
        self.mine.sends(claims("r1", "buys"))
        self.playbook.expect(
            RequestPassedThrough("r1"), self.agent.gets(outbound.DecisionPassthrough("r1"))
        )

    def test_always_ask(self) -> None:
        """Where all tests are asked, only the context's is."""
        self.begin(ownership="always-ask")
        for test in (self.a, self.b):
            test.route("http://other.test/")
        self.starts()
        ((to, _),) = self.sent(outbound.RequestClaim)
        self.assertEqual(to, (self.mine.id,))

    def test_websocket(self) -> None:
        """A WebSocket's context counts in the same way."""
        for test in (self.a, self.b):
            test.route("**", kind="websocket")
        self.agent.sends(structs.replace(open_socket(), context=A))
        ((to, claim),) = self.sent(outbound.SocketClaim)
        self.assertEqual((to, claim.context), ((self.mine.id,), "own"))
        self.mine.sends(inbound.SocketClaimResult("s1", "buys", [inbound.RouteMatch("buys#1")]))
        ((to, matched),) = self.sent(outbound.SocketMatched)
        self.assertEqual((to, matched.context), ((self.mine.id,), "own"))
        self.agent.sends(structs.replace(open_socket("s2"), context=B))
        self.playbook.take()
        self.theirs.sends(inbound.SocketClaimResult("s2", "sells", []))
        passed = [each for each in self.playbook.take() if isinstance(each, SocketPassedThrough)]
        self.assertEqual(passed, [SocketPassedThrough("s2", ("buys#1",))])

    def test_without_the_feature(self) -> None:
        """The keys of a client that did not name the feature count for nothing."""
        plain_agent, plain = self.playbook.agent("npm"), self.playbook.worker("2")
        other = plain.test("npm", UNKNOWN)
        other.route("**")
        plain_agent.sends(structs.replace(start("r1"), context=A))
        self.assertEqual(self.sent(outbound.RequestMatched)[0][0], (plain.id,))
        plain.sends(fulfill())
        self.playbook.take()
        self.assertEqual(self.owner(UNKNOWN, "r2"), "npm")
        self.assertEqual(self.owner(A, "r3"), None)


class SharedTests(ContextCase):
    """Routes of a worker that serve all its tests."""

    def setUp(self) -> None:
        super().setUp()
        self.shared = self.registered(self.mine, "all", shared=True)

    def test_after_their_own(self) -> None:
        """A test's own route wins, else the shared one, and never another worker's."""
        self.shared.route("**")
        self.assertEqual(self.owner(A, "r1"), "all")
        self.a.route("**")
        self.assertEqual(self.owner(A, "r2"), "buys")
        self.assertEqual(self.owner(B, "r3"), None)

    def test_newest(self) -> None:
        """Of several shared tests the one with the newest matching route gets the request."""
        later = self.registered(self.mine, "later", shared=True)
        later.route("**")
        self.shared.route("**")
        self.assertEqual(self.owner(A), "all")

    def test_without_context(self) -> None:
        """Shared routes do not make a request ambiguous that a test of their worker wants."""
        self.shared.route("**")
        self.assertEqual(self.owner(None, "r1"), "all")
        self.a.route("**")
        self.assertEqual(self.owner(None, "r2"), "buys")
        self.b.route("**")
        self.starts(None, "r3")
        ((_, error),) = self.sent(outbound.DecisionError)
        self.assertEqual({each.test_id for each in error.matches or ()}, {"buys", "sells"})

    def test_asked_together(self) -> None:
        """A test that only the worker can judge is asked with the shared ones, and wins."""
        self.a.route(predicate())
        self.shared.route("**")
        self.starts()
        self.assertEqual(len(self.sent(outbound.RequestClaim)), 1)
        self.mine.sends(claims("r1", "all", "all#1"))
        self.playbook.expect()
        self.mine.sends(claims("r1", "buys", "buys#1"))
        ((_, matched),) = self.sent(outbound.RequestMatched)
        self.assertEqual(matched.test_id, "buys")

    def test_newest_asked(self) -> None:
        """The newest route counts whatever the order in which a worker names those that match."""
        later = self.registered(self.mine, "later", shared=True)
        for order in ((1, 2), (2, 1)):
            self.shared.route(predicate())
            later.route("**")
            self.shared.route(predicate())
            request_id = f"r{order}"
            self.starts(request_id=request_id)
            self.playbook.take()
            named = [f"all#{self.shared.count - 2 + number}" for number in order]
            self.mine.sends(claims(request_id, "all", *named))
            self.playbook.take()
            self.mine.sends(claims(request_id, "later", f"later#{later.count}"))
            ((_, matched),) = self.sent(outbound.RequestMatched)
            self.assertEqual(matched.test_id, "all", order)
            self.mine.sends(abort(request_id))
            self.playbook.take()


class SharedByAllTests(ContextCase):
    """Shared routes of several workers, as a fixture registers them in parallel runs."""

    def begin(self, **settings: Any) -> None:
        super().begin(**settings)
        features = sorted((*OURS, "chain"))
        self.workers = [self.playbook.worker(name, features=features) for name in "234"]
        self.all = [
            self.registered(worker, f"all {worker.id}", shared=True) for worker in self.workers
        ]

    def test_same_answer(self) -> None:
        """The same fixed answer of several workers is one answer."""
        for test in self.all:
            test.route(reply=response(204))
        self.starts(None)
        ((to, replied),) = self.sent(outbound.RequestReplied)
        self.assertEqual((to, replied.test_id), ((self.workers[0].id,), "all worker 2"))

    def test_other_answers(self) -> None:
        """Fixed answers that differ are ambiguous."""
        for status, test in zip((204, 204, 200), self.all, strict=True):
            test.route(reply=response(status))
        self.starts(None)
        self.assertEqual(len(self.sent(outbound.DecisionError)), 1)

    def test_handlers(self) -> None:
        """Of handlers, that of the worker that came first runs."""
        for test in self.all:
            test.route()
        self.starts(None)
        ((to, run),) = self.sent(outbound.HandlerRun)
        self.assertEqual((to, run.test_id), ((self.workers[0].id,), "all worker 2"))

    def test_own_route(self) -> None:
        """A test's own route and another worker's shared one are ambiguous."""
        self.a.route()
        self.all[0].route()
        self.starts(None)
        self.assertEqual(len(self.sent(outbound.DecisionError)), 1)


class LateTests(ContextCase):
    """Traffic that outlives its test."""

    def late(self) -> Sequence[object]:
        """Let the test end, and a request of it come late."""
        self.a.ends()
        self.playbook.expect(self.a.ended())
        self.playbook.wait(LATE_SECONDS - 1)
        self.playbook.take()
        self.starts()
        seen, *effects = self.playbook.take()
        assert isinstance(seen, RequestSeen)
        self.assertEqual(seen.carried, structs.replace(CARRIED_A, late=True))
        return effects

    def test_only_test(self) -> None:
        """For 30 s after the end it is marked as late, and is that of the only running test."""
        self.b.route("**")
        (sent,) = self.late()
        assert isinstance(sent, Send) and isinstance(sent.message, outbound.RequestMatched)
        self.assertEqual((sent.message.test_id, sent.message.context), ("sells", UNSET))

    def test_several_tests(self) -> None:
        """While several tests run it is refused if a route of one matches, and fails none."""
        self.b.route("**")
        self.registered(self.mine, "lends")
        failed, refusal = self.late()
        assert isinstance(failed, RequestFailed)
        self.assertIn('made for the test "buys", which has ended', failed.message)
        assert isinstance(refusal, Send) and isinstance(refusal.message, outbound.DecisionError)
        self.assertEqual(refusal.message.code, "ambiguous_route")

    def test_nobody_wants_it(self) -> None:
        """Without a matching route it passes, whoever runs."""
        self.b.route("http://other.test/")
        self.registered(self.mine, "lends")
        _, sent = self.late()
        assert isinstance(sent, Send)
        self.assertIsInstance(sent.message, outbound.DecisionPassthrough)

    def test_asked(self) -> None:
        """Tests whose routes only the worker can judge are asked before it is refused."""
        self.b.route(predicate())
        self.registered(self.mine, "lends")
        (question,) = self.late()
        assert isinstance(question, Send)
        self.assertIsInstance(question.message, outbound.RequestClaim)
        self.theirs.sends(claims("r1", "sells", "sells#1"))
        ((_, error),) = self.sent(outbound.DecisionError)
        self.assertIn("which has ended", error.message)

    def test_later(self) -> None:
        """After that it counts as without a context."""
        self.b.route("**")
        self.a.ends()
        self.playbook.expect(self.a.ended())
        self.playbook.wait(LATE_SECONDS)
        self.playbook.take()
        self.assertEqual(self.owner(A), "sells")

    def test_forgotten(self) -> None:
        """Nothing is kept of ended tests when their time is over."""
        self.a.ends()
        self.playbook.expect(self.a.ended())
        self.assertEqual(len(self.playbook.coordinator.state.contexts.ended), 1)
        self.playbook.wait(LATE_SECONDS)
        self.playbook.take()
        self.assertEqual(len(self.playbook.coordinator.state.contexts.ended), 0)

    def test_deadline(self) -> None:
        """At its deadline a context is forgotten, whatever fraction of a second that is."""
        for tenths in range(50):
            deadlines = Deadlines()
            contexts, ended_at = Contexts(deadlines), 1000 + tenths / 10
            test: Any = SimpleNamespace(id="t", title="t", file="t.py", allow_late=None)
            contexts.reserve(A, test)
            contexts.release(test, EffectList(Moment(ended_at, 0)))
            deadlines.tick(out := EffectList(Moment(ended_at + LATE_SECONDS, 0)))
            self.assertEqual((out, len(contexts.ended)), ([], 0), tenths)

    def test_bound(self) -> None:
        """Of very many tests that end at once the oldest are forgotten."""
        contexts = self.playbook.coordinator.state.contexts
        for number in range(MOST_ENDED + 10):
            title, context = f"t{number}", f"{number:032x}"
            self.registered(self.mine, title, context)
            self.mine.sends(inbound.TestUnregister(title))
            self.playbook.take()
        self.assertEqual((len(contexts.running), len(contexts.ended)), (2, MOST_ENDED))

    def test_claimed_again(self) -> None:
        """A context that outlives its test may be claimed again, also on a new connection."""
        self.mine.dies()
        self.playbook.take()
        again = self.playbook.worker("3", features=OURS)
        test = self.registered(again, "buys again", A)
        test.route("**")
        self.assertEqual(self.owner(A), "buys again")
        self.assertEqual(len(self.playbook.coordinator.state.contexts.ended), 0)


class ClaimTests(ContextCase):
    """One context, one test."""

    def test_twice(self) -> None:
        """The second test that claims a context is refused, by a text without the id."""
        for worker, test_id in (
            (self.theirs, "thief"),
            (self.mine, "other"),
            (self.theirs, "sells"),
        ):
            worker.sends(inbound.TestRegister(test_id, "t", "f", "1", A))
            refusal = outbound.ProxyError("invalid_message", text("context"), test_id)
            self.playbook.expect(worker.gets(refusal))
        self.assertEqual(set(self.playbook.coordinator.state.registry.tests), {"buys", "sells"})

    def test_time(self) -> None:
        """Workers that name the feature are told when the test began; those of npm are not."""
        for number, features in enumerate((["context"], ["subscribe"], ["chain"], [])):
            worker = self.playbook.worker(f"1{number}", features=features)
            worker.sends(inbound.TestRegister(f"t{number}", "t", "f", "1"))
            ((_, registered),) = self.sent(outbound.TestRegistered)
            expected = self.playbook.now().epoch_ms if number < 2 else UNSET
            self.assertEqual(registered.at, expected, features)

    def test_same_again(self) -> None:
        """A worker may say the same registration twice."""
        self.registered(self.mine, "buys", A)
        self.assertEqual(self.playbook.coordinator.state.contexts.running.keys(), {A, B})

    @example("0" * 32)
    @given(st.text(max_size=70).filter(lambda text: not re.fullmatch("[0-9a-f]{32}", text)))
    def test_form(self, context: str) -> None:
        """Only 32 lower-case hex digits are a context, which are not all 0: no trace id is."""
        fields = '"testId": "t", "title": "t", "file": "f", "workerId": "0"'
        payload = (
            f'{{"type": "test:register", {fields}, "context": {json.dumps(context)}}}'.encode()
        )
        error = self.assertRaises(InvalidMessageError, decode, payload)
        self.assertEqual(error.ids["testId"], "t")

    @given(st.text(max_size=100))
    def test_any_text(self, context: str) -> None:
        """What no test claimed counts as none, whatever it is, and leaves nothing."""
        self.begin()
        self.b.route("**")
        before = self.playbook.tables()
        self.assertEqual(self.owner(context), "sells")
        self.assertEqual(self.playbook.tables(), before)

    def test_ten_thousand(self) -> None:
        """10,000 ids that nobody claimed leave the tables as they were."""
        before = self.playbook.tables()
        for number in range(10_000):
            self.starts(f"{number:032x}")
            self.playbook.take()
            self.agent.sends(report())
            self.playbook.take()
        self.assertEqual(self.playbook.tables(), before)
