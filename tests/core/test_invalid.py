"""Messages that are not valid: the sender is told, and what they meant is settled."""

import json

from twisted.trial.unittest import SynchronousTestCase

from tests.support.builders import claims, open_socket, predicate, report, start, text
from tests.support.playbook import Playbook
from trafficmock.records import Owner, RequestFailed
from trafficmock.wire import inbound, outbound
from trafficmock.wire.payloads.serialized_response import SerializedError

OWNER = Owner("buys", "buys#1", "buys", "buys.spec.ts")


class InvalidTests(SynchronousTestCase):
    """One agent, two workers with a test each."""

    def setUp(self) -> None:
        self.playbook = Playbook(self)
        self.agent, self.worker = self.playbook.agent(), self.playbook.worker("0")
        self.other = self.playbook.worker("1")
        self.worker.test("buys").route("**")
        self.other.test("sells")

    def complaint(self, message: str, test_id: str | None = None) -> outbound.ProxyError:
        if test_id is None:
            return outbound.ProxyError("invalid_message", message)
        return outbound.ProxyError("invalid_message", message, test_id)

    def test_handler_result(self) -> None:
        """A result that is not valid fails its request, and the test that sent it."""
        for result in (
            {"action": "fulfill", "response": {"status": 1000}},
            {"action": "abort", "errorCode": "accessdenied"},
            {"action": "continue", "overrides": None},
            {"action": "passthrough"},
            "fulfill",
            None,
        ):
            self.agent.sends(start())
            self.playbook.take()
            before = self.playbook.tables()
            message = {"type": "handler:result", "requestId": "r1", "result": result}
            self.other.sends_text(json.dumps(message))
            self.playbook.expect(self.other.gets(self.complaint(text("handler:result"))))
            self.assertEqual(self.playbook.tables(), before)
            self.worker.sends_text(json.dumps(message))
            record, decision, _, answer = self.playbook.take()
            reason = text("handler:result", "$.result")
            self.assertEqual(
                record,
                self.playbook.with_route(
                    RequestFailed("r1", OWNER, "handler_failed", reason, None)
                ),
            )
            error = outbound.DecisionError("r1", "handler_failed", reason)
            self.assertEqual(decision, self.agent.gets(error))
            self.assertEqual(answer, self.worker.gets(self.complaint(reason, "buys")))

    def test_late_handler_result(self) -> None:
        """A result that is not valid, for a request that is settled, changes nothing."""
        self.worker.sends_text('{"type":"handler:result","requestId":"r1"}')
        self.playbook.expect(self.worker.gets(self.complaint(text("`result`"))))

    def test_names_the_test(self) -> None:
        """A complaint names the test that the message was about, so that it fails no other."""
        for message in (
            {"type": "route:register", "routeId": "q", "testId": "buys", "matcher": None},
            {"type": "request:claim-result", "requestId": "r", "testId": "buys"},
            {"type": "test:register", "testId": "buys"},
        ):
            self.worker.sends_text(json.dumps(message))
            self.playbook.expect(
                self.worker.gets(self.complaint(text(str(message["type"])), "buys"))
            )

    def test_names_the_owner_of_the_socket(self) -> None:
        """A bad frame is the fault of the test that owns the socket."""
        self.worker.test("chats").route("**", kind="websocket")
        self.agent.sends(open_socket())
        self.playbook.take()
        self.worker.sends(inbound.SocketClaimResult("s1", "chats", [inbound.RouteMatch("chats#1")]))
        self.playbook.take()
        self.worker.sends_text('{"type":"ws:sendToPage","socketId":"s1","data":7}')
        self.playbook.expect(self.worker.gets(self.complaint(text("ws:sendToPage"), "chats")))
        self.other.sends_text('{"type":"ws:sendToPage","socketId":"s1","data":7}')
        self.playbook.expect(self.other.gets(self.complaint(text("ws:sendToPage"))))

    def test_no_json(self) -> None:
        """What cannot be read at all names nobody."""
        for peer in (self.agent, self.worker):
            for message in ("", "{", "[]", "7", '{"type":"nope"}'):
                peer.sends_text(message)
                self.playbook.expect(peer.gets(self.complaint(text())))

    def test_request(self) -> None:
        """A request that is not valid is refused at once, unless its id is at stake."""
        bad = '{"type":"request:start","requestId":"r1","clientId":"app","request":{}}'
        message = text("request:start", "`url`")
        refusal = self.agent.gets(outbound.DecisionError("r1", "internal", message))
        complaint = self.agent.gets(self.complaint(message))
        self.agent.sends_text(bad)
        self.playbook.expect(refusal, complaint)
        self.agent.sends(start())
        self.playbook.take()
        self.agent.sends_text(bad)
        self.playbook.expect(complaint)
        self.agent.sends_text(bad.replace('"r1"', "null"))
        self.playbook.expect(self.agent.gets(self.complaint(text("$.requestId"))))
        self.worker.sends_text(bad)
        self.playbook.expect(self.worker.gets(self.complaint(message, "buys")))

    def test_socket(self) -> None:
        """A WebSocket that is not valid is refused at once, unless its id is at stake."""
        self.worker.test("chats").route(predicate(), kind="websocket")
        bad = '{"type":"ws:connection","socketId":"s1","url":"ws://h.test","clientId":"app"}'
        message = text("ws:connection", "`protocols`")
        refusal = self.agent.gets(outbound.SocketError("s1", "internal", message))
        complaint = self.agent.gets(self.complaint(message))
        self.agent.sends_text(bad)
        self.playbook.expect(refusal, complaint)
        self.agent.sends(open_socket())
        self.playbook.take()
        self.agent.sends_text(bad)
        self.playbook.expect(complaint)

    def test_claim_answer(self) -> None:
        """An invalid answer does not count; the round still has its bound."""
        self.worker.sends(inbound.RouteUnregister("buys#1"))
        self.playbook.take()
        self.worker.sends(inbound.RouteRegister("q", "buys", predicate()))
        self.playbook.take()
        self.agent.sends(start())
        self.playbook.take()
        bad = '{"type":"request:claim-result","requestId":"r1","testId":"buys","matches":["q"]}'
        self.worker.sends_text(bad)
        self.playbook.expect(self.worker.gets(self.complaint(text("$.matches"), "buys")))
        self.worker.sends(claims("r1", "buys", "q"))
        (matched,) = self.playbook.take()
        self.assertIn("RequestMatched", repr(matched))

    def test_report(self) -> None:
        """A report that is not valid is recorded as a failure, where one is awaited."""
        self.worker.sends(inbound.RouteUnregister("buys#1"))
        self.playbook.take()
        self.agent.sends(start())
        self.playbook.take()
        bad = '{"type":"request:response","requestId":"r1","ok":true,"response":{"status":999}}'
        self.worker.sends_text(bad)
        self.playbook.take()
        self.agent.sends_text(bad)
        record, news, _ = self.playbook.take()
        error = SerializedError("Error", text("$.response"))
        self.assertIn("ResponseReported", repr(record))
        self.assertEqual(getattr(news, "message", None), report("r1", error))
        self.agent.sends_text(bad)
        self.playbook.expect(self.agent.gets(self.complaint(text("$.response"))))
