"""What a worker is about to write."""

from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from trafficmock.core.effects import Redact
from trafficmock.redaction.redactor import Redactor
from trafficmock.server.reports.slow_work import LARGE
from trafficmock.server.reports.written_marks import redact_steps
from trafficmock.wire.client_message import RedactQuery, RedactResult

REDACTOR = Redactor(key=b"k" * 16)


def answer(**query: Any) -> tuple[int, RedactResult]:
    """Give the steps before the answer, and the answer."""
    *steps, found = redact_steps(Redact("c", RedactQuery("q", **query)), REDACTOR)
    assert isinstance(found, RedactResult)
    return len(steps), found


class RedactTests(SynchronousTestCase):
    """Texts."""

    def test_large(self) -> None:
        """What is large is left to a thread."""
        self.assertEqual(answer(texts=["a" * LARGE])[0], 0)
        self.assertEqual(answer(texts=["a" * LARGE, "b"])[0], 1)

    def test_texts(self) -> None:
        """Each text is redacted; ``off`` leaves all as it was."""
        texts = ["token=abc", "page=1"]
        self.assertEqual(answer(texts=texts)[1].texts, [f"token={REDACTOR.mark('abc')}", "page=1"])
        self.assertEqual(answer(texts=texts, redact=["off"])[1].texts, texts)
        self.assertEqual(answer()[1].texts, [])

    def test_wrong(self) -> None:
        """A word that is no field is said."""
        self.assertIn("'x' is none of header:NAME", str(answer(redact=["x"])[1].error))
