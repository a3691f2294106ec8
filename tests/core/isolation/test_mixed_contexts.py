"""Requests with the context of a test that has no route for them, where one other test has one."""

from typing import Any

from attrs import evolve
from msgspec import structs

from tests.core.ownership.context_case import A, B, ContextCase
from tests.support.builders import glob, open_socket, predicate, request, response
from tests.support.playbook import SETTINGS, Playbook
from trafficmock.core.effects import Send
from trafficmock.core.isolation.mixed_contexts import MOST_TOLD
from trafficmock.core.state.registered import MOST_WAITED_FOR
from trafficmock.records import ContextMixedUp
from trafficmock.wire import inbound, outbound
from trafficmock.wire.agent_filter import Origins
from trafficmock.wire.outbound import MIXED_CONTEXT, REFUSED_CONTEXT, TestWarning
from trafficmock.wire.payloads.request_origin import RequestOrigin
from trafficmock.wire.payloads.serialized_matcher import (
    SerializedCondition,
    SerializedMatcher,
    SerializedRegex,
)
from trafficmock.wire.waits.wait_messages import WaitCancel, WaitRegister

OURS = ("chain", "context", "headers-list", "strict", "subscribe", "warnings")


class MixedContextsTests(ContextCase):
    """The request carries the context of ``buys``."""

    def begin(self, **settings: Any) -> None:
        self.playbook = Playbook(self, evolve(SETTINGS, **settings))
        self.mine = self.playbook.worker("0", features=OURS)
        self.theirs = self.playbook.worker("1", features=OURS)
        self.a = self.registered(self.mine, "buys", A)
        self.b = self.registered(self.theirs, "sells", B)
        self.agent = self.playbook.agent(features=["context", "origins", "stream", "strict"])

    def warned(self) -> dict[str, TestWarning]:
        """Give the warnings that the last event led to, by test."""
        return {each.test_id: each for _, each in self.sent(TestWarning)}

    def test_both_are_told(self) -> None:
        """Both tests, and the history, are told which tests these are; the request passes."""
        self.b.route("**/a")
        self.starts()
        effects = self.playbook.take()
        sent = [each.message for each in effects if isinstance(each, Send)]
        told = [each for each in sent if isinstance(each, TestWarning)]
        self.assertEqual([each.test_id for each in told], ["buys", "sells"])
        (mixed,) = (each for each in effects if isinstance(each, ContextMixedUp))
        self.assertEqual(len(mixed.also_matched), 1)
        self.assertIn('context of the test "buys" (buys.py, worker 0)', mixed.mixed.how)
        self.assertIn('only the test "sells" (sells.py, worker 1) has one', mixed.mixed.how)
        for each in told:
            self.assertEqual(each.code, MIXED_CONTEXT)
            self.assertTrue(each.message.startswith("GET http://"), each.message)
            self.assertIn('of the application "app"', each.message)
            self.assertIn(mixed.mixed.how, each.message)
        self.assertTrue(any(isinstance(each, outbound.DecisionPassthrough) for each in sent))

    def test_strict(self) -> None:
        """A refused request is named as well, before the refusal."""
        self.mine.sends(inbound.TestStrict("buys", []))
        self.playbook.take()
        self.b.route("**")
        self.starts()
        effects = [each for each in self.playbook.take() if isinstance(each, Send)]
        kinds = [type(each.message) for each in effects]
        self.assertLess(kinds.index(TestWarning), kinds.index(outbound.DecisionError))
        codes = [each.message.code for each in effects if isinstance(each.message, TestWarning)]
        # The test of the context has the error of strict mode; the other one may be innocent.
        self.assertEqual(codes, [REFUSED_CONTEXT, REFUSED_CONTEXT])

    def test_once(self) -> None:
        """The same request is told once to each test, and another test that begins is told anew."""
        self.b.route("**")
        self.starts(request_id="r1")
        self.assertEqual(set(self.warned()), {"buys", "sells"})
        self.starts(request_id="r2")
        self.assertEqual(self.warned(), {})
        self.mine.sends(inbound.TestUnregister("buys"))
        self.playbook.take()
        self.registered(self.mine, "buys", A)
        self.starts(request_id="r3")
        self.assertEqual(set(self.warned()), {"buys"})

    def test_bound(self) -> None:
        """A test is told of a limited number of requests."""
        self.b.route("**")
        told = 0
        for number in range(MOST_TOLD + 5):
            self.starts(request_id=f"r{number}", request=request(f"http://a.example/{number}"))
            told += len(self.warned())
        self.assertEqual(told, 2 * MOST_TOLD)

    def test_no_doubt(self) -> None:
        """Nothing is said where the test has a route, several others have one, or none has."""
        self.starts(request_id="r0")
        self.assertEqual(self.warned(), {})
        self.b.route("**")
        route = self.a.route("**")
        self.starts(request_id="r1")
        self.assertEqual(self.warned(), {})
        self.mine.sends(inbound.RouteUnregister(route))
        self.playbook.take()
        third = self.registered(self.theirs, "pays", "e" * 32)
        third.route("**")
        self.starts(request_id="r2")
        self.assertEqual(self.warned(), {})

    def test_used_up(self) -> None:
        """A route whose ``times`` are used up, or that was removed, was for this request."""
        self.b.route("**")
        self.a.route("**/a", times=1, reply=response(200))
        self.starts(request_id="r1")
        self.playbook.take()
        self.starts(request_id="r2")
        self.assertEqual(self.warned(), {})
        other = request("http://a.example/other")
        self.starts(request_id="r3", request=other)
        self.assertEqual(set(self.warned()), {"buys", "sells"})

    def test_removed(self) -> None:
        """So is one that the code of the test, or a shared one of its worker, had before."""
        self.b.route("**")
        shared = self.registered(self.mine, "shared", shared=True)
        conditioned = structs.replace(
            glob("**/a"), conditions=[SerializedCondition("query", ["page"], equals="2")]
        )
        kinds: dict[str, Any] = {
            "glob": "**/a",
            "predicate": predicate(),
            "conditions": conditioned,
        }
        for owner in (self.a, shared):
            for name, matcher in kinds.items():
                route = owner.route(matcher)
                self.mine.sends(inbound.RouteUnregister(route))
                self.playbook.take()
                self.starts(request_id=f"{owner.id} {name}")
                self.assertEqual(self.warned(), {}, name)
                self.playbook.coordinator.state.registry.tests[owner.id].removed.clear()
        self.starts(request_id="last")
        self.assertEqual(set(self.warned()), {"buys", "sells"})

    def test_waited_for(self) -> None:
        """A test that waits for the URL, or has waited for it, knows of the request."""
        self.b.route("**")
        self.waits("w1", glob("**/a"))
        self.starts(request_id="r1")
        self.assertEqual(self.warned(), {})
        # The first request has met the wait.
        self.starts(request_id="r2")
        self.assertEqual(self.warned(), {})
        self.starts(request_id="r3", request=request("http://a.example/other"))
        self.assertEqual(set(self.warned()), {"buys", "sells"})

    def test_kinds_of_waits(self) -> None:
        """What is beside the URL does not count, and a relative URL may be this one."""
        self.b.route("**")
        page = SerializedCondition("query", ["page"], equals="2")
        kinds = {
            "regex": SerializedMatcher(url_regex=SerializedRegex("/a$", "")),
            "with a function": structs.replace(glob("**/a"), predicate=True),
            "with conditions": structs.replace(glob("**/a"), conditions=[page]),
            "relative": glob("/a"),
        }
        for name, matcher in kinds.items():
            self.waits(name, matcher, kind="response")
            self.starts(request_id=name)
            self.assertEqual(self.warned(), {}, name)
            self.mine.sends(WaitCancel(name))
            self.playbook.take()
            self.playbook.coordinator.state.registry.tests["buys"].waited_for.clear()

    def test_waits_that_name_no_url(self) -> None:
        """A wait for any request, with a function or for another URL, says nothing of this one."""
        self.b.route("**")
        self.b.route("**", kind="websocket")
        self.waits("w1", SerializedMatcher())
        self.waits("w2", predicate())
        self.waits("w3", structs.replace(glob("**/a"), methods=["POST"]))
        self.starts()
        self.assertEqual(set(self.warned()), {"buys", "sells"})
        # A wait is for a request, not for a WebSocket.
        self.waits("w4", glob("**"))
        self.agent.sends(structs.replace(open_socket(), context=A))
        self.assertEqual(set(self.warned()), {"buys", "sells"})

    def test_wait_of_the_other_test(self) -> None:
        """It says nothing of what the test of the context knows."""
        self.b.route("**")
        self.theirs.sends(WaitRegister("w1", "sells", "request", glob("**/a")))
        self.playbook.take()
        self.starts()
        self.assertEqual(set(self.warned()), {"buys", "sells"})

    def test_many_waits(self) -> None:
        """The matchers of the latest waits are kept, each once."""
        for number in range(MOST_WAITED_FOR + 3):
            self.waits(f"w{number}", glob(f"**/{number // 2}"))
            self.mine.sends(WaitCancel(f"w{number}"))
            self.playbook.take()
        kept = self.playbook.coordinator.state.registry.tests["buys"].waited_for
        self.assertEqual(len(kept), MOST_WAITED_FOR // 2 + 2)

    def waits(self, wait_id: str, matcher: SerializedMatcher, kind: Any = "request") -> None:
        """Let the test of the context begin a wait."""
        self.mine.sends(WaitRegister(wait_id, "buys", kind, matcher))
        self.playbook.take()

    def test_shared_routes_of_another_worker(self) -> None:
        """Each worker has them, so they say nothing about whose the request is."""
        shared = self.registered(self.theirs, "shared", shared=True)
        shared.route("**")
        self.starts()
        self.assertEqual(self.warned(), {})

    def test_late_and_none(self) -> None:
        """The request of an ended test, and one without a context, are told of elsewhere."""
        self.b.route("**")
        self.mine.sends(inbound.TestUnregister("buys"))
        self.playbook.take()
        self.starts(request_id="r1")
        self.assertEqual(self.warned(), {})
        self.starts(None, request_id="r2")
        self.assertEqual(self.warned(), {})

    def test_predicate_of_its_own(self) -> None:
        """A test whose predicate says no has no route for the request, once it has said so."""
        self.a.route(predicate())
        self.b.route("**")
        self.starts()
        ((_, claim),) = self.sent(outbound.RequestClaim)
        self.mine.sends(inbound.RequestClaimResult(claim.request_id, "buys", []))
        self.assertEqual(set(self.warned()), {"buys", "sells"})

    def test_socket(self) -> None:
        """A WebSocket is told of as well."""
        self.b.route("**", kind="websocket")
        self.agent.sends(structs.replace(open_socket(), context=A))
        told = self.warned()
        self.assertEqual(set(told), {"buys", "sells"})
        self.assertTrue(told["sells"].message.startswith("the WebSocket ws"))

    def test_workers_without_the_feature(self) -> None:
        """A worker that does not know warnings gets none."""
        older = self.playbook.worker("5", features=OURS[:-1])
        test = self.registered(older, "old", "f" * 32)
        test.route("**")
        self.starts()
        self.assertEqual(set(self.warned()), {"buys"})

    def test_origins(self) -> None:
        """From then on, the process also says where requests with a context come from."""
        self.b.route("**")
        self.starts(request_id="r1")
        asked = [(to, each) for to, each in self.sent(Origins)]
        self.assertEqual(asked, [((self.agent.id,), Origins(wanted=True, of_all=True))])
        origin = RequestOrigin(kind="timer", library="fetch", place="jobs.js:12 in send")
        self.starts(request_id="r2", origin=origin)
        effects = self.playbook.take()
        (mixed,) = (each for each in effects if isinstance(each, ContextMixedUp))
        self.assertIn("from a timer, by fetch at jobs.js:12 in send", mixed.mixed.how)
        self.starts(request_id="r3")
        self.assertEqual(self.sent(Origins), [])
