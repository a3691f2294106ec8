"""Fixed answers: given at once where the owner is certain, counted in one place."""

from typing import Any

from attrs import evolve
from msgspec import UNSET, structs
from twisted.trial.unittest import SynchronousTestCase

from tests.support.builders import (
    URL,
    claims,
    fulfill,
    glob,
    predicate,
    request,
    response,
    start,
    text,
)
from tests.support.playbook import SETTINGS, Playbook, to
from trafficmock import records
from trafficmock.core.effects import Effects, Send
from trafficmock.wire import inbound, outbound
from trafficmock.wire.payloads import body, handler_action

FEATURES = ("context", "decline", "headers-list", "reply", "strict", "subscribe")
ANSWER = response(203, b"fixed", **{"x-a": "b"})
CONTEXT = "a" * 32


class ReplyCase(SynchronousTestCase):
    """An agent and a worker whose test has a reply."""

    def setUp(self) -> None:
        self.playbook = Playbook(self)
        self.agent = self.playbook.agent(features=("context", "stream"))
        self.worker = self.playbook.worker("0", features=FEATURES)
        self.test = self.worker.test("buys")

    def replied(self, route_id: str = "buys#1", request_id: str = "r1", url: str = URL) -> Effects:
        """Write what a reply leads to, after what announces the request."""
        test_id = route_id.partition("#")[0]
        told = outbound.RequestReplied(request_id, request(url), "app", route_id, test_id)
        return [self.worker.gets(told), *self.answered(route_id, request_id, url)]

    def answered(self, route_id: str, request_id: str = "r1", url: str = URL) -> Effects:
        test_id = route_id.partition("#")[0]
        owner = records.Owner(test_id, route_id, test_id, f"{test_id}.spec.ts")
        answer = structs.replace(ANSWER, url=url)
        decision = outbound.DecisionFulfill(request_id, answer)
        return [records.RequestFulfilled(request_id, owner, answer), self.agent.gets(decision)]

    def matched(self, route_id: str, request_id: str = "r1") -> Send:
        return self.worker.gets(
            outbound.RequestMatched(request_id, request(), "app", route_id, "buys")
        )

    def asks(self, request_id: str = "r1", url: str = URL) -> Effects:
        """Let the application ask; give what follows the record of it."""
        self.agent.sends(start(request_id, url))
        seen, *effects = self.playbook.take()
        self.assertIsInstance(seen, records.RequestSeen)
        return effects

    def expired(self, route_id: str = "buys#1", request_id: str | None = None) -> Send:
        named = UNSET if request_id is None else request_id
        return self.worker.gets(outbound.RouteExpired(route_id, named))


class AtOnceTests(ReplyCase):
    """Nobody is asked, and no handler runs."""

    def test_given(self) -> None:
        """A request is answered in the event that announces it, and its test is told."""
        self.test.route(reply=ANSWER)
        for request_id in ("r1", "r2"):
            effects = self.asks(request_id)
            self.assertEqual(effects, self.replied(request_id=request_id))
        self.assertEqual(self.playbook.coordinator.decisions.pending, {})

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
        """The newest route that matches decides whether the worker is asked."""
        self.test.route(reply=ANSWER)
        self.test.route("http://other.test/")
        newest = self.test.route()
        self.assertEqual(self.asks(), [self.matched("buys#1")])
        self.worker.sends(fulfill())
        self.playbook.take()
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
            self.assertEqual(self.asks("r2"), [self.matched("buys#2", "r2")])
            self.worker.sends(fulfill("r2", ANSWER))
            self.playbook.take()
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
        """From a worker that did not name the feature, a reply is ignored."""
        other = self.playbook.worker("1", features=("decline",)).test("sells")
        other.route("http://h.test/**", reply=ANSWER, times=1)
        self.agent.sends(start())
        *_, matched, _ = [*self.playbook.take(), None]
        assert isinstance(matched, Send)
        self.assertIsInstance(matched.message, outbound.RequestMatched)


class AskedTests(ReplyCase):
    """A round of questions comes first."""

    def test_always_ask(self) -> None:
        """Where every test is asked, the reply is given after the answer."""
        self.playbook = Playbook(self, evolve(SETTINGS, ownership="always-ask"))
        self.agent = self.playbook.agent()
        self.worker = self.playbook.worker("0", features=FEATURES)
        self.test = self.worker.test("buys")
        self.test.route(reply=ANSWER)
        (asked,) = self.asks()
        assert isinstance(asked, Send)
        self.assertIsInstance(asked.message, outbound.RequestClaim)
        self.worker.sends(claims("r1", "buys", "buys#1"))
        self.playbook.expect(*self.replied())

    def test_another_undecided(self) -> None:
        """Another test is asked, and declines; the reply of the certain one is given."""
        other = self.playbook.worker("1", features=FEATURES)
        other.test("sells").route(predicate())
        self.test.route(reply=ANSWER)
        (asked,) = self.asks()
        self.assertEqual(asked, other.gets(outbound.RequestClaim("r1", request(), "app")))
        other.sends(claims("r1", "sells"))
        self.playbook.expect(*self.replied())

    def test_route_added_meanwhile(self) -> None:
        """A route that the test registered during the round comes first: its worker decides."""
        other = self.playbook.worker("1", features=FEATURES)
        other.test("sells").route(predicate())
        self.test.route(reply=ANSWER)
        self.asks()
        self.test.route()
        other.sends(claims("r1", "sells"))
        self.playbook.expect(self.matched("buys#1"))


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
        self.assertEqual(self.playbook.coordinator.registry.routes, {})

    def test_shared_with_handlers(self) -> None:
        """What handlers leave to it counts too, and too late is told so."""
        self.test.route(reply=ANSWER, times=1)
        self.test.route(structs.replace(glob("**"), methods=["PUT"]))
        for request_id in ("r1", "r2"):
            put = structs.replace(start(request_id), request=request(method="PUT"))
            self.agent.sends(put)
            self.playbook.take()
        answer = handler_action.Fulfill(structs.replace(ANSWER, url=URL), "buys#1")
        self.worker.sends(inbound.HandlerResult("r1", answer))
        reported = inbound.RequestResponse("r1", ok=True, response=answer.response)
        self.playbook.expect(self.expired(), *self.answered("buys#1"), self.worker.gets(reported))
        self.worker.sends(inbound.HandlerResult("r2", answer))
        self.playbook.expect(self.expired(request_id="r2"))
        self.worker.sends(fulfill("r2"))
        fulfilled, *_ = self.playbook.take()
        assert isinstance(fulfilled, records.RequestFulfilled)

    def test_of_another_worker(self) -> None:
        """Nobody counts for a route of somebody else."""
        other = self.playbook.worker("1", features=FEATURES).test("sells")
        other.route("http://other.test/", reply=ANSWER, times=1)
        self.test.route("http://h.test/**")
        self.asks()
        answer = handler_action.Fulfill(ANSWER, "sells#1")
        self.worker.sends(inbound.HandlerResult("r1", answer))
        self.playbook.expect(self.expired("sells#1", "r1"))
        self.worker.sends(fulfill())
        self.playbook.take()
        self.assertIsInstance(self.asks("r2", "http://other.test/")[2], records.RequestFulfilled)


class BodyTests(ReplyCase):
    """Requests whose body comes later."""

    def upload(self, request_id: str = "r1") -> None:
        self.agent.sends(structs.replace(start(request_id), body_pending=True))
        seen, asked = self.playbook.take()
        self.assertIsInstance(seen, records.RequestSeen)
        self.assertEqual(asked, self.agent.gets(outbound.NeedBody(request_id)))

    def brings(self, request_id: str = "r1", content: bytes = b"hello") -> Effects:
        self.agent.sends(inbound.RequestBody(request_id, body.from_bytes(content)))
        return self.playbook.take()

    def test_answered_after_it(self) -> None:
        """The body is taken first, as for a handler: history and waits have the whole request."""
        self.test.route(reply=ANSWER)
        self.upload()
        came, told, fulfilled, _ = self.brings()
        self.assertIsInstance(came, records.RequestBodyCame)
        assert isinstance(told, Send) and isinstance(told.message, outbound.RequestReplied)
        self.assertEqual(told.message.request.body_base64, body.from_bytes(b"hello"))
        self.assertIsInstance(fulfilled, records.RequestFulfilled)

    def test_large(self) -> None:
        """A request with a body that is too large for handlers fails, whoever would answer it."""
        self.playbook.coordinator.requests.settings = evolve(SETTINGS, handler_body_bytes=3)
        self.test.route(reply=ANSWER)
        self.upload()
        failed = self.brings()[1]
        assert isinstance(failed, records.RequestFailed)
        self.assertIn("--handler-body-bytes", failed.message)

    def test_changes_meanwhile(self) -> None:
        """A reply that was used up, or outranked, meanwhile is not given."""
        older = self.test.route()
        self.test.route(reply=ANSWER, times=1)
        self.upload()
        self.assertIsInstance(self.asks("r2")[2], records.RequestFulfilled)
        self.assertEqual(self.matched_to(self.brings()), older)
        self.worker.sends(fulfill())
        self.playbook.take()
        newest = self.test.route(reply=ANSWER)
        self.upload("r3")
        self.test.route()
        self.assertEqual(self.matched_to(self.brings("r3")), newest)

    def matched_to(self, effects: Effects) -> str:
        sent = effects[-1]
        assert isinstance(sent, Send) and isinstance(sent.message, outbound.RequestMatched)
        return sent.message.route_id


class KeepingTests(ReplyCase):
    """What may lie here."""

    def refused(self, message: inbound.RouteRegister) -> str:
        self.worker.sends(message)
        (sent,) = self.playbook.take()
        assert isinstance(sent, Send) and isinstance(sent.message, outbound.ProxyError)
        error = sent.message
        self.assertEqual(
            (error.code, error.test_id, error.route_id), ("invalid_message", "buys", "q")
        )
        self.assertEqual(self.playbook.coordinator.registry.routes, {})
        return error.message

    def test_unsendable(self) -> None:
        """What no response can carry is refused for that route alone."""
        register = inbound.RouteRegister("q", "buys", glob("**"), reply=response(101))
        self.assertIn("status is 101", self.refused(register))
        bad = structs.replace(response(), headers={"a b": "c"})
        self.assertIn("'a b'", self.refused(structs.replace(register, reply=bad)))
        socket = structs.replace(register, reply=ANSWER, kind="websocket")
        self.assertIn("only a route for HTTP", self.refused(socket))

    def test_unreadable(self) -> None:
        """An invalid reply is refused with the id of its route."""
        self.worker.sends_text(
            '{"type":"route:register","routeId":"q","testId":"buys","matcher":{},"reply":7}'
        )
        error = outbound.ProxyError("invalid_message", text("reply"), "buys", route_id="q")
        self.playbook.expect(self.worker.gets(error))

    def test_mended(self) -> None:
        """It is mended once: agents and history get the usual status text."""
        self.test.route(reply=structs.replace(ANSWER, status=404, status_text=""))
        fulfilled = self.asks()[1]
        assert isinstance(fulfilled, records.RequestFulfilled)
        self.assertEqual(fulfilled.response.status_text, "Not Found")

    def test_no_room(self) -> None:
        """Beyond the limit for all replies the worker answers; what goes makes room again."""
        self.playbook = Playbook(self, evolve(SETTINGS, reply_bytes=20))
        self.agent = self.playbook.agent()
        self.worker = self.playbook.worker("0", features=FEATURES)
        self.test = self.worker.test("buys")
        first = self.test.route("http://other.test/", reply=ANSWER)
        second = self.test.route(reply=ANSWER, times=1)
        self.assertIn("--reply-bytes", self.playbook.notes[-1])
        self.assertEqual(self.asks(), [self.matched(second)])
        self.worker.sends(inbound.HandlerResult("r1", handler_action.Fulfill(ANSWER, second)))
        self.assertEqual(self.playbook.take()[0], self.expired(second))
        self.worker.sends(inbound.RouteUnregister(first))
        self.playbook.take()
        third = self.test.route(reply=ANSWER)
        self.assertEqual(self.asks("r2"), self.replied(third, "r2"))
        self.assertEqual(len(self.playbook.notes), 1)


class HeaderTests(ReplyCase):
    """Repeats of headers reach agents and observers in the form that they know."""

    def test_lists(self) -> None:
        """A list goes to agents with the feature, a map to the others."""
        pairs = [("set-cookie", "a"), ("set-cookie", "b")]
        given = structs.replace(ANSWER, headers={"set-cookie": "a, b"}, headers_list=pairs)
        self.test.route(reply=given)
        modern = self.playbook.agent("other", features=("headers-list",))
        for agent, wanted in ((self.agent, UNSET), (modern, pairs)):
            agent.sends(start(client_id="app"))
            *_, sent = self.playbook.take()
            assert isinstance(sent, Send) and isinstance(sent.message, outbound.DecisionFulfill)
            self.assertEqual(sent.message.response.headers_list, wanted)
            self.assertEqual(sent.message.response.headers, {"set-cookie": "a, b"})


class RecordedTests(ReplyCase):
    """A route with answers for some methods and URLs, as of a HAR."""

    def recorded(self, *replies: inbound.RecordedReply, **options: Any) -> str:
        register = inbound.RouteRegister("q", "buys", glob("**"), replies=list(replies), **options)
        self.worker.sends(register)
        self.playbook.take()
        return "q"

    def expect_given(self, request_id: str, url: str) -> None:
        told, fulfilled, _ = self.asks(request_id, url)
        assert isinstance(told, Send) and isinstance(fulfilled, records.RequestFulfilled)
        assert isinstance(told.message, outbound.RequestReplied)
        self.assertEqual((told.message.route_id, fulfilled.owner.route_id), ("q", "q"))
        self.assertEqual(fulfilled.response, structs.replace(ANSWER, url=url))

    def expect_matched(self, request_id: str, url: str) -> None:
        (sent,) = self.asks(request_id, url)
        assert isinstance(sent, Send) and isinstance(sent.message, outbound.RequestMatched)
        self.worker.sends(fulfill(request_id))
        self.playbook.take()

    def test_given(self) -> None:
        """The one with exactly this method and URL is given; the worker decides the others."""
        other = structs.replace(ANSWER, status=201)
        self.recorded(
            inbound.RecordedReply("PUT", URL, other),
            inbound.RecordedReply("GET", URL, ANSWER),
            times=1,
        )
        for number in (1, 2):
            self.expect_given(f"r{number}", URL)
        self.expect_matched("r3", f"{URL}?page=2")

    def test_newer(self) -> None:
        """A newer route comes first, as before any other."""
        self.recorded(inbound.RecordedReply("GET", URL, ANSWER))
        newer = self.test.route()
        self.expect_matched("r1", URL)
        self.worker.sends(inbound.RouteUnregister(newer))
        self.playbook.take()
        self.expect_given("r2", URL)

    def test_unsendable(self) -> None:
        """What no response can carry is left to the worker, which is then told of it."""
        bad = structs.replace(ANSWER, headers={"a b": "c"})
        good = inbound.RecordedReply("GET", "http://h.test/b", ANSWER)
        self.recorded(inbound.RecordedReply("GET", URL, bad), good)
        self.expect_matched("r1", URL)
        self.expect_given("r2", "http://h.test/b")

    def test_no_room(self) -> None:
        """What is beyond the limit is left to the worker; the end of the route makes room."""
        self.playbook.coordinator.replies.settings = evolve(SETTINGS, reply_bytes=40)
        urls = [URL, "http://h.test/b"]
        self.recorded(*(inbound.RecordedReply("GET", url, ANSWER) for url in urls))
        self.assertIn("--reply-bytes", self.playbook.notes[-1])
        self.expect_given("r1", urls[0])
        self.expect_matched("r2", urls[1])
        self.worker.sends(inbound.RouteUnregister("q"))
        self.playbook.take()
        self.assertEqual(self.playbook.coordinator.registry.reply_bytes, 0)

    def test_for_websockets(self) -> None:
        """Only a route for HTTP requests has them."""
        reply = inbound.RecordedReply("GET", URL, ANSWER)
        register = inbound.RouteRegister("q", "buys", glob("**"), "websocket", replies=[reply])
        self.worker.sends(register)
        (sent,) = self.playbook.take()
        assert isinstance(sent, Send) and isinstance(sent.message, outbound.ProxyError)
        self.assertIn("only a route for HTTP", sent.message.message)


class StrictReplyTests(ReplyCase):
    """A reply that is used up, in a strict test."""

    def test_used_up_while_a_body_is_awaited(self) -> None:
        """Of two uploads the one for which no reply is left does not go upstream."""
        self.worker.sends(inbound.TestStrict("buys", []))
        self.playbook.take()
        route = inbound.RouteRegister("buys#1", "buys", glob(URL), reply=ANSWER, times=1)
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
