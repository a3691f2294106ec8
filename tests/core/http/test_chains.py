"""Chains: the coordinator runs the handlers of a request's owner, one after the other."""

from typing import Any

from msgspec import UNSET, UnsetType, structs
from twisted.trial.unittest import SynchronousTestCase

from tests.support.builders import URL, claims, glob, predicate, request, response, start, text
from tests.support.playbook import Playbook
from trafficmock import records
from trafficmock.core.effects import Effects, Send
from trafficmock.wire import inbound, outbound
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.answer import (
    Abort,
    Continue,
    Fallback,
    Fetch,
    Fulfill,
)
from trafficmock.wire.payloads.serialized_matcher import PlacedValues, SerializedCondition
from trafficmock.wire.payloads.serialized_request import SerializedOverrides

FEATURES = ("chain", "context", "headers-list", "strict", "subscribe")
CONTEXT = "a" * 32
OTHER = "http://h.test/other"


class ChainCase(SynchronousTestCase):
    """An agent, and a worker whose test has handlers."""

    def setUp(self) -> None:
        self.playbook = Playbook(self)
        self.agent = self.playbook.agent(features=("context", "headers-list", "stream"))
        self.worker = self.playbook.worker("0", features=FEATURES)
        self.test = self.worker.test("buys")

    def run_of(
        self, route_id: str, run_id: str, asked: Any = None, *, test_id: str = "buys"
    ) -> Send:
        """Write the message that has a handler run."""
        return self.worker.gets(
            outbound.HandlerRun("r1", asked or request(), "app", run_id, route_id, test_id)
        )

    def asks(self, url: str = URL) -> Effects:
        """Let the application ask; give what follows the record of it."""
        self.agent.sends(start("r1", url))
        seen, *effects = self.playbook.take()
        self.assertIsInstance(seen, records.RequestSeen)
        return effects

    def does(self, action: Any, run_id: str | UnsetType = "1") -> Effects:
        """Let a run end with an action."""
        self.worker.sends(inbound.HandlerResult("r1", action, run_id))
        return self.playbook.take()

    def falls_back(self, run_id: str = "1", **changes: Any) -> Effects:
        return self.does(Fallback(SerializedOverrides(**changes) if changes else UNSET), run_id)

    def sent(self, effects: Effects, kind: type) -> Any:
        """Give the one message of a kind."""
        (found,) = (e.message for e in effects if isinstance(e, Send) and type(e.message) is kind)
        return found


class OrderTests(ChainCase):
    """Which handler runs, and when."""

    def test_newest_first(self) -> None:
        """The newest route runs first, each fallback runs the next one, and the last goes on."""
        self.test.route()
        self.test.route(OTHER)
        self.test.route()
        self.assertEqual(self.asks(), [self.run_of("buys#3", "1")])
        self.assertEqual(self.falls_back(), [self.run_of("buys#1", "2")])
        effects = self.falls_back("2")
        recorded = effects[0]
        assert isinstance(recorded, records.RequestContinued)
        self.assertEqual((recorded.owner.route_id, recorded.overrides), ("buys#1", None))
        self.assertEqual(self.sent(effects, outbound.DecisionContinue).overrides, UNSET)

    def test_decided(self) -> None:
        """The route whose handler decided is the owner in the history."""
        self.test.route()
        self.test.route()
        self.asks()
        self.falls_back()
        recorded, decided = self.does(Fulfill(response()), "2")
        assert isinstance(recorded, records.RequestFulfilled)
        self.assertEqual(recorded.owner.route_id, "buys#1")
        self.assertEqual(decided, self.agent.gets(outbound.DecisionFulfill("r1", response())))

    def test_newest_decided(self) -> None:
        """The newest route is the owner if its handler decided, whatever else matches."""
        self.test.route()
        self.test.route("**/a")
        self.asks()
        recorded, _ = self.does(Fulfill(response()))
        assert isinstance(recorded, records.RequestFulfilled)
        assert recorded.owner.route is not None
        self.assertEqual(
            (recorded.owner.route_id, recorded.owner.route.matcher), ("buys#2", glob("**/a"))
        )

    def test_times(self) -> None:
        """A run counts when it begins; with the last one the route is removed."""
        self.test.route()
        route_id = self.test.route(times=1)
        expired = self.worker.gets(outbound.RouteExpired(route_id))
        self.assertEqual(self.asks(), [self.run_of(route_id, "1"), expired])
        self.agent.sends(start("r2"))
        run = self.sent(self.playbook.take(), outbound.HandlerRun)
        self.assertEqual((run.request_id, run.route_id), ("r2", "buys#1"))

    def test_replies(self) -> None:
        """A handler may fall back to a fixed answer, which is counted alike."""
        fixed = response(203)
        self.test.route(reply=fixed, times=1)
        self.test.route()
        self.asks()
        effects = self.falls_back()
        replied = self.sent(effects, outbound.RequestReplied)
        self.assertEqual((replied.route_id, replied.test_id), ("buys#1", "buys"))
        self.assertEqual(self.sent(effects, outbound.RouteExpired).route_id, "buys#1")
        answer = self.sent(effects, outbound.DecisionFulfill).response
        self.assertEqual((answer.status, answer.url), (203, URL))

    def test_removed(self) -> None:
        """A route that was removed meanwhile is skipped, and one that is added does not count."""
        for _ in range(3):
            self.test.route()
        self.asks()
        self.worker.sends(inbound.RouteUnregister("buys#2"))
        self.playbook.take()
        self.test.route()
        self.assertEqual(self.falls_back(), [self.run_of("buys#1", "2")])

    def test_shared(self) -> None:
        """Shared routes of the worker come last, for requests of the test as well."""
        shared = self.worker.test("shared", shared=True)
        self.test.route()
        shared.route()
        self.test.route()
        self.assertEqual(self.asks(), [self.run_of("buys#2", "1")])
        self.assertEqual(self.falls_back(), [self.run_of("buys#1", "2")])
        self.assertEqual(self.falls_back("2"), [self.run_of("shared#1", "3")])

    def test_nothing_left(self) -> None:
        """If all routes are gone before the first run, nobody has wanted the request."""
        self.test.route()
        head = structs.replace(start(), body_pending=True)
        self.agent.sends(head)
        self.playbook.take()
        self.worker.sends(inbound.RouteUnregister("buys#1"))
        self.playbook.take()
        self.agent.sends(inbound.RequestBody("r1", body.from_bytes(b"x")))
        self.sent(self.playbook.take(), outbound.DecisionPassthrough)

    def test_body(self) -> None:
        """A handler gets the whole body."""
        self.test.route()
        self.agent.sends(structs.replace(start(), body_pending=True))
        self.sent(self.playbook.take(), outbound.NeedBody)
        self.agent.sends(inbound.RequestBody("r1", body.from_bytes(b"x")))
        run = self.sent(self.playbook.take(), outbound.HandlerRun)
        self.assertEqual(body.to_bytes(run.request.body_base64), b"x")

    def test_context(self) -> None:
        """The run says that the request carries the test's context."""
        mine = self.worker.test("sells", CONTEXT)
        mine.route()
        self.agent.sends(structs.replace(start(), context=CONTEXT))
        self.assertEqual(self.sent(self.playbook.take(), outbound.HandlerRun).context, "own")


class PredicateTests(ChainCase):
    """Conditions that only the worker can judge."""

    def question(self, *route_ids: str, asked: Any = None) -> Send:
        return self.worker.gets(
            outbound.RequestClaim(
                "r1", asked or request(), "app", test_id="buys", route_ids=list(route_ids)
            )
        )

    def test_asked(self) -> None:
        """A test without a certain route is asked about its undecidable ones only."""
        self.test.route(OTHER)
        self.test.route(predicate())
        self.assertEqual(self.asks(), [self.question("buys#2")])
        self.worker.sends(claims("r1", "buys", "buys#2"))
        self.playbook.expect(self.run_of("buys#2", "1"))

    def test_values(self) -> None:
        """The question has the values for the functions of the routes, each place once."""
        names = [SerializedCondition("json", ["name"], has_function=True)]
        kinds = [SerializedCondition("json", ["kind"]), *names]
        for conditions in (names, kinds):
            self.test.route(structs.replace(predicate(), conditions=conditions))
        order = request(URL, "POST", b'{"name": [1], "kind": 2}')
        self.agent.sends(structs.replace(start(), request=order))
        question = self.sent(self.playbook.take(), outbound.RequestClaim)
        self.assertEqual(question.values, [PlacedValues("json", ["name"], [[1]])])

    def test_changed_values(self) -> None:
        """After a fallback they are those of the changed request."""
        name = SerializedCondition("json", ["name"], has_function=True)
        self.test.route(structs.replace(predicate(), conditions=[name]))
        self.test.route()
        self.asks()
        effects = self.falls_back(body_base64=body.from_bytes(b'{"name": "b"}'))
        question = self.sent(effects, outbound.RequestClaim)
        self.assertEqual(question.values, [PlacedValues("json", ["name"], ["b"])])

    def test_refused(self) -> None:
        """A predicate that says no leaves the request to nobody."""
        self.test.route(predicate())
        self.asks()
        self.worker.sends(claims("r1", "buys"))
        self.sent(self.playbook.take(), outbound.DecisionPassthrough)

    def test_newer_than_the_certain(self) -> None:
        """A newer undecidable route is asked about before a certain one runs."""
        self.test.route()
        self.test.route(predicate())
        for answer, expected in ((["buys#2"], "buys#2"), ([], "buys#1")):
            self.assertEqual(self.asks(), [self.question("buys#2")])
            self.worker.sends(claims("r1", "buys", *answer))
            run = self.sent(self.playbook.take(), outbound.HandlerRun)
            self.assertEqual(run.route_id, expected)
            self.does(Abort("failed"), run.run_id)

    def test_older_than_the_certain(self) -> None:
        """An older one is asked about when its turn comes."""
        self.test.route(predicate())
        self.test.route()
        self.assertEqual(self.asks(), [self.run_of("buys#2", "1")])
        self.assertEqual(self.falls_back(), [self.question("buys#1")])
        self.worker.sends(claims("r1", "buys", "buys#1"))
        self.playbook.expect(self.run_of("buys#1", "2"))

    def test_foreign_answer(self) -> None:
        """Answers that nobody waits for, and those of another worker, change nothing."""
        self.test.route(predicate())
        self.test.route()
        self.asks()
        self.worker.sends(claims("r1", "buys", "buys#1"))
        self.falls_back()
        other = self.playbook.worker("1", features=FEATURES)
        other.sends(claims("r1", "buys", "buys#1"))
        self.assertEqual(self.playbook.take(), [])

    def test_repeated_answer(self) -> None:
        """A question is answered once: the repeated answer starts no further handler."""
        for matcher in (glob("**/a"), predicate(), glob("**")):
            self.test.route(matcher)
        self.asks()
        self.assertEqual(self.falls_back(), [self.question("buys#2")])
        self.worker.sends(claims("r1", "buys", "buys#2"))
        self.playbook.expect(self.run_of("buys#2", "2"))
        self.worker.sends(claims("r1", "buys", "buys#2"))
        self.playbook.expect()

    def test_other_tests(self) -> None:
        """A test that may match is asked, although another one matches for certain."""
        rival = self.playbook.worker("1", features=FEATURES)
        rival.test("sells").route(predicate())
        self.test.route()
        (asked,) = self.asks()
        assert isinstance(asked, Send)
        self.assertEqual(asked.to, (rival.id,))
        rival.sends(claims("r1", "sells"))
        self.playbook.expect(self.run_of("buys#1", "1"))


class ChangeTests(ChainCase):
    """What handlers change."""

    def test_added_up(self) -> None:
        """The next handler gets the request as changed; all changes are sent upstream."""
        for _ in range(2):
            self.test.route()
        self.asks()
        (run,) = self.falls_back(method="PUT", headers={"X-A": "1", "Cookie": "no"})
        assert isinstance(run, Send) and isinstance(run.message, outbound.HandlerRun)
        shown = {"x-a": "1", "cookie": "no"}
        self.assertEqual((run.message.request.method, run.message.request.headers), ("PUT", shown))
        changes = SerializedOverrides(body_base64=body.from_bytes(b"two"))
        effects = self.does(Continue(changes), "2")
        sent = self.sent(effects, outbound.DecisionContinue).overrides
        self.assertEqual((sent.method, body.to_bytes(sent.body_base64)), ("PUT", b"two"))
        self.assertEqual(sent.headers, {"x-a": "1", "content-length": "3"})

    def test_matched_anew(self) -> None:
        """A changed URL or method is compared with the routes that are left."""
        self.test.route()
        self.test.route(OTHER)
        self.test.route(URL)
        self.test.route(URL)
        self.asks()
        (run,) = self.falls_back(url=OTHER)
        assert isinstance(run, Send) and isinstance(run.message, outbound.HandlerRun)
        self.assertEqual((run.message.route_id, run.message.request.url), ("buys#2", OTHER))
        (run,) = self.falls_back("2")
        assert isinstance(run, Send) and isinstance(run.message, outbound.HandlerRun)
        self.assertEqual(run.message.route_id, "buys#1")

    def test_matched_by_none(self) -> None:
        """A changed URL that no route matches goes upstream, past the routes that matched."""
        self.test.route("http://h.test/**")
        self.test.route("http://h.test/**")
        self.asks()
        effects = self.falls_back(url="http://elsewhere.test/")
        sent = self.sent(effects, outbound.DecisionContinue)
        self.assertEqual(sent.overrides.url, "http://elsewhere.test/")

    def test_other_scheme(self) -> None:
        """A URL of another scheme fails the request and the test."""
        self.test.route()
        for how in (Fallback, Continue):
            self.agent.sends(start("r1"))
            run = self.sent(self.playbook.take(), outbound.HandlerRun)
            action = how(SerializedOverrides(url="https://h.test/"))
            effects = self.does(action, run.run_id)
            self.assertEqual(self.sent(effects, outbound.DecisionError).code, "handler_failed")
            error = self.sent(effects, outbound.ProxyError)
            self.assertEqual((error.test_id, error.message), ("buys", text("same protocol")))

    def test_fetched(self) -> None:
        """A fetch has the changes so far and its own, which the chain does not keep."""
        self.test.route()
        self.test.route()
        self.asks()
        self.falls_back(method="PUT")
        effects = self.does(Fetch("f1", SerializedOverrides(url=OTHER)), "2")
        sent = self.sent(effects, outbound.DecisionFetch).overrides
        self.assertEqual((sent.url, sent.method), (OTHER, "PUT"))
        sent = self.sent(self.does(Continue(), "2"), outbound.DecisionContinue).overrides
        self.assertEqual((sent.url, sent.method), (UNSET, "PUT"))


class EndTests(ChainCase):
    """Runs that end late, or never."""

    def test_late(self) -> None:
        """The result of a run that is over changes nothing; its fetch fails."""
        for _ in range(2):
            self.test.route()
        self.asks()
        self.falls_back()
        self.assertEqual(self.does(Fulfill(response())), [])
        done = self.sent(self.does(Fetch("f1")), outbound.FetchDone)
        self.assertFalse(done.ok)
        self.assertEqual(self.does(Fulfill(response()), UNSET), [])

    def test_late_in_between(self) -> None:
        """No run counts while the worker is asked about the routes left, nor before the first."""
        self.test.route()
        self.test.route(predicate())
        self.test.route()
        self.asks()
        self.falls_back()
        for run_id in ("1", ""):
            self.assertEqual(self.does(Abort("failed"), run_id), [])

    def test_other_way(self) -> None:
        """Only workers with chains fall back."""
        plain = self.playbook.worker("1")
        plain.test("sells").route(OTHER)
        self.agent.sends(start("r2", OTHER))
        self.playbook.take()
        plain.sends(inbound.HandlerResult("r2", Fallback()))
        error = self.sent(self.playbook.take(), outbound.ProxyError)
        self.assertIn("'chain'", error.message)

    def test_test_ends(self) -> None:
        """A test that ends before its handler has decided fails, and its request too."""
        message = inbound.RouteRegister("buys#1", "buys", glob("**"), place="test_shop.py:7")
        self.worker.sends(message)
        self.playbook.take()
        self.asks()
        self.test.ends()
        effects = self.playbook.take()
        error = self.sent(effects, outbound.ProxyError)
        self.assertEqual((error.code, error.test_id), ("disconnected", "buys"))
        self.assertIn("before the handler (test_shop.py:7) decided", error.message)
        self.assertEqual(self.sent(effects, outbound.DecisionError).code, "disconnected")
        self.assertEqual(effects[-1], self.test.ended())

    def test_wrong_answer(self) -> None:
        """The error of an answer that cannot be given has the route, its line and the test."""
        message = inbound.RouteRegister("buys#1", "buys", glob("**"), place="test_shop.py:7")
        self.worker.sends(message)
        self.playbook.take()
        self.asks()
        effects = self.does(Fulfill(response(0)))
        error = self.sent(effects, outbound.ProxyError).message
        self.assertIn('The route is "**" (test_shop.py:7) of the test "buys" (', error)
        self.assertEqual(self.sent(effects, outbound.DecisionError).message, error)

    def test_errors_ignored(self) -> None:
        """After ``unroute_all`` with ``ignoreErrors`` the end of the test is no error."""
        self.test.route()
        self.asks()
        self.unroutes("ignoreErrors")
        self.test.ends()
        effects = self.playbook.take()
        self.assertEqual(self.sent(effects, outbound.DecisionError).code, "disconnected")
        sent = [effect.message for effect in effects if isinstance(effect, Send)]
        self.assertEqual([each for each in sent if isinstance(each, outbound.ProxyError)], [])

    def test_unroute_all(self) -> None:
        """By default the requests of running handlers continue, with the changes so far."""
        self.test.route()
        self.test.route()
        self.test.route("ws://h.test/", kind="websocket")
        self.asks()
        self.falls_back(method="PUT")
        effects = self.unroutes("default")
        sent = self.sent(effects, outbound.DecisionContinue).overrides
        self.assertEqual(sent.method, "PUT")
        registry = self.playbook.coordinator.state.registry
        self.assertEqual(list(registry.tests["buys"].routes), ["buys#3"])
        self.assertEqual(self.does(Fulfill(response()), "2"), [])

    def test_unroute_all_waits(self) -> None:
        """With ``wait`` the handler decides."""
        self.test.route()
        self.asks()
        acknowledged = self.unroutes("wait")
        self.assertEqual(
            acknowledged, [self.worker.gets(outbound.RouteUnregistered(test_id="buys"))]
        )
        self.sent(self.does(Fulfill(response())), outbound.DecisionFulfill)

    def unroutes(self, behavior: Any) -> Effects:
        self.worker.sends(inbound.RouteUnregister(test_id="buys", behavior=behavior))
        return self.playbook.take()


class SocketTests(ChainCase):
    """WebSockets of workers with chains."""

    def opens(self) -> Effects:
        self.agent.sends(inbound.SocketOpen("s1", "ws://h.test/", [], "app"))
        return self.playbook.take()[1:]

    def test_matched_at_once(self) -> None:
        """The newest route that matches gets a WebSocket, and the worker is not asked."""
        for _ in range(2):
            self.test.route("ws://h.test/", kind="websocket")
        matched = self.sent(self.opens(), outbound.SocketMatched)
        self.assertEqual(matched.route_id, "buys#2")

    def test_asked(self) -> None:
        """An undecidable route that is newer is asked about."""
        self.test.route("ws://h.test/", kind="websocket")
        self.test.route(predicate(), kind="websocket")
        question = self.sent(self.opens(), outbound.SocketClaim)
        self.assertEqual((question.test_id, question.route_ids), ("buys", ["buys#2"]))
        answer = inbound.SocketClaimResult("s1", "buys", [inbound.RouteMatch("buys#2")])
        self.worker.sends(answer)
        matched = self.sent(self.playbook.take(), outbound.SocketMatched)
        self.assertEqual(matched.route_id, "buys#2")

    def test_refused(self) -> None:
        """If its predicate says no, the older one that matches gets the WebSocket."""
        self.test.route("ws://h.test/", kind="websocket")
        self.test.route(predicate(), kind="websocket")
        self.opens()
        self.worker.sends(inbound.SocketClaimResult("s1", "buys", []))
        matched = self.sent(self.playbook.take(), outbound.SocketMatched)
        self.assertEqual(matched.route_id, "buys#1")
