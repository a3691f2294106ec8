"""Replies of several answers: one request after the other gets the next one."""

from attrs import evolve
from msgspec import UNSET, structs

from tests.core.answers.reply_case import FEATURES, ReplyCase
from tests.support.builders import (
    glob,
    options,
    response,
)
from tests.support.playbook import SETTINGS, Playbook
from trafficmock import records
from trafficmock.core.effects import Send
from trafficmock.wire import inbound, outbound
from trafficmock.wire.payloads.answer import Abort, Fulfill

BUSY = Fulfill(response(503, b"busy"))
RESET = Abort("connectionreset")
PAID = Fulfill(response(201, b"paid"))


class SequenceCase(ReplyCase):
    """An agent, and a test whose mock has a sequence."""

    def asked(self, request_id: str) -> tuple[inbound.Message, outbound.RequestReplied]:
        """Let the application ask; give what it gets, and what the worker is told."""
        effects = self.asks(request_id)
        sent = [effect for effect in effects if isinstance(effect, Send)]
        (decision,) = (each.message for each in sent if each.to == (self.agent.id,))
        told = [each.message for each in sent if each.to == (self.worker.id,)]
        (replied,) = (each for each in told if isinstance(each, outbound.RequestReplied))
        return decision, replied

    def refusal(self, steps: list[Fulfill | Abort]) -> str:
        """Register a sequence; give the text of the refusal."""
        matcher = glob("**")
        self.worker.sends(inbound.RouteRegister("x", "buys", matcher, options=options(*steps)))
        (effect,) = (each for each in self.playbook.take() if isinstance(each, Send))
        assert isinstance(effect.message, outbound.ProxyError)
        return effect.message.message


class AnswerTests(SequenceCase):
    """The answers of a sequence."""

    def test_in_turn(self) -> None:
        """Each request gets the next answer, the last one is repeated, and the worker is told."""
        self.test.route(answers=[BUSY, RESET, PAID])
        kinds: list[object] = []
        for number in range(5):
            decision, replied = self.asked(f"r{number}")
            if isinstance(decision, outbound.DecisionFulfill):
                kinds.append((decision.response.status, replied.step, replied.action))
            else:
                assert isinstance(decision, outbound.DecisionAbort)
                kinds.append((decision.error_code, replied.step, replied.action))
        expected = [
            (503, 0, UNSET),
            ("connectionreset", 1, "abort"),
            (201, 2, UNSET),
            (201, 2, UNSET),
            (201, 2, UNSET),
        ]
        self.assertEqual(kinds, expected)

    def test_failure_is_recorded(self) -> None:
        """The history has a failure of a sequence as one that the test decided."""
        self.test.route(answers=[RESET])
        aborted = [each for each in self.asks() if isinstance(each, records.RequestAborted)]
        (record,) = aborted
        self.assertEqual(record.error_code, "connectionreset")
        assert record.owner is not None
        self.assertEqual(record.owner.test_id, "buys")

    def test_delay(self) -> None:
        """An answer may have a delay of its own, a failure too."""
        late = [Abort("timedout", delay_ms=3000), structs.replace(PAID, delay_ms=2000)]
        self.test.route(answers=late)
        for request_id, seconds in (("r1", 3.0), ("r2", 2.0)):
            before = self.asks(request_id)
            self.assertFalse(
                [e for e in before if isinstance(e, Send) and e.to == (self.agent.id,)]
            )
            self.playbook.wait(seconds)
            sent = [each for each in self.playbook.take() if isinstance(each, Send)]
            decisions = [each for each in sent if each.to == (self.agent.id,)]
            self.assertTrue(decisions, request_id)


class RefusalTests(SequenceCase):
    """Sequences that cannot be registered."""

    def test_invalid(self) -> None:
        """The error names the answer that is wrong."""
        wrong = Fulfill(response(99))
        self.assertIn("answer 2 of the sequence: status must be", self.refusal([BUSY, wrong]))
        self.assertIn("sequence is a list of answers", self.refusal([]))

    def test_room(self) -> None:
        """All answers together count in the limit of replies."""
        self.playbook = Playbook(self, evolve(SETTINGS, reply_bytes=20))
        self.worker = self.playbook.worker("0", features=FEATURES)
        self.worker.test("buys")
        large = Fulfill(response(200, b"x" * 9))
        self.assertIn("--reply-bytes", self.refusal([large, large]))
