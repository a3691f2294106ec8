"""Whose request is refused, by whom, and what allows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import UNSET, structs

from tests.core.strict.case import URL, A, B, StrictCase, messages
from tests.support.builders import (
    claims,
    claims_socket,
    continue_,
    decline,
    fulfill,
    observe,
    predicate,
    redirect,
    report,
    start,
)
from trafficmock.core.ownership.refusals import MOST_TOLD
from trafficmock.matching.allow_list import read_allow_list
from trafficmock.records import HopSeen, RequestSeen, SocketPassedThrough
from trafficmock.wire import inbound, outbound
from trafficmock.wire.payloads import handler_action
from trafficmock.wire.payloads.serialized_request import SerializedOverrides

if TYPE_CHECKING:
    from trafficmock.core.effects import Effects

NOTHING = read_allow_list([])


class StrictTestTests(StrictCase):
    """A test that is strict, and requests with its context."""

    def test_allowed(self) -> None:
        """What a pattern allows passes, and what a route wants is its."""
        self.registers(allow=["auth.example", "**/health"])
        self.routes("**/mocked")
        self.assert_passed(self.asks("https://auth.example/token"))
        self.assert_passed(self.asks("https://any.test/health", request_id="r2"))
        matched = messages(self.asks("https://any.test/mocked", request_id="r3"), self.worker)
        self.assertIsInstance(matched[-1], outbound.RequestMatched)
        self.worker.sends(fulfill("r3"))
        self.playbook.take()
        self.refused(self.asks("https://any.test/other", request_id="r4"))

    def test_own_hosts(self) -> None:
        """The parts of an application talk to each other; a route for them comes first."""
        self.begin(is_own_host=lambda host, port: (host, port) in {("::1", 8000), ("shop", 80)})
        self.registers()
        self.assert_passed(self.asks("http://[::1]:8000/"))
        self.assert_passed(self.asks("http://Shop./cart".lower(), request_id="r2"))
        self.refused(self.asks("http://shop.evil.test/", request_id="r3"))
        self.routes("http://shop/**")
        matched = messages(self.asks("http://shop/cart", request_id="r4"), self.worker)
        self.assertIsInstance(matched[-1], outbound.RequestMatched)
        self.worker.sends(fulfill("r4"))
        self.playbook.take()

    def test_not_strict(self) -> None:
        """Without strict mode nothing is refused."""
        self.registers(allow=None)
        self.assert_passed(self.asks())

    def test_others(self) -> None:
        """Requests of another test and of nobody are not touched."""
        self.registers()
        self.registers("sells", context=B, allow=None, worker=self.other)
        self.assert_passed(self.asks(context=B))
        self.assert_passed(self.asks(context=None, request_id="r2"))

    def test_shared_routes(self) -> None:
        """Routes that the worker's tests share want requests of a strict test, too."""
        self.registers()
        self.registers("all", context=None, allow=None, shared=True)
        self.routes(URL, test_id="all")
        matched = messages(self.asks(), self.worker)
        self.assertIsInstance(matched[-1], outbound.RequestMatched)
        self.worker.sends(decline("r1"))
        effects = self.playbook.take()
        self.assertEqual(self.told(effects)[0].test_id, "buys")

    def test_handlers_decide(self) -> None:
        """A handler that continues has decided; one that gives the request back has not."""
        self.registers()
        self.routes(URL)
        self.asks()
        self.worker.sends(continue_("r1"))
        self.assertEqual(self.told(self.playbook.take()), [])
        self.asks(request_id="r2")
        self.worker.sends(decline("r2"))
        self.refused(self.playbook.take())

    def test_fallen_back(self) -> None:
        """A request whose last handler fell back is judged by where it would go."""
        self.registers(allow=["auth.example"])
        self.routes("**/*")
        for number, (url, refused) in enumerate(
            ((None, True), ("https://auth.example/", False), ("https://elsewhere.test/", True))
        ):
            self.asks(request_id=f"r{number}")
            overrides = UNSET if url is None else SerializedOverrides(url=url)
            action = handler_action.Continue(overrides, unhandled=True)
            self.worker.sends(inbound.HandlerResult(f"r{number}", action))
            effects = self.playbook.take()
            self.assertEqual(len(self.told(effects)), refused, url)
            if refused:
                self.assertIn("its handler gave the request back", self.refused(effects))

    def test_nobody_claims(self) -> None:
        """A round in which the test does not want it ends in a refusal."""
        self.registers()
        self.routes(predicate())
        self.asks()
        self.worker.sends(claims("r1", "buys"))
        self.refused(self.playbook.take())

    def test_route_that_went(self) -> None:
        """After its last call a ``times`` route is gone, and the next request is refused."""
        self.registers()
        self.routes(URL)
        self.asks()
        self.worker.sends(fulfill("r1"))
        self.playbook.take()
        self.worker.sends(inbound.RouteUnregister("q1"))
        self.playbook.take()
        self.refused(self.asks(request_id="r2"))

    def hop(self, url: str, prior: str = "r1", *, decide: bool = True) -> Effects:
        """Let the agent ask whether it may follow a redirect, or tell that it does."""
        message = observe("r2", prior, url)
        self.agent.sends(structs.replace(message, client_id="shop", decide=decide or UNSET))
        return self.playbook.take()

    def test_hops(self) -> None:
        """A hop that the agent follows is asked about, and judged by what is allowed."""
        self.registers(allow=["auth.example"])
        (decision,) = messages(self.asks("https://auth.example/"), self.agent)
        self.assertEqual(decision, outbound.DecisionPassthrough("r1", judge_hops=True))
        self.agent.sends(report("r1", redirect("https://elsewhere.test/")))
        self.playbook.take()
        effects = self.hop("https://elsewhere.test/")
        self.detail(effects)
        (seen,) = [each for each in effects if isinstance(each, RequestSeen)]
        self.assertEqual(seen.redirected_from, "r1")
        self.assertEqual(self.playbook.tables().get(".decisions.pending"), None)

    def test_hop_with_an_id_in_use(self) -> None:
        """The agent waits, so it is told."""
        self.registers(allow=["auth.example"])
        self.asks("https://auth.example/")
        message = structs.replace(observe("r1", None, URL), decide=True)
        self.agent.sends(message)
        (decision,) = messages(self.playbook.take(), self.agent)
        assert isinstance(decision, outbound.DecisionError)
        self.assertEqual((decision.request_id, decision.code), ("r1", "internal"))

    def test_invalid_hop(self) -> None:
        """An agent that may wait for a decision is told that the question was not valid."""
        self.agent.sends_text('{"type":"request:observe","requestId":"r2"}')
        decision, error = messages(self.playbook.take(), self.agent)
        assert isinstance(decision, outbound.DecisionError)
        assert isinstance(error, outbound.ProxyError)
        self.assertEqual((decision.request_id, decision.code), ("r2", "internal"))

    def test_allowed_hop(self) -> None:
        """An allowed hop goes on with its chain, and so will the next."""
        self.registers(allow=["auth.example"])
        self.asks("https://auth.example/")
        self.agent.sends(report("r1", redirect("https://auth.example/b")))
        self.playbook.take()
        effects = self.hop("https://auth.example/b")
        (decision,) = messages(effects, self.agent)
        self.assertEqual(decision, outbound.DecisionPassthrough("r2", judge_hops=True))
        self.assertTrue(any(isinstance(each, HopSeen) for each in effects))

    def test_hop_of_a_continued_request(self) -> None:
        """It belongs to the test that continued the first, also without a context."""
        self.registers(context=None)
        self.registers("sells", context=B, allow=None, worker=self.other)
        self.routes(URL)
        self.asks(context=None)
        self.worker.sends(continue_("r1"))
        (decision,) = messages(self.playbook.take(), self.agent)
        self.assertEqual(decision, outbound.DecisionContinue("r1", judge_hops=True))
        self.agent.sends(report("r1", redirect("https://elsewhere.test/")))
        self.playbook.take()
        self.detail(self.hop("https://elsewhere.test/"))

    def test_hop_that_is_not_judged(self) -> None:
        """Without strict mode the agent does not ask, and whoever does is let go on."""
        self.registers(allow=None)
        (decision,) = messages(self.asks(), self.agent)
        self.assertEqual(decision, outbound.DecisionPassthrough("r1"))
        self.agent.sends(report("r1", redirect("https://elsewhere.test/")))
        self.playbook.take()
        (decision,) = messages(self.hop("https://elsewhere.test/"), self.agent)
        self.assertEqual(decision, outbound.DecisionPassthrough("r2", judge_hops=True))

    def test_redirects(self) -> None:
        """A hop that the application follows is judged by itself."""
        self.registers(allow=["auth.example"])
        self.assert_passed(self.asks("https://auth.example/"))
        message = start("r2", "https://elsewhere.test/", "shop")
        self.agent.sends(
            structs.replace(message, context=A, redirected_from_request_id="r1"),
        )
        self.refused(self.playbook.take())

    def test_websocket_without_a_handler(self) -> None:
        """One whose worker has no handler for it any more is not opened, unless it is allowed."""
        for url, unhandled, is_refused in (
            ("wss://feed.test/", True, True),
            ("wss://allowed.test/", True, False),
            ("wss://feed.test/", UNSET, False),
        ):
            self.begin()
            self.registers(allow=["allowed.test"])
            self.routes("wss://*/", kind="websocket")
            self.opens(url)
            self.worker.sends(claims_socket("s1", "buys", "q1"))
            self.playbook.take()
            self.worker.sends(inbound.SocketConnect("s1", unhandled))
            effects = self.playbook.take()
            if is_refused:
                self.assertIn(f"{url} is not mocked", self.refused(effects))
                self.assertEqual(len(self.told(effects)), 1)
            else:
                opened = messages(effects, self.agent)
                self.assertEqual(opened, [inbound.SocketConnect("s1")])

    def test_websockets(self) -> None:
        """WebSockets are judged in the same way."""
        self.registers(allow=["wss://auth.example/**"])
        passed = self.opens("wss://auth.example/a")
        self.assertIsInstance(passed[-2], SocketPassedThrough)
        self.refused(self.opens("ws://auth.example/a"))
        self.routes(predicate(), kind="websocket")
        self.opens("wss://api.test/a")
        self.worker.sends(claims_socket("s1", "buys"))
        self.refused(self.playbook.take())

    def test_only_test(self) -> None:
        """Without a context, everything without one belongs to the only test."""
        self.registers(context=None)
        self.registers("all", context=None, allow=None, shared=True)
        self.detail(self.asks(context=None))
        self.registers("sells", context=B, allow=None, worker=self.other)
        self.assert_passed(self.asks(context=None, request_id="r2"))

    def test_only_test_has_a_context(self) -> None:
        """A test with a context is not failed by what does not carry it."""
        self.registers()
        self.assert_passed(self.asks(context=None))

    def test_given_back_without_a_context(self) -> None:
        """What a test got by its URL and gives back is its, also beside others."""
        self.registers(context=None)
        self.registers("sells", context=B, allow=None, worker=self.other)
        self.routes(URL)
        self.asks(context=None)
        self.worker.sends(decline("r1"))
        self.detail(self.playbook.take())

    def test_always_ask(self) -> None:
        """The same holds where every test is asked."""
        self.begin(ownership="always-ask")
        self.registers()
        self.routes("http://other.test/")
        self.asks()
        self.worker.sends(claims("r1", "buys"))
        self.refused(self.playbook.take())


class ChangeTests(StrictCase):
    """Strict mode that begins, changes and ends within a test."""

    def strict(self, test_id: str, *allow: str) -> None:
        self.worker.sends(inbound.TestStrict(test_id, list(allow)))

    def test_begins_and_ends(self) -> None:
        """Each message replaces the patterns; without any the test is not strict."""
        self.registers(allow=None)
        stricted = self.worker.gets(outbound.TestStricted("buys"))
        self.strict("buys")
        self.playbook.expect(stricted)
        self.refused(self.asks())
        self.strict("buys", "api.test")
        self.playbook.expect(stricted)
        self.assert_passed(self.asks(request_id="r2"))
        self.strict("buys", "other.test")
        self.playbook.expect(stricted)
        self.refused(self.asks(request_id="r3"))
        self.worker.sends(inbound.TestStrict("buys"))
        self.playbook.expect(stricted)
        self.assert_passed(self.asks(request_id="r4"))

    def test_bad_patterns(self) -> None:
        """A pattern that cannot be read changes nothing, and says why."""
        self.registers(allow=["api.test"])
        self.strict("buys", "a b")
        self.assertIn("'a b' is no host", self.told(self.playbook.take())[0].message)
        self.assert_passed(self.asks())

    def test_bad_registration(self) -> None:
        """A test with such a pattern is not registered."""
        strict = inbound.Strict(["::1::"])
        self.worker.sends(inbound.TestRegister("buys", "t", "f", "0", A, strict=strict))
        (error,) = self.told(self.playbook.take())
        self.assertEqual((error.code, error.test_id), ("invalid_message", "buys"))
        self.assertIn("with a port [::1]:8080", error.message)
        self.registers()

    def test_foreign(self) -> None:
        """A test is made strict by its own worker, once it is registered."""
        self.registers("sells", context=B, allow=None, worker=self.other)
        for test_id in ("sells", "unknown"):
            self.strict(test_id)
            (error,) = self.told(self.playbook.take())
            self.assertEqual((error.code, error.test_id), ("invalid_message", test_id))
        self.assert_passed(self.asks(context=B))

    def test_gone_with_the_test(self) -> None:
        """Nothing stays of it when the test or its worker is gone."""
        self.registers()
        self.worker.sends(inbound.TestUnregister("buys"))
        self.playbook.take()
        self.registers("sells", context=B, worker=self.other)
        self.other.dies()
        self.playbook.take()
        self.assertFalse([key for key in self.playbook.tables() if "strict" in key])


class FeatureTests(StrictCase):
    """Clients without the feature see nothing of it."""

    def test_agent(self) -> None:
        """An agent without the feature hears of an internal error with the same text."""
        self.registers()
        old = self.playbook.agent("old", features=["context"])
        effects = self.asks(agent=old)
        (decision,) = messages(effects, old)
        assert isinstance(decision, outbound.DecisionError)
        self.assertEqual(decision.code, "internal")
        self.assertEqual(decision.message, self.told(effects)[0].message)

    def test_worker(self) -> None:
        """A worker without the feature is not strict, and its messages are dropped."""
        old = self.playbook.worker("2", features=["context", "subscribe"])
        self.registers("old", context=B, worker=old)
        for message in (
            inbound.TestStrict("old", []),
            inbound.RunStrict("q1", []),
            inbound.UnmatchedQuery("q2"),
        ):
            old.sends(message)
            self.playbook.expect()
        self.assert_passed(self.asks(context=B))
        self.assert_passed(self.asks(context=None, request_id="r2"))

    def test_worker_under_a_strict_service(self) -> None:
        """Its test cannot be told, so the request is on the list of the run."""
        self.begin(strict=NOTHING)
        old = self.playbook.worker("2", features=["context", "subscribe"])
        self.registers("old", context=B, allow=None, worker=old)
        effects = self.asks(context=B)
        self.assertEqual(self.told(effects, old), [])
        self.refused(effects)
        self.worker.sends(inbound.UnmatchedQuery("q"))
        (answer,) = messages(self.playbook.take(), self.worker)
        assert isinstance(answer, outbound.Unmatched)
        self.assertEqual([row.url for row in answer.requests], [URL])


class LimitTests(StrictCase):
    """An application that asks in a loop."""

    def test_most_told(self) -> None:
        """The worker hears of so many refusals, and which is the last; all are refused."""
        self.registers()
        self.routes("**/v1/charge")
        told = []
        for number in range(MOST_TOLD + 2):
            effects = self.asks(request_id=f"r{number}")
            self.refused(effects)
            told += self.told(effects)
        self.assertEqual(len(told), MOST_TOLD)
        last = [error.detail.last for error in told]
        self.assertEqual(set(last[:-1]), {UNSET})
        self.assertTrue(last[-1])

    def test_observers(self) -> None:
        """Observers hear how it ended, and the history knows the test."""
        self.registers()
        self.worker.sends(inbound.TestSubscribe("buys"))
        self.playbook.take()
        effects = self.asks()
        (seen,) = [each for each in effects if isinstance(each, RequestSeen)]
        assert seen.made_for is not None
        self.assertEqual(seen.made_for.test_id, "buys")
        ends = [m for m in messages(effects, self.worker) if isinstance(m, inbound.RequestResponse)]
        assert ends[0].error is not UNSET
        self.assertEqual(ends[0].error.code, "unmatched_request")
