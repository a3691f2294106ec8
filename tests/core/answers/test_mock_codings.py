"""Whether the body of a mock is what its header says."""

import gzip
import zlib

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.core.answers.mock_codings import is_plain

NOISE = bytes(range(256)) * 16 * 1024
BROTLI = b"\x0b\x02\x80hello\x03"
"""What Brotli makes of ``hello``."""
TEXTS = (
    *(b'{"a": 1}', b"[]", b"hello", "Grüße\r\n".encode()),
    *(b"<html>" + b" " * 20_000, b"x" * 16_383 + "ü".encode()),
)


def raw_deflate(content: bytes) -> bytes:
    engine = zlib.compressobj(wbits=-15)
    return engine.compress(content) + engine.flush()


class CodingTests(SynchronousTestCase):
    """:func:`trafficmock.core.answers.mock_codings.is_plain`."""

    def test_coded(self) -> None:
        """What is coded stays, however long, and so does what nobody can judge."""
        for coding, content in (
            ("gzip", gzip.compress(b"abc")),
            ("gzip", gzip.compress(NOISE)),
            ("x-gzip", gzip.compress(b"abc")[:-4]),
            ("br, gzip", gzip.compress(b"abc")),
            ("deflate", zlib.compress(NOISE)),
            ("deflate", raw_deflate(b"abc")),
            ("deflate", raw_deflate(NOISE)),
            ("deflate", raw_deflate(b"a" * 10 * 2**20)),
            ("br", BROTLI),
            ("gzip, br", BROTLI),
            ("br, identity", BROTLI),
            ("zstd", b"\x28\xb5\x2f\xfd\x04\0"),
            ("zst", b"\x50\x2a\x4d\x18"),
            ("aes128gcm", NOISE),
            ("identity", b"abc"),
            ("", b"abc"),
            (" , ", b"abc"),
        ):
            self.assertFalse(is_plain(content, coding), coding)

    def test_plain(self) -> None:
        """A text is in no coding."""
        for coding in (
            *("gzip", "X-GZIP", "deflate", "deflate, gzip", "br, deflate"),
            *("br", "BR", "zstd", "gzip, br", "br, zstd", "unknown", "br, identity"),
        ):
            for text in TEXTS:
                self.assertTrue(is_plain(text, coding), (coding, text[:20]))

    def test_binary(self) -> None:
        """Zstd has a magic number, so another binary body is not in it."""
        self.assertTrue(is_plain(NOISE, "zstd"))

    @given(st.binary(min_size=1, max_size=300))
    def test_anything(self, content: bytes) -> None:
        """No body raises, and what can be decoded is coded."""
        for coding, encode in (("gzip", gzip.compress), ("deflate", raw_deflate)):
            is_plain(content, coding)
            self.assertFalse(is_plain(encode(content), coding))
