"""Bodies: decoded as Node decodes them, measured without decoding."""

import json
import shutil
import subprocess

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.wire.codec import is_plain
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
            self.assertTrue(is_plain(none))
        self.assertEqual(body.from_bytes(b""), body.NULL)
        self.assertEqual(body.from_bytes(None), body.NULL)

    def test_plain(self) -> None:
        """Only plain ASCII text without an escape may be passed on unread."""
        self.assertTrue(is_plain(raw("aGk=")))
        for other in ('"a\\/b"', '"é"', "{}", "7", "true", "[]"):
            self.assertFalse(is_plain(Raw(other.encode())), other)

    @given(st.binary())
    def test_round_trip(self, content: bytes) -> None:
        """Bytes are measured as the text that they become, and that text is read again."""
        given = body.from_bytes(content)
        written = Raw(body.to_text(given))
        self.assertEqual(written, Raw(msgspec.json.encode(given)))
        for each in (given, written):
            self.assertEqual(body.to_bytes(each), content)
            self.assertEqual(body.size(each), len(content))
            self.assertEqual(body.is_empty(each), not content)
            self.assertEqual(body.letters(each), len(bytes(written)))

    @given(st.binary(min_size=1), st.integers(1, 200))
    def test_limits(self, content: bytes, limit: int) -> None:
        """Bytes are compared with a limit, and cut at it, as their text is."""
        text = Raw(body.to_text(content))
        self.assertEqual(body.is_longer(content, limit), len(content) > limit)
        self.assertEqual(body.is_longer(text, limit), len(content) > limit)
        if len(content) > limit:
            cut = body.to_bytes(body.beginning(content, limit))
            self.assertEqual(cut, body.to_bytes(body.beginning(text, limit)))
            self.assertEqual(cut, content[: limit // 3 * 3])

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
