"""The coordinator ends the waits of tests."""

from typing import Any
from unittest.mock import patch

from msgspec import UNSET, structs
from twisted.trial.unittest import SynchronousTestCase

from tests.support.builders import (
    fulfill,
    glob,
    observe,
    predicate,
    redirect,
    report,
    request,
    response,
    start,
)
from tests.support.playbook import EPOCH_MS, Peer, Playbook
from trafficmock.core.effects import Effects, Overdue, Send
from trafficmock.core.waits import sent_requests, waits
from trafficmock.texts.wording import unredacted
from trafficmock.wire import inbound, outbound
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.answer import Fulfill
from trafficmock.wire.payloads.serialized_matcher import PlacedValues, SerializedCondition
from trafficmock.wire.payloads.unmet_routes import UnmetMatcher
from trafficmock.wire.waits.wait_messages import (
    WaitCancel,
    WaitJudge,
    WaitJudged,
    WaitMet,
    WaitOverdue,
    WaitRegister,
)

CUP, BOX = "http://h.test/cup", "http://h.test/box"
ALL = ("chain", "clock", "context")
NOW_US = 1_000_000_000
"""The beginning of a playbook, in microseconds."""


class WaitsCase(SynchronousTestCase):
    """An agent, and a worker with one test."""

    features: tuple[str, ...] = ("warnings",)

    def setUp(self) -> None:
        self.playbook = Playbook(self)
        self.agent = self.playbook.agent()
        self.worker = self.playbook.worker(features=self.features)
        self.worker.sends(inbound.TestRegister("t", "t", "f.py", "0"))
        self.playbook.take()

    def waits(self, wait_id: str = "w", kind: Any = "request", **more: Any) -> list[object]:
        matcher = more.pop("matcher", glob(CUP))
        test_id = more.pop("test_id", "t")
        self.worker.sends(WaitRegister(wait_id, test_id, kind, matcher, **more))
        return self.sent()

    def asks(self, *messages: inbound.Message) -> list[object]:
        """Let the application send messages; list the messages about waits."""
        sent = []
        for message in messages:
            self.agent.sends(message)
            sent += self.sent()
        return sent

    def says(self, message: inbound.Message) -> list[object]:
        """Let the worker send a message; list the messages about waits."""
        self.worker.sends(message)
        return self.sent()

    def sent(self) -> list[object]:
        return about_waits(self.playbook.take())


def about_waits(effects: Effects) -> list[object]:
    """List the messages about waits."""
    return [
        each.message
        for each in effects
        if isinstance(each, Send) and isinstance(each.message, WaitMet | WaitJudge | WaitOverdue)
    ]


class WaitTests(WaitsCase):
    """What meets a wait."""

    def test_request(self) -> None:
        """The first request that matches meets the wait, right after the worker was sent it."""
        self.waits()
        self.assertEqual(self.asks(start("r1", BOX)), [])
        self.agent.sends(start("r2", CUP))
        sent = [each.message for each in self.playbook.take() if isinstance(each, Send)]
        self.assertEqual(sent[1], WaitMet("w", "r2"))
        self.assertEqual(self.asks(start("r3", CUP)), [])

    def test_response(self) -> None:
        """A response meets the wait if its request came after the beginning."""
        self.assertEqual(self.asks(start("r1", CUP)), [])
        self.waits(kind="response", after="r1")
        self.assertEqual(self.asks(report("r1"), start("r2", CUP)), [])
        self.assertEqual(self.asks(report("r2")), [WaitMet("w", "r2")])

    def test_failed_request(self) -> None:
        """A request that fails has no response."""
        self.waits(kind="response")
        failed = inbound.RequestResponse("r1", ok=False)
        self.assertEqual(self.asks(start("r1", CUP), failed), [])

    def test_mock(self) -> None:
        """A handler's response meets a wait too."""
        route = inbound.RouteRegister("q", "t", glob("**"))
        self.worker.sends(route)
        self.playbook.take()
        self.waits(kind="response")
        self.asks(start("r1", CUP))
        self.assertEqual(self.says(fulfill("r1")), [WaitMet("w", "r1")])

    def test_without_its_body(self) -> None:
        """A request whose body never comes meets a wait when its worker is sent it."""
        invalid = '{"type": "request:body", "requestId": "r1"}'
        for name, ends in (("r1", lambda agent: agent.sends_text(invalid)), ("r2", Peer.dies)):
            self.agent = self.playbook.agent(name, features=["stream"])
            self.assertEqual(self.waits(after="r1"), [])
            announced = structs.replace(start(name, CUP), body_pending=True)
            self.assertEqual(self.asks(announced), [])
            ends(self.agent)
            self.assertEqual(self.sent(), [WaitMet("w", name)])

    def test_hop(self) -> None:
        """The hop of a redirect meets a wait."""
        self.waits()
        first = start("r1", BOX)
        sent = self.asks(first, report("r1", redirect(CUP)), observe("r2", "r1", CUP))
        self.assertEqual(sent, [WaitMet("w", "r2")])

    def test_methods(self) -> None:
        """All parts of a matcher count, for responses too."""
        matcher = glob(CUP)
        matcher = type(matcher)(url_glob=CUP, methods=["POST"], client_ids=["app"])
        for kind in ("request", "response"):
            self.waits(kind, kind, matcher=matcher)
        self.assertEqual(self.asks(start("r1", CUP), report("r1")), [])

    def test_too_many(self) -> None:
        """A wait beyond the limit ends at once with an error, and those before are met."""
        for number in range(waits.MOST_OPEN):
            self.waits(f"w{number}")
        self.worker.sends(WaitRegister("more", "t", "request", glob(CUP)))
        effects = self.playbook.take()
        ((error, ended),) = [[each.message for each in effects if isinstance(each, Send)]]
        assert isinstance(error, outbound.ProxyError) and isinstance(ended, WaitOverdue)
        self.assertEqual((error.code, error.test_id), ("too_many_queries", "t"))
        self.assertEqual((ended.wait_id, ended.text), ("more", ""))
        self.assertEqual(len(self.asks(start("r1", CUP))), waits.MOST_OPEN)
        self.assertEqual(self.waits("more", matcher=glob(BOX)), [])

    def test_one_content(self) -> None:
        """The body of a request is read once for all waits with conditions on it."""
        wanted = SerializedCondition("json", ["a"], equals=1)
        matcher = structs.replace(glob(CUP), conditions=[wanted])
        for number in range(3):
            self.waits(f"w{number}", matcher=matcher)
        read = self.count_calls(body, "to_bytes")
        begin = structs.replace(start("r1", CUP), request=request(CUP, "POST", b'{"a": 1}'))
        self.assertEqual(len(self.asks(begin)), 3)
        self.assertEqual(len(read), 1)

    def test_values(self) -> None:
        """The worker is asked with the values for its functions, those of the request."""
        wanted = SerializedCondition("json", ["a"], has_function=True)
        matcher = structs.replace(predicate(), conditions=[wanted])
        self.waits("w", "response", matcher=matcher)
        begin = structs.replace(start("r1", CUP), request=request(CUP, "POST", b'{"a": 1}'))
        values = [PlacedValues("json", ["a"], [1])]
        self.assertEqual(self.asks(begin, report("r1")), [WaitJudge("w", "t", "r1", values)])

    def count_calls(self, module: Any, name: str) -> list[object]:
        """Count the calls of a function."""
        calls: list[object] = []
        real = getattr(module, name)

        def counted(*args: object) -> object:
            calls.append(args)
            return real(*args)

        self.patch(module, name, counted)
        return calls

    def test_several(self) -> None:
        """One request meets every wait that it matches."""
        self.waits("w1")
        self.waits("w2", matcher=glob("**"))
        self.assertEqual(self.asks(start("r1", CUP)), [WaitMet("w1", "r1"), WaitMet("w2", "r1")])

    def test_shared_connection(self) -> None:
        """The waits of all tests of a worker are met."""
        self.worker.sends(inbound.TestRegister("u", "u", "f.py", "0"))
        self.playbook.take()
        self.waits("w1")
        self.waits("w2", test_id="u")
        self.assertEqual(self.asks(start("r1", CUP)), [WaitMet("w1", "r1"), WaitMet("w2", "r1")])

    def test_in_flight(self) -> None:
        """Requests that came after the beginning count, although the wait is registered later."""
        self.asks(start("r1", CUP), report("r1"))
        self.asks(start("r2", CUP), report("r2"))
        self.assertEqual(self.waits("w1", after="r1"), [WaitMet("w1", "r2")])
        self.assertEqual(self.waits("w2", "response", after="r1"), [WaitMet("w2", "r2")])
        self.assertEqual(self.waits("w3", after="r2"), [])
        self.assertEqual(self.waits("w4", "response", after="r2"), [])

    def test_forgotten(self) -> None:
        """Of the requests that a worker was sent, the newest are kept."""
        self.patch(sent_requests, "MOST_SENT", 2)
        self.asks(*(start(f"r{n}", CUP) for n in range(4)))
        self.assertEqual(self.waits("w1"), [WaitMet("w1", "r2")])
        self.assertEqual(self.waits("w2", after="r2"), [WaitMet("w2", "r3")])

    def test_long_urls(self) -> None:
        """Of requests and responses with long URLs fewer are kept, but always the latest."""
        self.patch(sent_requests, "MOST_CHARACTERS", 3 * len(CUP))
        self.asks(*(start(f"r{n}", CUP) for n in range(4)))
        self.assertEqual(self.waits("w1"), [WaitMet("w1", "r1")])
        self.asks(report("r2"))
        self.assertEqual(self.waits("w2"), [WaitMet("w2", "r2")])
        self.asks(start("r4", f"{CUP}?{'x' * 100}"))
        self.assertEqual(self.waits("w3", matcher=glob("**")), [WaitMet("w3", "r4")])
        self.assertEqual(self.waits("w4", "response", matcher=glob("**")), [])
        self.assertEqual(self.asks(report("r4")), [WaitMet("w4", "r4")])


class JudgedTests(WaitsCase):
    """Waits that the worker has to judge."""

    def test_one_by_one(self) -> None:
        """The worker is asked about one request after the other, in their order."""
        self.waits(matcher=predicate())
        self.assertEqual(self.asks(start("r1", BOX)), [WaitJudge("w", "t", "r1")])
        self.assertEqual(self.asks(start("r2", CUP), start("r3", CUP)), [])
        self.assertEqual(self.says(WaitJudged("w", "r2", met=True)), [])
        no = WaitJudged("w", "r1", met=False)
        self.assertEqual(self.says(no), [WaitJudge("w", "t", "r2")])
        self.assertEqual(self.says(WaitJudged("w", "r2", met=True)), [WaitMet("w", "r2")])
        self.assertEqual(self.says(WaitJudged("w", "r3", met=True)), [])

    def test_next_after_a_pause(self) -> None:
        """A request that comes when none is being judged is asked about at once."""
        self.waits("w", "response", matcher=predicate())
        self.assertEqual(self.asks(start("r1"), report("r1")), [WaitJudge("w", "t", "r1")])
        self.assertEqual(self.says(WaitJudged("w", "r1", met=False)), [])
        self.assertEqual(self.asks(start("r2"), report("r2")), [WaitJudge("w", "t", "r2")])

    def test_late_redirect(self) -> None:
        """A hop that came before its redirect was reported is asked about again."""
        self.waits(matcher=predicate())
        self.assertEqual(self.asks(start("r1", BOX)), [WaitJudge("w", "t", "r1")])
        self.asks(start("r2", CUP), start("r3", CUP))
        asked = []
        for request_id in ("r1", "r2", "r3"):
            asked += self.says(WaitJudged("w", request_id, met=False))
        self.assertEqual(asked, [WaitJudge("w", "t", "r2"), WaitJudge("w", "t", "r3")])
        self.assertEqual(self.asks(report("r2", redirect("/other"))), [])
        self.assertEqual(self.asks(report("r3", redirect("http://["))), [])
        self.assertEqual(
            self.asks(report("r1", redirect("/cup#part"))), [WaitJudge("w", "t", "r2")]
        )

    def test_url_of_predicate(self) -> None:
        """Where the coordinator can compare the URL, the worker is not asked about others."""
        self.waits(matcher=predicate(CUP))
        self.assertEqual(self.asks(start("r1", BOX)), [])
        self.assertEqual(self.asks(start("r2", CUP)), [WaitJudge("w", "t", "r2")])


class OverdueTests(WaitsCase):
    """The end of a wait that nothing met."""

    def test_overdue(self) -> None:
        """Nothing met the wait in time: what came instead is looked for, once."""
        self.playbook.wait(1)
        self.waits(timeout_ms=2000)
        self.waits("later", timeout_ms=3000)
        self.asks(start("r1", BOX))
        self.playbook.wait(1.999)
        self.playbook.expect()
        self.playbook.wait(0.001)
        (effect,) = self.playbook.take()
        assert isinstance(effect, Overdue)
        self.assertEqual((effect.connection_id, effect.wait_id), (self.worker.id, "w"))
        self.assertEqual(effect.unmet, UnmetMatcher(glob(CUP), EPOCH_MS + 1000))
        self.assertEqual((effect.since, effect.own), (EPOCH_MS, frozenset()))
        self.assertEqual([each.client_id for each in effect.agents], ["app"])
        self.playbook.wait(1)
        (later,) = self.playbook.take()
        assert isinstance(later, Overdue)
        self.assertEqual(later.wait_id, "later")
        self.assertEqual(self.asks(start("r2", CUP)), [])
        self.playbook.wait(60)
        self.playbook.expect()

    def test_seen(self) -> None:
        """What the test was sent goes with it, for a history that has nothing of that."""
        self.asks(start("r0", f"{BOX}?token=a"))
        self.playbook.wait(1)
        self.worker.sends(inbound.TestRegister("u", "u", "f.py", "0"))
        self.playbook.take()
        for number in range(1, 4):
            self.asks(start(f"r{number}", f"{BOX}?a={number}"))
        with patch.object(waits, "MOST_SEEN", 2):
            for test_id, wanted in (("u", [3, 2, "and 1 more"]), ("t", [3, 2, "and 2 more"])):
                self.waits(test_id=test_id, timeout_ms=10)
                self.playbook.wait(0.01)
                (effect,) = self.playbook.take()
                assert isinstance(effect, Overdue)
                shown = [f"GET {BOX}?a={each} (client app)" for each in wanted[:2]]
                lines = [unredacted(each) for each in effect.seen]
                self.assertEqual(lines, [f"  {each}" for each in (*shown, wanted[2])])

    def test_no_limit(self) -> None:
        """A wait without a limit is never overdue."""
        self.waits()
        self.playbook.wait(3600)
        self.playbook.expect()
        self.assertEqual(self.asks(start("r1", CUP)), [WaitMet("w", "r1")])

    def test_judging(self) -> None:
        """A predicate that never answers does not keep a wait open."""
        self.waits(matcher=predicate(), timeout_ms=10)
        self.asks(start("r1"))
        self.playbook.wait(0.01)
        self.assertIsInstance(self.playbook.take()[0], Overdue)
        self.assertEqual(self.says(WaitJudged("w", "r1", met=True)), [])

    def test_beginning(self) -> None:
        """What came before the beginning of the wait is sent apart by its real beginning."""
        self.playbook.wait(5)
        self.waits(timeout_ms=10, since=NOW_US + 4_000_000)
        self.playbook.wait(1)
        (effect,) = self.playbook.take()
        assert isinstance(effect, Overdue)
        self.assertEqual(effect.unmet.since, EPOCH_MS + 4000)

    def test_cancelled(self) -> None:
        """A wait that was given up has no end."""
        self.waits(timeout_ms=10)
        self.says(WaitCancel("w"))
        self.assertEqual(self.asks(start("r1", CUP)), [])
        self.playbook.wait(1)
        self.playbook.expect()

    def test_end_of_the_test(self) -> None:
        """The waits of a test end with it, those of another one do not."""
        self.worker.sends(inbound.TestRegister("u", "u", "f.py", "0"))
        self.playbook.take()
        self.waits("w1", timeout_ms=10)
        self.waits("w2", test_id="u")
        self.says(inbound.TestUnregister("t"))
        self.playbook.wait(1)
        self.playbook.expect()
        self.assertEqual(self.asks(start("r1", CUP)), [WaitMet("w2", "r1")])

    def test_nothing_is_kept(self) -> None:
        """After the last test, and after the worker, nothing of a wait is left."""
        self.waits(matcher=predicate(), timeout_ms=10)
        self.asks(start("r1"), start("r2"), report("r1"), report("r2"))
        self.says(inbound.TestUnregister("t"))
        waits = self.playbook.coordinator.waits.workers[self.worker.id]
        self.assertEqual((list(waits.open), list(waits.sent.after(0))), ([], []))
        self.worker.dies()
        self.assertEqual(self.playbook.coordinator.waits.workers, {})


class BeginningTests(WaitsCase):
    """Which requests came before a wait, by the clock of the coordinator."""

    features = ALL

    def test_older(self) -> None:
        """A request from before the beginning does not count, although it was not sent yet."""
        self.asks(start("r1", CUP), report("r1"))
        self.playbook.wait(1)
        self.assertEqual(self.waits("w1", since=NOW_US), [WaitMet("w1", "r1")])
        self.assertEqual(self.waits("w2", since=NOW_US + 1), [])
        self.assertEqual(self.waits("w3", "response", since=NOW_US + 1), [])
        self.assertEqual(self.waits("w4"), [])
        # A moment in the future is a wrong clock.
        self.waits("w5", since=NOW_US + 60_000_000)
        met = self.asks(start("r2", CUP), report("r2"))
        self.assertEqual({each.wait_id for each in met}, {"w2", "w3", "w4", "w5"})  # type: ignore[attr-defined] # all are met

    def test_handled_later(self) -> None:
        """A request whose handler runs only now counts, although it is older by the clock."""
        route = inbound.RouteRegister("q", "t", predicate(CUP))
        self.worker.sends(route)
        self.playbook.take()
        self.asks(start("r1", CUP))
        self.playbook.wait(1)
        self.assertEqual(self.waits("w1", since=NOW_US + 500_000), [])
        self.assertEqual(self.waits("w2", "response", since=NOW_US + 500_000), [])
        self.assertEqual(self.waits("w3", since=NOW_US + 500_000, after="r1"), [])
        claimed = inbound.RequestClaimResult("r1", "t", [inbound.RouteMatch("q")])
        self.assertEqual(self.says(claimed), [WaitMet("w1", "r1")])
        self.assertEqual(self.waits("w4", since=NOW_US + 500_000), [WaitMet("w4", "r1")])
        result = inbound.HandlerResult("r1", fulfill("r1").result, "1")
        self.assertEqual(self.says(result), [WaitMet("w2", "r1")])

    def test_delayed_answer(self) -> None:
        """An answer that is sent later meets a wait then."""
        self.worker.sends(inbound.RouteRegister("q", "t", glob("**")))
        self.playbook.take()
        self.waits(kind="response")
        self.asks(start("r1", CUP))
        result = inbound.HandlerResult("r1", Fulfill(response(), delay_ms=1000), "1")
        self.assertEqual(self.says(result), [])
        self.playbook.wait(1)
        self.assertEqual(self.sent(), [WaitMet("w", "r1")])

    def test_whose_requests(self) -> None:
        """What came instead is listed for the test and for the shared tests of its worker."""
        own = inbound.TestRegister("u", "u", "f", "0", "a" * 32)
        shared = inbound.TestRegister("all", "all", "f", "0", "b" * 32, scope="worker")
        for message in (own, shared):
            self.worker.sends(message)
            self.playbook.take()
        for test_id, listed in (("u", {"u", "all"}), ("t", set[str]())):
            self.waits(test_id=test_id, timeout_ms=10)
            self.playbook.wait(0.01)
            (effect,) = self.playbook.take()
            assert isinstance(effect, Overdue)
            self.assertEqual(effect.own, listed)

    def test_other_tests(self) -> None:
        """A request with the context of a test meets only waits of that test."""
        contexts = {"u": "a" * 32, "v": "b" * 32}
        for test_id, context in contexts.items():
            self.worker.sends(inbound.TestRegister(test_id, test_id, "f", "0", context))
            self.playbook.take()
            self.waits(f"of {test_id}", test_id=test_id)
        self.agent.closes()
        self.playbook.take()
        self.agent = self.playbook.agent("tagging", features=("context",))
        request = start("r1", CUP, "tagging")
        tagged = type(request)("r1", "tagging", request.request, context=contexts["v"])
        self.assertEqual(self.asks(tagged), [WaitMet("of v", "r1")])


class AuthorityTests(WaitsCase):
    """Who may register and judge waits."""

    def test_foreign(self) -> None:
        """A wait is for a test of the worker, and its id is used once."""
        self.waits()
        other = self.playbook.worker("1", features=("warnings",))
        old = self.playbook.worker("2")
        for worker in (other, old, self.worker):
            worker.sends(WaitRegister("w", "t", "request", glob("**")))
            worker.sends(WaitJudged("w", "r1", met=True))
        for worker in (other, old):
            worker.sends(WaitCancel("w"))
        self.playbook.expect()
        self.assertEqual(len(self.playbook.notes), 3)
        self.assertEqual(self.asks(start("r1", CUP)), [WaitMet("w", "r1")])
        self.assertIs(WaitRegister("w", "t", "request", glob("**")).timeout_ms, UNSET)
