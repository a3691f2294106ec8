"""Requirements on bodies in a HAR."""

import base64

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.wire.payloads.har_text import body_fields, decoded_base64, text_bytes

TYPES = (
    "",
    "text/plain",
    "text/html; charset=UTF-8",
    "text/html; charset=iso-8859-1",
    "application/json; charset=utf-16le",
    'text/plain; charset="shift_jis"',
    "text/plain;charset=unknown",
    "text/plain;charset=undefined",
    "text/plain; charset=",
)
documents = st.sampled_from(
    ('<?xml version="1.0" encoding="windows-1251"?>', "<html><meta charset='koi8-r'>", "{")
)


class TextTests(SynchronousTestCase):
    """Texts and their charsets."""

    def test_charset(self) -> None:
        """The bytes are those of the charset, as browsers take its label."""
        for text, content_type, expected in (
            ("café", "text/plain; charset=iso-8859-1", b"caf\xe9"),
            ("20 €", "text/plain; charset=ISO-8859-1", b"20 \x80"),
            ("20 €", "text/plain; charset=us-ascii", b"20 \x80"),
            ("\x81", "text/plain; charset=latin1", b"\x81"),
            ("日本", 'text/plain; charset="Shift_JIS"', "日本".encode("cp932")),
            ("①", "text/plain; charset=shift_jis", b"\x87\x40"),
            ("a€", "text/plain; charset=utf-16le", "a€".encode("utf-16le")),
            ("日本", "text/plain; charset=iso-8859-1", "日本".encode()),
            ("é", "text/plain; charset=no-such", "é".encode()),
            ("é", "text/plain", "é".encode()),
            ("\ud800", "text/plain", b"\xed\xa0\x80"),
            ('<?xml version="1.0" encoding="iso-8859-1"?>é', "text/xml", None),
            ("<meta charset=iso-8859-1>é", "text/html; charset=utf-8", "é".encode()),
            ("<meta charset=iso-8859-1>é", "text/html", b"\xe9"),
            ("<meta charset=utf-16>é", "text/html", ">é".encode()),
            ('{"html": "<meta charset=iso-8859-1>é', "application/json", "é".encode()),
            ("html = '<meta charset=iso-8859-1>é", "text/javascript", "é".encode()),
            ("日", "text/plain; charset=x-sjis", "日".encode("cp932")),
            ("①", "text/plain; charset=Windows-31J", b"\x87\x40"),
            ("ก", "text/plain; charset=windows-874", b"\xa1"),
            ("日", "text/plain; charset=unicode_escape", "日".encode()),
        ):
            sent = text_bytes(text, content_type)
            ending = b"\xe9" if expected is None else expected
            self.assertTrue(sent.endswith(ending), (text, content_type, sent))

    def test_slow_codecs(self) -> None:
        """Codecs of Python that are no charsets cost nothing: one is slow for many characters."""
        text = "".join(map(chr, range(0x80, 0xD800))) * 4
        for codec in ("punycode", "idna", "raw_unicode_escape", "x-Punycode"):
            self.assertEqual(text_bytes(text, f"text/plain; charset={codec}"), text.encode())

    def test_first_type(self) -> None:
        """The first type with a charset counts."""
        self.assertEqual(text_bytes("é", "text/plain", "a/b; charset=iso-8859-1"), b"\xe9")

    @given(st.text(), st.sampled_from(TYPES), st.text())
    def test_any_text(self, text: str, content_type: str, more: str) -> None:
        """Any text has bytes, whatever its type is."""
        self.assertIsInstance(text_bytes(text, content_type + more, more), bytes)


class BodyTests(SynchronousTestCase):
    """Bodies as a HAR has them."""

    @given(st.binary(), st.sampled_from(TYPES), documents, st.text())
    def test_same_bytes(self, content: bytes, content_type: str, before: str, text: str) -> None:
        """A reader gets the bytes that were written."""
        for body in (content, before.encode() + content, before.encode() + text.encode()):
            fields = body_fields(body, content_type)
            if "encoding" in fields:
                self.assertEqual(decoded_base64(fields["text"]), body)
            else:
                self.assertEqual(text_bytes(fields["text"], content_type), body)

    def test_text(self) -> None:
        """UTF-8 is text; what another charset would change is base64."""
        self.assertEqual(body_fields("é".encode(), "text/plain"), {"text": "é"})
        self.assertEqual(body_fields(b"a", "text/plain; charset=latin1"), {"text": "a"})
        fields = body_fields("é".encode(), "text/plain; charset=latin1")
        self.assertEqual(fields, {"text": "w6k=", "encoding": "base64"})

    @given(st.binary())
    def test_base64(self, content: bytes) -> None:
        """Base64 is read without padding, with the alphabet for URLs, and with line breaks."""
        text = base64.b64encode(content).decode()
        for written in (text, text.rstrip("="), text.replace("+", "-").replace("/", "_")):
            self.assertEqual(decoded_base64(f" {written[:4]}\r\n{written[4:]}"), content)
        self.assertRaises(ValueError, decoded_base64, "*" + text)
        self.assertRaises(ValueError, decoded_base64, "abcde")
