"""Mocks that break: what the agent, the observers and the history get."""

from typing import Any

from msgspec import UNSET, UnsetType, structs

from tests.core.answers.reply_case import FEATURES, ReplyCase
from tests.support.builders import response
from tests.support.playbook import Playbook
from trafficmock import records
from trafficmock.core.effects import Send
from trafficmock.wire import inbound, outbound
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.answer import (
    AbortCode,
    BodyWay,
    Continue,
    Fault,
    Fulfill,
)
from trafficmock.wire.payloads.serialized_response import FAULT, SerializedError

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
        self.assertEqual(self.playbook.coordinator.state.pending, {})
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
            (Fault("stall"), 0),
            (Fault("malformed_chunk"), 0),
            (Fault("empty_response"), 0),
            (Fault("connection_reset", 4), 4),
        ):
            self.setUp()
            *recorded, decision = self.handler_answers(given)
            assert isinstance(decision, outbound.DecisionFulfill)
            self.assertEqual(decision.way, BodyWay(given.kind, after))
            self.assertEqual(body.to_bytes(decision.response.body_base64), CONTENT)
            _, ended = recorded
            self.assertEqual(body.to_bytes(ended.response.body_base64), CONTENT[:after])
            self.assertIn(given.kind, ended.failure)

    def test_behind_the_end(self) -> None:
        """A fault behind the end of the body does not happen, and the history says so."""
        for kind in ("truncated", "stall", "connection_reset"):
            for after in (len(CONTENT), 1000):
                self.setUp()
                fulfilled, note, decision = self.handler_answers(Fault(kind, after))
                self.assertEqual(decision.way, UNSET)
                self.assertEqual(body.to_bytes(fulfilled.response.body_base64), CONTENT)
                self.assertEqual(
                    (fulfilled.body_pending, fulfilled.response.truncated), (False, UNSET)
                )
                self.assertIsInstance(note, records.AnswerNoted)
                self.assertIn(f"the fault {kind} of the test, after {after} bytes", note.detail)

    def test_reset_at_once(self) -> None:
        """A reset before the answer is an abort."""
        record, decision = self.handler_answers(Fault("connection_reset"))
        self.assertIsInstance(record, records.RequestAborted)
        self.assertTrue(record.by_fault)
        self.assertEqual(decision.error_code, "connectionreset")

    def test_mock(self) -> None:
        """An answer of a sequence has a fault, too."""
        step = Fulfill(response(200, CONTENT), fault=Fault("truncated", 2))
        self.test.route(answers=[step])
        sent = [each for each in self.asks() if isinstance(each, Send)]
        (decision,) = (each.message for each in sent if each.to == (self.agent.id,))
        assert isinstance(decision, outbound.DecisionFulfill)
        self.assertEqual(decision.way, BodyWay("truncated", 2))

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


class WayBackCase(FaultCase):
    """A test whose handler lets the real server answer."""

    def handler_continues(
        self, fault: Fault | UnsetType = UNSET, rate: int | UnsetType = UNSET
    ) -> list[Any]:
        """Let a handler continue; give what is sent to the agent."""
        self.test.route()
        self.asks()
        self.worker.sends(inbound.HandlerResult("r1", Continue(fault=fault, rate=rate), "1"))
        sent = [each for each in self.playbook.take() if isinstance(each, Send)]
        return [each.message for each in sent if each.to == (self.agent.id,)]


class WayBackTests(WayBackCase):
    """Faults and rates of real answers."""

    def test_agent_breaks_it(self) -> None:
        """The agent is told of the fault, also of a reset in the place of an answer."""
        for fault, after in (
            (Fault("connection_reset"), UNSET),
            (Fault("empty_response"), UNSET),
            (Fault("truncated", 3), 3),
            (Fault("truncated"), UNSET),
            (Fault("stall"), 0),
        ):
            self.setUp()
            (decision,) = self.handler_continues(fault)
            way = BodyWay(fault.kind, after)
            self.assertEqual(decision, outbound.DecisionContinue("r1", way=way))

    def test_rate(self) -> None:
        """The agent is told of the rate; a fault goes before."""
        (decision,) = self.handler_continues(rate=5)
        self.assertEqual(decision, outbound.DecisionContinue("r1", way=BodyWay(slice=1, pause=200)))
        self.setUp()
        (decision,) = self.handler_continues(Fault("stall"), 5)
        self.assertEqual(decision, outbound.DecisionContinue("r1", way=BodyWay("stall", 0)))

    def test_behind_the_end(self) -> None:
        """The history has the whole answer, and says that the fault did not happen."""
        self.handler_continues(Fault("truncated", 3))
        self.agent.sends(inbound.RequestResponse("r1", ok=True, response=response(200, b"fi")))
        reported, note = (each for each in self.playbook.take() if not isinstance(each, Send))
        self.assertIsInstance(reported, records.ResponseReported)
        self.assertIsInstance(note, records.AnswerNoted)

    def test_report(self) -> None:
        """The history has the part that the application got, and the fault."""
        self.handler_continues(Fault("truncated", 3))
        error = SerializedError("Error", "the fault truncated", code=FAULT)
        part = structs.replace(response(200, b"fir"), truncated=True, body_size=3)
        report = inbound.RequestResponse("r1", ok=False, response=part, error=error)
        self.agent.sends(report)
        (recorded,) = [
            each for each in self.playbook.take() if isinstance(each, records.ResponseReported)
        ]
        self.assertEqual((recorded.response, recorded.error), (part, error))


class WayBackWithoutFeatureTests(WayBackCase):
    """Agents that do not know faults of real answers."""

    features = ("context", "stream")

    def test_fault(self) -> None:
        """The request fails before it is sent."""
        codes: tuple[tuple[Fault, AbortCode], ...] = (
            (Fault("connection_reset"), "connectionreset"),
            (Fault("stall", 3), "timedout"),
        )
        for fault, code in codes:
            self.setUp()
            (decision,) = self.handler_continues(fault)
            text = f"the fault {fault.kind}"
            self.assertEqual(decision, outbound.DecisionAbort("r1", code, text))

    def test_rate(self) -> None:
        """The answer comes as fast as it is."""
        self.assertEqual(self.handler_continues(rate=5), [outbound.DecisionContinue("r1")])
