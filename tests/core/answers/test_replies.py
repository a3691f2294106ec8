"""Fixed answers: given at once, or behind a claim, as often as allowed."""

from attrs import evolve
from msgspec import structs

from tests.core.answers.reply_case import ANSWER, FEATURES, ReplyCase
from tests.support.builders import (
    URL,
    claims,
    glob,
    options,
    predicate,
    request,
    start,
)
from tests.support.playbook import SETTINGS, Playbook, to
from trafficmock import records
from trafficmock.core.effects import Send
from trafficmock.wire import inbound, outbound
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.answer import Fulfill

CONTEXT = "a" * 32


class AtOnceTests(ReplyCase):
    """Nobody is asked, and no handler runs."""

    def test_given(self) -> None:
        """A request is answered in the event that announces it, and its test is told."""
        self.test.route(reply=ANSWER)
        for request_id in ("r1", "r2"):
            effects = self.asks(request_id)
            self.assertEqual(effects, self.replied(request_id=request_id))
        self.assertEqual(self.playbook.coordinator.state.pending, {})

    def test_silent_worker(self) -> None:
        """A worker that does not answer, as at a breakpoint, changes nothing."""
        self.test.route(reply=ANSWER)
        self.playbook.muted = {self.worker.id}
        self.playbook.wait(SETTINGS.idle_timeout - 1)
        self.playbook.take()
        self.assertEqual(self.asks(), self.replied())

    def test_observers(self) -> None:
        """Who observes gets the request and the response, as of a handler that fulfils."""
        other = self.playbook.worker("1")
        other.test("sells")
        self.test.route(reply=ANSWER)
        observed = outbound.RequestObserved("r1", request(), "app")
        answer = structs.replace(ANSWER, url=URL)
        reported = inbound.RequestResponse("r1", ok=True, response=answer)
        to_other = Send(to(other), observed)
        self.assertEqual(self.asks(), [to_other, *self.replied(), Send(to(other), reported)])

    def test_newest_first(self) -> None:
        """The newest route that matches decides whether a handler runs."""
        self.test.route(reply=ANSWER)
        self.test.route("http://other.test/")
        newest = self.test.route()
        self.assertEqual(self.asks(), [self.runs(newest)])
        self.fulfills()
        self.worker.sends(inbound.RouteUnregister(newest))
        self.playbook.take()
        self.assertEqual(self.asks("r2"), self.replied(request_id="r2"))

    def test_newer_undecided(self) -> None:
        """A newer route that only the worker can judge is asked first; an older one is not."""
        self.test.route(predicate())
        self.test.route(reply=ANSWER)
        self.assertEqual(self.asks(), self.replied("buys#2"))
        for wanted in (predicate(), glob("/relative")):
            newer = self.test.route(wanted)
            asked = outbound.RequestClaim(
                "r2", request(), "app", test_id="buys", route_ids=[newer, "buys#1"]
            )
            (sent,) = self.asks("r2")
            assert isinstance(sent, Send) and isinstance(sent.message, outbound.RequestClaim)
            self.assertEqual({*(sent.message.route_ids or ())}, {*(asked.route_ids or ())})
            self.worker.sends(claims("r2", "buys"))
            self.playbook.expect(*self.replied("buys#2", "r2"))
            self.worker.sends(inbound.RouteUnregister(newer))
            self.playbook.take()

    def test_matchers(self) -> None:
        """Method and client id count as for every route; what is not matched passes."""
        for matcher in (
            structs.replace(glob("**"), methods=["PUT"]),
            structs.replace(glob("**"), client_ids=["other"]),
        ):
            self.test.route(matcher, reply=ANSWER)
        self.assertEqual(
            self.asks(),
            [
                records.RequestPassedThrough("r1"),
                self.agent.gets(outbound.DecisionPassthrough("r1")),
            ],
        )

    def test_ambiguous(self) -> None:
        """Two tests that want it are an error, whatever they would answer."""
        rival = self.playbook.worker("1", features=FEATURES).test("sells")
        self.test.route(reply=ANSWER)
        rival.route(reply=ANSWER)
        failed, *_ = self.asks()
        assert isinstance(failed, records.RequestFailed)
        self.assertEqual(failed.code, "ambiguous_route")

    def test_own_context(self) -> None:
        """The test whose context a request carries gives its own reply, or a shared one."""
        shared = self.worker.test("shared", shared=True)
        shared.route(reply=ANSWER)
        mine = self.worker.test("sells", CONTEXT)
        carrying = structs.replace(start(), context=CONTEXT)
        for owner in (shared, mine):
            if owner is mine:
                mine.route(reply=ANSWER)
            self.agent.sends(carrying)
            _, told, recorded, _ = self.playbook.take()
            assert isinstance(told, Send) and isinstance(told.message, outbound.RequestReplied)
            self.assertEqual((told.message.test_id, told.message.context), (owner.id, "own"))
            assert isinstance(recorded, records.RequestFulfilled)
            self.assertEqual(recorded.owner.test_id, owner.id)

    def test_own_predicate_before_shared(self) -> None:
        """A shared reply waits for the answer of the test whose context the request carries."""
        self.worker.test("shared", shared=True).route(reply=ANSWER)
        self.worker.test("sells", CONTEXT).route(predicate())
        self.agent.sends(structs.replace(start(), context=CONTEXT))
        _, asked = self.playbook.take()
        assert isinstance(asked, Send)
        self.assertIsInstance(asked.message, outbound.RequestClaim)
        self.worker.sends(claims("r1", "shared", "shared#1"))
        self.playbook.expect()
        self.worker.sends(claims("r1", "sells"))
        self.assertIsInstance(self.playbook.take()[1], records.RequestFulfilled)

    def test_without_the_feature(self) -> None:
        """From a worker that runs its handlers by itself, a reply is ignored."""
        other = self.playbook.worker("1", features=("warnings",)).test("sells")
        other.route("http://h.test/**", reply=ANSWER, times=1)
        self.assertEqual(self.playbook.coordinator.state.registry.reply_bytes, 0)
        self.agent.sends(start())
        *_, matched, _ = [*self.playbook.take(), None]
        assert isinstance(matched, Send)
        self.assertIsInstance(matched.message, outbound.RequestMatched)


class AskedTests(ReplyCase):
    """A round of questions comes first."""

    def test_always_ask(self) -> None:
        """It is given at once also where tests are asked about every request."""
        self.playbook = Playbook(self, evolve(SETTINGS, ownership="always-ask"))
        self.agent = self.playbook.agent()
        self.worker = self.playbook.worker("0", features=FEATURES)
        self.test = self.worker.test("buys")
        self.test.route(reply=ANSWER)
        self.assertEqual(self.asks(), self.replied())

    def test_another_undecided(self) -> None:
        """Another test is asked, and declines; the reply of the certain one is given."""
        other = self.playbook.worker("1", features=FEATURES)
        other.test("sells").route(predicate())
        self.test.route(reply=ANSWER)
        (asked,) = self.asks()
        claim = outbound.RequestClaim(
            "r1", request(), "app", test_id="sells", route_ids=["sells#1"]
        )
        self.assertEqual(asked, other.gets(claim))
        other.sends(claims("r1", "sells"))
        self.playbook.expect(*self.replied())

    def test_route_added_meanwhile(self) -> None:
        """A route that the test registered during the round is too late for the request."""
        other = self.playbook.worker("1", features=FEATURES)
        other.test("sells").route(predicate())
        self.test.route(reply=ANSWER)
        self.asks()
        self.test.route()
        other.sends(claims("r1", "sells"))
        self.playbook.expect(*self.replied())


class TimesTests(ReplyCase):
    """How often a reply is given is counted here alone."""

    def test_exact(self) -> None:
        """After the last one the route is gone, and its worker is told."""
        self.test.route(reply=ANSWER, times=2)
        self.assertEqual(self.asks(), self.replied())
        told, *answered = self.replied(request_id="r2")
        self.assertEqual(self.asks("r2"), [told, self.expired(), *answered])
        passed = self.asks("r3")
        self.assertEqual(passed[0], records.RequestPassedThrough("r3"))
        self.assertEqual(self.playbook.coordinator.state.registry.routes, {})


class StrictReplyTests(ReplyCase):
    """A reply that is used up, in a strict test."""

    def test_used_up_while_a_body_is_awaited(self) -> None:
        """Of two uploads the one for which no reply is left does not go upstream."""
        self.worker.sends(inbound.TestStrict("buys", []))
        self.playbook.take()
        route = inbound.RouteRegister(
            "buys#1", "buys", glob(URL), options=options(Fulfill(ANSWER)), times=1
        )
        self.worker.sends(route)
        self.playbook.take()
        for request_id in ("r1", "r2"):
            asked = structs.replace(start(request_id), body_pending=True)
            self.agent.sends(asked)
            self.playbook.take()
        self.agent.sends(inbound.RequestBody("r1", body.from_bytes(b"one")))
        self.playbook.take()
        self.agent.sends(inbound.RequestBody("r2", body.from_bytes(b"two")))
        (failed,) = [
            each for each in self.playbook.take() if isinstance(each, records.RequestFailed)
        ]
        self.assertEqual((failed.request_id, failed.code), ("r2", "unmatched_request"))
