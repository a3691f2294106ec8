"""Content codings undone for tests and people."""

import gzip
import zlib

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.net.proxy.codings import decoded


def header(coding: str) -> list[tuple[bytes, bytes]]:
    return [(b"A", b"b"), (b"Content-Encoding", coding.encode()), (b"Content-Length", b"1")]


def raw(data: bytes) -> bytes:
    engine = zlib.compressobj(wbits=-15)
    return engine.compress(data) + engine.flush()


class DecodingTests(SynchronousTestCase):
    """gzip and deflate."""

    def test_known(self) -> None:
        """Both forms of deflate, several members of gzip, and layers are undone."""
        for coding, coded, plain in (
            ("gzip", gzip.compress(b"abc"), b"abc"),
            ("X-GZIP", gzip.compress(b"a") + gzip.compress(b"b"), b"ab"),
            ("deflate", zlib.compress(b"abc"), b"abc"),
            ("deflate", raw(b"abc"), b"abc"),
            ("deflate, gzip", gzip.compress(zlib.compress(b"abc")), b"abc"),
        ):
            lines = [(b"A", b"b"), (b"content-length", b"%d" % len(plain))]
            self.assertEqual(decoded(header(coding), coded, 0), (lines, plain), coding)

    def test_left_alone(self) -> None:
        """What is not known, broken or cut stays as it is."""
        for coding, coded in (
            ("br", b"x"),
            ("gzip", b"x"),
            ("gzip", gzip.compress(b"abc" * 100)[:-9]),
            ("gzip, br", b"x"),
            ("", b"x"),
        ):
            self.assertIsNone(decoded(header(coding), coded, 0), coding)

    def test_bomb(self) -> None:
        """A small body that would become a very large one stays as it is."""
        coded = gzip.compress(b"0" * 1000)
        self.assertIsNone(decoded(header("gzip"), coded, 999))
        self.assertIsNotNone(decoded(header("gzip"), coded, 1000))
        self.assertIsNone(decoded(header("gzip"), gzip.compress(b"0" * 600) * 2, 1000))

    @given(st.binary(max_size=60), st.sampled_from(["gzip", "deflate"]), st.integers(0, 100))
    def test_any_input(self, coded: bytes, coding: str, limit: int) -> None:
        """No bytes raise anything, and the limit holds."""
        found = decoded(header(coding), coded, limit)
        self.assertTrue(found is None or not limit or len(found[1]) <= limit)
