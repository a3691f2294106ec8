"""What can be told of a message by its beginning."""

import json

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.wire.invalid_message import too_long


class TooLongTests(SynchronousTestCase):
    """The error of a message that was not read."""

    def test_ids(self) -> None:
        """Type and ids are found although the rest is missing."""
        message = {"type": "fetch:result", "requestId": 'r"1', "fetchId": "f", "ok": True}
        error = too_long(json.dumps(message).encode()[:-5], 100)
        self.assertEqual(error.type, "fetch:result")
        self.assertEqual(error.ids, {"requestId": 'r"1', "fetchId": "f"})
        self.assertIn("more than 100 bytes; --max-frame-bytes", str(error))

    def test_first_counts(self) -> None:
        """What stands deeper in the message, or in a text, is not taken for its own."""
        inner = json.dumps({"requestId": "text"})
        message = {"requestId": "own", "request": {"requestId": "deeper", "url": inner}}
        self.assertEqual(too_long(json.dumps(message).encode(), 1).ids, {"requestId": "own"})
        self.assertEqual(too_long(json.dumps({"url": inner}).encode(), 1).ids, {})

    def test_unknown(self) -> None:
        """Where nothing can be told, nothing is."""
        error = too_long(b'{"request":{"url":"' + b"x" * 100, 1)
        self.assertEqual((error.type, error.ids), ("", {}))

    @given(st.binary())
    def test_anything(self, head: bytes) -> None:
        """No head is too strange."""
        self.assertEqual(too_long(head + b'"type":"\xff"', 1).code, "invalid_message")
