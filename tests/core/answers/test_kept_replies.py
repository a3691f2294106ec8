"""Fixed answers: what is kept of them, what agents get, and what is recorded."""

from attrs import evolve
from msgspec import UNSET, structs

from tests.core.answers.reply_case import ANSWER, FEATURES, ReplyCase
from tests.support.builders import (
    glob,
    options,
    start,
    text,
)
from tests.support.playbook import SETTINGS, Playbook
from trafficmock import records
from trafficmock.core.effects import Effects, Send
from trafficmock.wire import inbound, outbound
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.answer import Fulfill


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
        self.playbook.coordinator.state.settings = evolve(SETTINGS, handler_body_bytes=3)
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
        self.assertEqual(self.playbook.coordinator.state.registry.routes, {})
        return error.message

    def test_websocket(self) -> None:
        """A route for WebSockets has no answers."""
        register = inbound.RouteRegister("q", "buys", glob("**"), options=options(Fulfill(ANSWER)))
        socket = structs.replace(register, options=options(Fulfill(ANSWER)), kind="websocket")
        self.assertIn("only a route for HTTP", self.refused(socket))

    def test_unreadable(self) -> None:
        """An invalid reply is refused with the id of its route."""
        self.worker.sends_text(
            '{"type":"route:register","routeId":"q","testId":"buys","matcher":{},"options":7}'
        )
        error = outbound.ProxyError("invalid_message", text("options"), "buys", route_id="q")
        self.playbook.expect(self.worker.gets(error))

    def test_mended(self) -> None:
        """It is mended once: agents and history get the usual status text."""
        self.test.route(reply=structs.replace(ANSWER, status=404, status_text=""))
        fulfilled = self.asks()[1]
        assert isinstance(fulfilled, records.RequestFulfilled)
        self.assertEqual(fulfilled.response.status_text, "Not Found")

    def test_no_room(self) -> None:
        """Beyond the limit for all replies a route is refused; what goes makes room again."""
        self.playbook = Playbook(self, evolve(SETTINGS, reply_bytes=40))
        self.agent = self.playbook.agent()
        self.worker = self.playbook.worker("0", features=FEATURES)
        self.test = self.worker.test("buys")
        first = self.test.route("http://other.test/", reply=ANSWER)
        self.worker.sends(
            inbound.RouteRegister("q", "buys", glob("**"), options=options(Fulfill(ANSWER)))
        )
        (sent,) = self.playbook.take()
        assert isinstance(sent, Send) and isinstance(sent.message, outbound.ProxyError)
        self.assertEqual(sent.message.route_id, "q")
        self.assertIn("the 40 bytes that --reply-bytes allows", sent.message.message)
        self.worker.sends(inbound.RouteUnregister(first))
        self.playbook.take()
        third = self.test.route(reply=ANSWER)
        self.assertEqual(self.asks(), self.replied(third))


class HeaderTests(ReplyCase):
    """Repeats of headers reach agents and observers in the form that they know."""

    def test_lists(self) -> None:
        """A list goes to agents with the feature, a map to the others."""
        pairs = [("set-cookie", "a"), ("set-cookie", "b"), ("content-length", "5")]
        given = structs.replace(ANSWER, headers={}, headers_list=pairs)
        self.test.route(reply=given)
        modern = self.playbook.agent("other", features=("headers-list",))
        for agent, wanted in ((self.agent, UNSET), (modern, pairs)):
            agent.sends(start(client_id="app"))
            *_, sent = self.playbook.take()
            assert isinstance(sent, Send) and isinstance(sent.message, outbound.DecisionFulfill)
            self.assertEqual(sent.message.response.headers_list, wanted)
            joined = {"set-cookie": "a, b", "content-length": "5"}
            self.assertEqual(sent.message.response.headers, joined)
