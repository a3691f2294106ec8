"""Fixed answers: what is kept of them, what agents get, and what is recorded."""

from typing import Any

from attrs import evolve
from msgspec import UNSET, structs

from tests.core.http.reply_case import ANSWER, FEATURES, ReplyCase
from tests.support.builders import (
    URL,
    glob,
    response,
    start,
    text,
)
from tests.support.playbook import SETTINGS, Playbook
from trafficmock import records
from trafficmock.core.effects import Effects, Send
from trafficmock.wire import inbound, outbound
from trafficmock.wire.payloads import body


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
        """A reply that was used up meanwhile is not given."""
        older = self.test.route()
        self.test.route(reply=ANSWER, times=1)
        self.upload()
        self.assertIsInstance(self.asks("r2")[2], records.RequestFulfilled)
        sent = self.brings()[-1]
        assert isinstance(sent, Send) and isinstance(sent.message, outbound.HandlerRun)
        self.assertEqual(sent.message.route_id, older)


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
        self.assertEqual(self.asks(), [self.runs(second), self.expired(second)])
        self.fulfills()
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
        assert isinstance(sent, Send) and isinstance(sent.message, outbound.HandlerRun)
        self.fulfills(request_id, sent.message.run_id)

    def test_given(self) -> None:
        """The one with exactly this method and URL is given; the worker decides the others."""
        other = structs.replace(ANSWER, status=201)
        self.recorded(
            inbound.RecordedReply("PUT", URL, other), inbound.RecordedReply("GET", URL, ANSWER)
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
