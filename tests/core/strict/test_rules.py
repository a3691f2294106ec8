"""Whose request is refused, by whom, and what allows it."""

from msgspec import UNSET, structs

from tests.core.strict.case import URL, A, B, StrictCase, messages
from tests.support.builders import (
    claims,
    claims_socket,
    continue_,
    fall_back,
    fulfill,
    observe,
    predicate,
    redirect,
    report,
    start,
)
from trafficmock.core.effects import Effects
from trafficmock.matching.host_pattern import read_host_pattern
from trafficmock.records import HopSeen, RequestSeen, SocketPassedThrough
from trafficmock.wire import inbound, outbound
from trafficmock.wire.payloads.serialized_request import SerializedOverrides


class StrictTestTests(StrictCase):
    """A test that is strict, and requests with its context."""

    def test_allowed(self) -> None:
        """What a pattern allows passes, and what a route wants is its."""
        self.registers(allow=["auth.example", "**/health"])
        self.routes("**/mocked")
        self.assert_passed(self.asks("https://auth.example/token"))
        self.assert_passed(self.asks("https://any.test/health", request_id="r2"))
        matched = messages(self.asks("https://any.test/mocked", request_id="r3"), self.worker)
        self.assertIsInstance(matched[-1], outbound.HandlerRun)
        self.worker.sends(structs.replace(fulfill("r3"), run_id="1"))
        self.playbook.take()
        self.refused(self.asks("https://any.test/other", request_id="r4"))

    def test_own_hosts(self) -> None:
        """The parts of an application talk to each other; a route for them comes first."""
        self.begin(own_hosts=(read_host_pattern("own.test:8000"),))
        self.registers()
        self.assert_passed(self.asks("http://own.test:8000/"))
        self.assert_passed(self.asks("http://Shop./cart".lower(), request_id="r2"))
        self.refused(self.asks("http://shop.evil.test/", request_id="r3"))
        self.routes("http://shop/**")
        matched = messages(self.asks("http://shop/cart", request_id="r4"), self.worker)
        self.assertIsInstance(matched[-1], outbound.HandlerRun)
        self.worker.sends(fulfill("r4"))
        self.playbook.take()

    def test_unix_sockets(self) -> None:
        """A UNIX socket is nobody's business but a route's that names it."""
        self.registers()
        self.routes("http+unix://%2Frun%2Fd.sock/info")
        self.assert_passed(self.asks("http+unix://%2Frun%2Fd.sock/other"))
        asked = self.asks("http+unix://%2Frun%2Fd.sock/info", request_id="r2")
        self.assertIsInstance(messages(asked, self.worker)[-1], outbound.HandlerRun)
        self.worker.sends(fall_back("r2"))
        self.assertEqual(self.told(self.playbook.take()), [])

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
        self.assertIsInstance(matched[-1], outbound.HandlerRun)
        self.worker.sends(fall_back("r1"))
        effects = self.playbook.take()
        self.assertEqual(self.told(effects)[0].test_id, "buys")

    def test_handlers_decide(self) -> None:
        """A handler that continues has decided; one that gives the request back has not."""
        self.registers()
        self.routes(URL)
        self.asks()
        self.worker.sends(structs.replace(continue_("r1"), run_id="1"))
        self.assertEqual(self.told(self.playbook.take()), [])
        self.asks(request_id="r2")
        self.worker.sends(fall_back("r2", "2"))
        self.refused(self.playbook.take())

    def test_fallen_back(self) -> None:
        """A request whose last handler fell back is judged by where it would go."""
        self.registers(allow=["auth.example"])
        self.routes("**/*")
        for number, (url, refused) in enumerate(
            ((None, True), ("https://auth.example/", False), ("https://elsewhere.test/", True))
        ):
            self.asks(request_id=f"r{number}")
            overrides = None if url is None else SerializedOverrides(url=url)
            self.worker.sends(fall_back(f"r{number}", str(number + 1), overrides))
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
        self.worker.sends(structs.replace(continue_("r1"), run_id="1"))
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
        """What carries no context is refused too while no other test runs."""
        self.registers()
        self.refused(self.asks(context=None))

    def test_other_tests_run(self) -> None:
        """What carries no context may be another test's."""
        self.registers()
        self.registers("sells", context=B, allow=None, worker=self.other)
        self.assert_passed(self.asks(context=None))

    def test_given_back_without_a_context(self) -> None:
        """What a test got by its URL and gives back is its, also beside others."""
        self.registers(context=None)
        self.registers("sells", context=B, allow=None, worker=self.other)
        self.routes(URL)
        self.asks(context=None)
        self.worker.sends(fall_back("r1"))
        self.detail(self.playbook.take())

    def test_always_ask(self) -> None:
        """The same holds where every test is asked."""
        self.begin(ownership="always-ask")
        self.worker = self.playbook.worker("2", features=("context", "strict"))
        self.registers()
        self.routes("http://other.test/")
        self.asks()
        self.worker.sends(claims("r1", "buys"))
        self.refused(self.playbook.take())
