"""Bodies: decoded as Node decodes them, measured without decoding."""

import json
import shutil
import subprocess

from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.wire.payloads import body

LENIENT = {
    "YWJj": b"abc",
    "YW Jj": b"abc",
    "YW\tJj": b"abc",
    "YW*Jj": b"abc",
    "YWJ": b"ab",
    "YW": b"a",
    "Y": b"",
    "": b"",
    "YQ=": b"a",
    "YQ==": b"a",
    "YQ===": b"a",
    "-_-_": b"\xfb\xff\xbf",
    "YW==YWJj": b"a",
    "YWJj=ZGVm": b"abc",
    "=YWJj": b"",
    "Y=Q=": b"",
}
NODE = """
const texts = JSON.parse(require('fs').readFileSync(0, 'utf8'));
process.stdout.write(JSON.stringify(texts.map(t => Buffer.from(t, 'base64').toString('hex'))));
"""


def raw(text: str) -> Raw:
    return Raw(b'"' + text.encode() + b'"')


class BodyTests(SynchronousTestCase):
    """Raw JSON text in, bytes out, and the other way round."""

    def test_lenient(self) -> None:
        """Junk is skipped, the URL alphabet is known, and ``=`` ends the text."""
        for text, content in LENIENT.items():
            self.assertEqual(body.to_bytes(raw(text)), content, text)

    def test_no_body(self) -> None:
        """An absent body and ``null`` are empty, and so is a body of no bytes when written."""
        for none in (body.ABSENT, body.NULL):
            self.assertEqual(body.to_bytes(none), b"")
            self.assertEqual(body.size(none), 0)
            self.assertTrue(body.is_empty(none))
            self.assertTrue(body.is_plain(none))
        self.assertEqual(body.from_bytes(b""), body.NULL)
        self.assertEqual(body.from_bytes(None), body.NULL)

    def test_plain(self) -> None:
        """Only plain ASCII text without an escape may be passed on unread."""
        self.assertTrue(body.is_plain(raw("aGk=")))
        for other in ('"a\\/b"', '"é"', "{}", "7", "true", "[]"):
            self.assertFalse(body.is_plain(Raw(other.encode())), other)

    @given(st.binary())
    def test_round_trip(self, content: bytes) -> None:
        """What is written is read again, and measured right."""
        written = body.from_bytes(content)
        self.assertEqual(body.to_bytes(written), content)
        self.assertEqual(body.size(written), len(content))
        self.assertEqual(body.is_empty(written), not content)

    @given(st.text(alphabet=st.characters(codec="ascii", exclude_characters='"\\')))
    def test_anything_decodes(self, text: str) -> None:
        """No text makes decoding or measuring fail."""
        self.assertIsInstance(body.to_bytes(raw(text)), bytes)
        self.assertGreaterEqual(body.size(raw(text)), 0)

    def test_like_node(self) -> None:
        """The table of lenient cases is what Node itself says."""
        node = shutil.which("node")
        if node is None:
            self.skipTest("there is no node here to ask")
        asked = subprocess.run(
            [node, "-e", NODE],
            input=json.dumps(list(LENIENT)).encode(),
            capture_output=True,
            check=True,
            timeout=20,
        )
        answers = dict(zip(LENIENT, json.loads(asked.stdout), strict=True))
        self.assertEqual(answers, {text: content.hex() for text, content in LENIENT.items()})
