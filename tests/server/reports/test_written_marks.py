"""What a worker is about to write."""

import json
from typing import Any

from msgspec import Raw
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.core.effects import Redact
from trafficmock.redaction.redactor import Redactor
from trafficmock.server.reports.slow_work import LARGE
from trafficmock.server.reports.written_marks import redact_steps
from trafficmock.wire.client_message import RedactQuery, RedactResult

REDACTOR = Redactor(key=b"k" * 16)
ENTRY = {"request": {"url": "http://h.test/?token=abc&size=2", "headers": []}}


def answer(**query: Any) -> tuple[int, RedactResult]:
    """Give the steps before the answer, and the answer."""
    *steps, found = redact_steps(Redact("c", RedactQuery("q", **query)), REDACTOR)
    assert isinstance(found, RedactResult)
    return len(steps), found


class RedactTests(SynchronousTestCase):
    """HARs and texts."""

    def test_har(self) -> None:
        """It has the marks of the service, and what is large is left to a thread."""
        har = {"log": {"version": "1.2", "entries": [ENTRY, ENTRY]}}
        self.assertEqual(answer(texts=["a" * LARGE])[0], 0)
        self.assertEqual(answer(texts=["a" * LARGE, "b"])[0], 1)
        steps, found = answer(har=Raw(json.dumps(har).encode()), redact=["query:size"])
        self.assertEqual(steps, 0)
        assert isinstance(found.har, Raw)
        log = json.loads(bytes(found.har))["log"]
        url = f"http://h.test/?token={REDACTOR.mark('abc')}&size={REDACTOR.mark('2')}"
        self.assertEqual([each["request"]["url"] for each in log["entries"]], [url, url])
        self.assertEqual(log["version"], "1.2")

    def test_texts(self) -> None:
        """Each text is redacted; ``off`` leaves all as it was."""
        texts = ["token=abc", "page=1"]
        self.assertEqual(answer(texts=texts)[1].texts, [f"token={REDACTOR.mark('abc')}", "page=1"])
        self.assertEqual(answer(texts=texts, redact=["off"])[1].texts, texts)
        self.assertEqual(answer()[1].texts, [])

    def test_wrong(self) -> None:
        """A word that is no field, and what is no HAR, are said."""
        self.assertIn("'x' is none of header:NAME", str(answer(redact=["x"])[1].error))
        for har in (b"1", b"{}", b'{"log": 1}', b'{"log": {"entries": 1}}', b"["):
            found = answer(har=Raw(har))[1]
            self.assertEqual(found.error, "there is no HAR: it has no list log.entries")
