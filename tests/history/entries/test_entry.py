"""The JSON cache of entries."""

import json
from base64 import b64decode

from msgspec import Raw, structs
from twisted.trial.unittest import SynchronousTestCase

from tests.history.builders import OWNER, request, response
from trafficmock import records
from trafficmock.history.entry import CACHED_JSON
from trafficmock.history.request_entry import RequestEntry
from trafficmock.history.store import History
from trafficmock.wire.payloads import body


def remembered(
    headers: dict[str, str] | None = None, *, as_bytes: bool = False
) -> tuple[History, RequestEntry]:
    """Make the entry of a request with a large body, which came as JSON text or as bytes."""
    history = History()
    asked = request(content=b"x" * 100_000, headers=headers)
    if not as_bytes:
        asked = structs.replace(asked, body_base64=Raw(body.to_text(asked.body_base64)))
    history.record(records.RequestSeen("r", "app", asked), 1)
    entry = history.requests.get("r")
    assert entry is not None
    return history, entry


class CacheTests(SynchronousTestCase):
    """An entry that did not change is not encoded again."""

    def test_unchanged(self) -> None:
        """Two readers get the very same pieces, and the one copy of the body among them."""
        _, entry = remembered()
        first, second = list(entry.chunks()), list(entry.chunks())
        assert entry.request_body is not None
        self.assertIs(first[1], entry.request_body.stored)
        for one, other in zip(first, second, strict=True):
            self.assertIs(one, other)
        self.assertIs(entry.summary_json(), entry.summary_json())

    def test_changed(self) -> None:
        """A change is seen by the next reader, in both forms."""
        history, entry = remembered()
        before = entry.to_json(), entry.summary_json()
        history.record(records.RequestFulfilled("r", OWNER, response()), 2)
        self.assertNotIn(b'"pending"', entry.to_json() + entry.summary_json())
        self.assertIn(b'"pending"', before[0])
        self.assertIn(b'"pending"', before[1])

    def test_bytes_are_not_cached(self) -> None:
        """The text of a body that is bytes is built per read, lest it be kept twice."""
        _, entry = remembered(as_bytes=True)
        whole = json.loads(entry.to_json())
        self.assertEqual(b64decode(whole["request"]["bodyBase64"]), b"x" * 100_000)
        self.assertIsNone(entry._chunks)

    def test_long_heads_are_not_cached(self) -> None:
        """A head that is long itself is built per read, lest it be kept twice."""
        _, entry = remembered({"h": "v" * CACHED_JSON})
        list(entry.chunks())
        self.assertIsNone(entry._chunks)
