"""Mocks that break: what the agent, the observers and the history get."""

from typing import Any

from msgspec import UNSET

from tests.core.http.reply_case import FEATURES, ReplyCase
from tests.support.builders import response
from tests.support.playbook import Playbook
from trafficmock import records
from trafficmock.core.effects import Send
from trafficmock.wire import inbound, outbound
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.handler_action import Fault, Fulfill, SequenceStep

CONTENT = b"first and second"


class FaultCase(ReplyCase):
    """An agent that knows faults, and a test whose handler answers."""

    features: tuple[str, ...] = ("context", "faults", "stream")

    def setUp(self) -> None:
        self.playbook = Playbook(self)
        self.agent = self.playbook.agent(features=self.features)
        self.worker = self.playbook.worker("0", features=FEATURES)
        self.test = self.worker.test("buys")

    def handler_answers(self, fault: Fault) -> list[Any]:
        """Let a handler answer with a fault; give what was recorded, and sent to the agent."""
        self.test.route()
        self.asks()
        action = Fulfill(response(200, CONTENT), fault=fault)
        self.worker.sends(inbound.HandlerResult("r1", action, "1"))
        return [
            effect.message if isinstance(effect, Send) else effect
            for effect in self.playbook.take()
            if not isinstance(effect, Send) or effect.to == (self.agent.id,)
        ]


class AgentTests(FaultCase):
    """Agents with the feature."""

    def test_place(self) -> None:
        """The agent gets the whole response, and where it breaks."""
        for given, after in (
            (Fault("truncated"), len(CONTENT) // 2),
            (Fault("truncated", 3), 3),
            (Fault("truncated", 1000), len(CONTENT)),
            (Fault("stall"), 0),
            (Fault("malformed_chunk"), 0),
            (Fault("empty_response"), 0),
            (Fault("connection_reset", 4), 4),
        ):
            self.setUp()
            *recorded, decision = self.handler_answers(given)
            assert isinstance(decision, outbound.DecisionFulfill)
            self.assertEqual(decision.fault, Fault(given.kind, after))
            self.assertEqual(body.to_bytes(decision.response.body_base64), CONTENT)
            _, ended = recorded
            self.assertEqual(body.to_bytes(ended.response.body_base64), CONTENT[:after])
            self.assertIn(given.kind, ended.failure)

    def test_reset_at_once(self) -> None:
        """A reset before the answer is an abort."""
        record, decision = self.handler_answers(Fault("connection_reset"))
        self.assertIsInstance(record, records.RequestAborted)
        self.assertEqual(decision.error_code, "connectionreset")

    def test_mock(self) -> None:
        """An answer of a sequence has a fault, too."""
        step = SequenceStep(Fulfill(response(200, CONTENT), fault=Fault("truncated", 2)))
        self.test.route(sequence=[step])
        sent = [each for each in self.asks() if isinstance(each, Send)]
        (decision,) = (each.message for each in sent if each.to == (self.agent.id,))
        assert isinstance(decision, outbound.DecisionFulfill)
        self.assertEqual(decision.fault, Fault("truncated", 2))

    def test_observer(self) -> None:
        """A test that waits for the response is told that it broke."""
        observer = self.playbook.worker("1", features=FEATURES).test("looks")
        observer.worker.sends(inbound.TestSubscribe(observer.id))
        self.playbook.take()
        self.test.route()
        self.asks()
        action = Fulfill(response(200, CONTENT), fault=Fault("truncated", 3))
        self.worker.sends(inbound.HandlerResult("r1", action, "1"))
        sent = [each.message for each in self.playbook.take() if isinstance(each, Send)]
        (told,) = (each for each in sent if isinstance(each, inbound.RequestResponse))
        assert told.error is not UNSET
        self.assertIn("truncated", told.error.message)


class OtherAgentTests(FaultCase):
    """Agents without the feature, such as that of npm."""

    features = ("context", "stream")

    def test_code(self) -> None:
        """Their requests fail by the code that comes nearest."""
        for fault, code in (
            (Fault("truncated", 3), "connectionreset"),
            (Fault("empty_response"), "connectionreset"),
            (Fault("stall", 3), "timedout"),
        ):
            self.setUp()
            _, decision = self.handler_answers(fault)
            assert isinstance(decision, outbound.DecisionAbort)
            self.assertEqual(decision.error_code, code)
