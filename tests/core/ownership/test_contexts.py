"""Whose request: a test's context, and only what carries it."""

import json
import re
from typing import Any, TypeVar

from attrs import evolve
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec import UNSET, structs
from twisted.trial.unittest import SynchronousTestCase

from tests.support.builders import (
    claims,
    fulfill,
    observe,
    open_socket,
    predicate,
    redirect,
    report,
    request,
    start,
    text,
)
from tests.support.playbook import SETTINGS, Peer, Playbook, RegisteredTest, WorkerPeer
from trafficmock.core.effects import CloseDoor, Effects, OpenDoor, Send
from trafficmock.core.ownership.contexts import LATE_SECONDS, MOST_ENDED
from trafficmock.records import MadeFor, RequestPassedThrough, RequestSeen, SocketPassedThrough
from trafficmock.wire import inbound, outbound
from trafficmock.wire.codec import InvalidMessageError, decode
from trafficmock.wire.payloads import handler_action

A, B, UNKNOWN = "a" * 32, "b" * 32, "c" * 32
OURS = ("context", "decline", "headers-list", "subscribe")
"""The features of a test worker of ours."""


M = TypeVar("M", bound=inbound.Message)


class ContextCase(SynchronousTestCase):
    """An agent and two workers with the feature, each with a test and a context."""

    def setUp(self) -> None:
        self.begin()

    def begin(self, **settings: Any) -> None:
        self.playbook = Playbook(self, evolve(SETTINGS, **settings))
        self.agent = self.playbook.agent(features=["context", "stream"])
        self.mine, self.theirs = (
            self.playbook.worker("0", features=OURS),
            self.playbook.worker("1", features=OURS),
        )
        self.a, self.b = (
            self.registered(self.mine, "buys", A),
            self.registered(self.theirs, "sells", B),
        )

    def registered(
        self, worker: WorkerPeer, title: str, context: str | None = None, *, shared: bool = False
    ) -> RegisteredTest:
        """Register a test of a worker that is told the time."""
        scope: Any = "worker" if shared else UNSET
        worker.sends(
            inbound.TestRegister(
                title, title, f"{title}.py", worker.id[-1], context or UNSET, scope
            )
        )
        self.playbook.expect(
            worker.gets(outbound.TestRegistered(title, self.playbook.now().epoch_ms))
        )
        return RegisteredTest(worker, title)

    def starts(self, context: str | None = A, request_id: str = "r1", **changes: Any) -> None:
        message = start(request_id)
        self.agent.sends(structs.replace(message, context=context or UNSET, **changes))

    def sent(self, kind: type[M]) -> list[tuple[tuple[str, ...], M]]:
        """Give the messages of one kind that the last event led to, and to whom."""
        return [
            (each.to, each.message)
            for each in self.playbook.take()
            if isinstance(each, Send) and isinstance(each.message, kind)
        ]

    def owner(self, context: str | None = A, request_id: str = "r1") -> str | None:
        """Start a request, and tell which test gets it at once."""
        self.starts(context, request_id)
        matched = self.sent(outbound.RequestMatched)
        return matched[0][1].test_id if matched else None

    def passes(self, *also: str, request_id: str = "r1", made_for: MadeFor | None) -> Effects:
        """Write what a request leads to that nobody gets."""
        return [
            RequestSeen(request_id, "app", request(), made_for=made_for),
            RequestPassedThrough(request_id, also),
            self.agent.gets(outbound.DecisionPassthrough(request_id)),
        ]


MADE_FOR_A = MadeFor("buys", "buys", "buys.py", late=False)


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
        self.starts(None, "r2")
        ((_, matched),) = self.sent(outbound.RequestMatched)
        self.assertIs(matched.context, UNSET)

    def test_nobody_else(self) -> None:
        """Another test's routes do not get it; the record names up to five of them."""
        for _ in range(6):
            self.b.route("**")
        self.b.route(predicate())
        self.starts()
        also = tuple(f"sells#{number}" for number in range(1, 6))
        self.playbook.expect(*self.passes(*also, made_for=MADE_FOR_A))

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


class LateTests(ContextCase):
    """Traffic that outlives its test."""

    def test_late(self) -> None:
        """For 30 s after the end it is nobody's, marked as late."""
        self.b.route("**")
        self.a.ends()
        self.playbook.expect(self.a.ended())
        self.playbook.wait(LATE_SECONDS - 1)
        self.playbook.take()
        self.starts()
        self.playbook.expect(
            *self.passes("sells#1", made_for=structs.replace(MADE_FOR_A, late=True))
        )

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
        self.assertEqual(len(self.playbook.coordinator.contexts.ended), 1)
        self.playbook.wait(LATE_SECONDS)
        self.playbook.take()
        self.assertEqual(len(self.playbook.coordinator.contexts.ended), 0)

    def test_bound(self) -> None:
        """Of very many tests that end at once the oldest are forgotten."""
        contexts = self.playbook.coordinator.contexts
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
        self.assertEqual(len(self.playbook.coordinator.contexts.ended), 0)


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
        self.assertEqual(set(self.playbook.coordinator.registry.tests), {"buys", "sells"})

    def test_time(self) -> None:
        """Workers that name the feature are told when the test began; those of npm are not."""
        for number, features in enumerate((["context"], ["subscribe"], ["decline"], [])):
            worker = self.playbook.worker(f"1{number}", features=features)
            worker.sends(inbound.TestRegister(f"t{number}", "t", "f", "1"))
            ((_, registered),) = self.sent(outbound.TestRegistered)
            expected = self.playbook.now().epoch_ms if number < 2 else UNSET
            self.assertEqual(registered.at, expected, features)

    def test_same_again(self) -> None:
        """A worker may say the same registration twice."""
        self.registered(self.mine, "buys", A)
        self.assertEqual(self.playbook.coordinator.contexts.running.keys(), {A, B})

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
        self.theirs.sends(inbound.HandlerResult("r1", handler_action.Abort("failed")))
        self.playbook.take()
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


class ObserverTests(ContextCase):
    """Who hears of traffic."""

    def setUp(self) -> None:
        super().setUp()
        self.npm = self.playbook.worker("2")
        self.npm.test("npm")
        for test in (self.a, self.b):
            test.worker.sends(inbound.TestSubscribe(test.id))
            self.playbook.expect(test.worker.gets(outbound.TestSubscribed(test.id)))

    def told(self) -> dict[str, outbound.RequestObserved]:
        """Give what each connection was told."""
        return {one: said for to, said in self.sent(outbound.RequestObserved) for one in to}

    def test_own(self) -> None:
        """Workers with the feature hear their own traffic and what has no context; others all."""
        plain = outbound.RequestObserved("r1", request(), "app")
        own = structs.replace(plain, context="own", test_id="buys")
        self.starts(A)
        self.assertEqual(self.told(), {self.mine.id: own, self.npm.id: plain})
        self.agent.sends(report())
        self.assertEqual(self.heard_responses(), {self.mine.id, self.npm.id})
        self.starts(None)
        self.assertEqual(
            self.told(), {self.mine.id: plain, self.theirs.id: plain, self.npm.id: plain}
        )

    def heard_responses(self) -> set[str]:
        return {one for to, _ in self.sent(inbound.RequestResponse) for one in to}

    def test_body_that_comes_later(self) -> None:
        """The same holds for a request that is observed when its body is there."""
        self.starts(A, body_pending=True)
        self.assertEqual(self.told(), {})
        self.agent.sends(inbound.RequestBody("r1", request().body_base64))
        self.assertEqual(self.told().keys(), {self.mine.id, self.npm.id})

    def test_hop(self) -> None:
        """A hop has the context of its chain; one without a chain its own."""
        self.starts(A)
        self.playbook.take()
        self.agent.sends(report("r1", redirect("/b")))
        self.playbook.take()
        self.agent.sends(observe("r2", "r1"))
        self.assertEqual(self.told()[self.mine.id].test_id, "buys")
        self.agent.sends(structs.replace(observe("r3", None), context=B))
        self.assertEqual(self.told().keys(), {self.theirs.id, self.npm.id})

    def test_late(self) -> None:
        """Late traffic is heard only by those without the feature."""
        self.a.ends()
        self.playbook.take()
        self.starts(A)
        self.assertEqual(self.told().keys(), {self.npm.id})

    def test_subscription_on_the_way(self) -> None:
        """Who subscribes later hears the ends of its own traffic that is on its way."""
        other = self.registered(self.mine, "other")
        self.starts(B)
        self.playbook.take()
        self.mine.sends(inbound.TestSubscribe(other.id))
        self.playbook.take()
        self.agent.sends(report())
        self.assertEqual(self.heard_responses(), {self.theirs.id, self.npm.id})


class AgentTests(SynchronousTestCase):
    """What agents are told."""

    def test_own_hosts(self) -> None:
        """An agent with the feature gets the globs of --own-host, others do not."""
        playbook = Playbook(self, evolve(SETTINGS, own_hosts=("*.shop.test",)))
        for features, expected in ((["context"], ["*.shop.test"]), (["decline"], UNSET)):
            peer = Peer(playbook, playbook.connect(features[0]).id)
            peer.sends(inbound.Hello(3, "0.1.0", "node", features=features))
            (welcome,) = playbook.take()
            assert isinstance(welcome, Send)
            assert isinstance(welcome.message, outbound.HelloOk)
            self.assertEqual(welcome.message.own_hosts, expected, features)


class DoorTests(ContextCase):
    """Proxies of tests' own."""

    def registers(self, title: str, context: str | None = UNKNOWN, *origins: str) -> Effects:
        """Register a test that wants a door; give what that leads to."""
        self.mine.sends(
            inbound.TestRegister(
                title,
                title,
                "f",
                "0",
                UNSET if context is None else context,
                door=inbound.Door(list(origins)),
            )
        )
        return self.playbook.take()

    def registered_at(self, title: str) -> outbound.TestRegistered:
        return outbound.TestRegistered(title, self.playbook.now().epoch_ms)

    def test_opened(self) -> None:
        """The test is acknowledged by whoever opens its door, which has its context."""
        effects = self.registers("door", UNKNOWN, "http://*.test")
        registered = self.registered_at("door")
        expected = OpenDoor(self.mine.id, registered, UNKNOWN, ("http://*.test",))
        self.assertEqual(effects, [expected])
        self.assertEqual(self.owner(UNKNOWN), None)

    def test_without_context(self) -> None:
        """There is no door without a context."""
        effects = self.registers("door", None)
        self.assertEqual(effects, [self.mine.gets(self.registered_at("door"))])

    def test_context_in_use(self) -> None:
        """A test that is refused gets none."""
        (refusal,) = self.registers("door", B)
        assert isinstance(refusal, Send)
        self.assertIsInstance(refusal.message, outbound.ProxyError)

    def test_unmatchable_origin(self) -> None:
        """An origin that no request has is refused, with how to write it."""
        (refusal,) = self.registers("door", UNKNOWN, "http://shop.test", "shop.test:3000")
        assert isinstance(refusal, Send)
        assert isinstance(refusal.message, outbound.ProxyError)
        self.assertEqual(refusal.message.test_id, "door")
        self.assertIn("'shop.test:3000'", refusal.message.message)
        self.assertIn("such as http://shop.test:8000", refusal.message.message)
        self.assertNotEqual(self.registers("door"), [refusal])

    def test_closed(self) -> None:
        """It is closed before the end of the test is acknowledged, and when its worker goes."""
        self.registers("door")
        self.mine.sends(inbound.TestUnregister("door"))
        ended = self.mine.gets(outbound.TestUnregistered("door"))
        self.playbook.expect(CloseDoor("door"), ended)
        self.registers("door")
        self.playbook.disconnect(self.mine.id)
        self.assertIn(CloseDoor("door"), self.playbook.take())
