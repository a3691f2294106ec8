"""Recorded bodies as lines."""

from base64 import b64encode
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.command.output.body_text import MOST_LINES, body_lines, hex_lines


def message(content: bytes) -> dict[str, Any]:
    return {"bodyBase64": b64encode(content).decode()}


class BodyTests(SynchronousTestCase):
    """JSON, text, bytes."""

    def lines(self, content: bytes, *, full: bool = False) -> list[str]:
        return body_lines(message(content), full=full)

    def test_json(self) -> None:
        """JSON is laid out; what only looks like it stays as it is."""
        self.assertEqual(
            self.lines('{"a": ["é"]}'.encode()), ["{", '  "a": [', '    "é"', "  ]", "}"]
        )
        self.assertEqual(self.lines(b"[not json"), ["[not json"])
        self.assertEqual(len(self.lines(b"[" * 100_000)), 1)

    def test_text(self) -> None:
        """Text has its lines, with tabs as blanks and controls escaped."""
        self.assertEqual(self.lines(b"a\tb\r\nc\x1b"), ["a    b", "c\\x1b"])

    def test_bytes(self) -> None:
        """Anything else is shown in hex."""
        expected = f"00000000  {'ff 41':<48} .A"
        self.assertEqual(self.lines(b"\xffA"), [expected])
        self.assertEqual(hex_lines(bytes(17))[1][:12], "00000010  00")

    def test_none(self) -> None:
        """No body has no lines; one that the history did not keep says so."""
        self.assertEqual(body_lines({"bodyBase64": None}, full=False), [])
        dropped = body_lines({"bodyBase64": None, "truncated": True}, full=False)
        self.assertEqual(dropped, ["(the history did not keep the body)"])
        sized = body_lines({"bodyBase64": None, "truncated": True, "bodySize": 9}, full=False)
        self.assertEqual(sized, ["(the history did not keep the body of 9 bytes)"])

    def test_beginning(self) -> None:
        """The beginning that the history kept is shown, and what is missing is said."""
        kept = message(b"abc") | {"truncated": True, "bodySize": 9}
        for full in (True, False):
            self.assertEqual(
                body_lines(kept, full=full),
                ["abc", "(the history kept the first 3 of 9 bytes)"],
            )
        del kept["bodySize"]
        self.assertEqual(
            body_lines(kept, full=True), ["abc", "(the history kept the first 3 bytes)"]
        )

    def test_pending(self) -> None:
        """A body that is still arriving is not shown as none."""
        pending = {"bodyBase64": None, "bodyPending": True}
        self.assertEqual(body_lines(pending, full=False), ["(the body is still arriving)"])

    def test_long(self) -> None:
        """Many lines and long ones are cut, and whole with ``full``."""
        many = b"x\n" * 1000
        self.assertEqual(len(self.lines(many)), MOST_LINES + 1)
        self.assertEqual(len(self.lines(many, full=True)), 1001)
        self.assertEqual(
            len(self.lines(b"x" * 5_000_000)[0]), 500 + len(" (4999500 more characters)")
        )
        self.assertEqual(len(self.lines(b"x" * 5_000, full=True)[0]), 5_000)

    @given(st.binary(max_size=200))
    def test_anything(self, content: bytes) -> None:
        """Whatever was sent, the lines print."""
        for full in (True, False):
            self.assertTrue(all(line.isprintable() for line in self.lines(content, full=full)))
