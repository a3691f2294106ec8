"""Content codings undone for tests and people."""

import gzip
import zlib
from itertools import islice

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.support.decoded_bodies import decoded
from tests.support.growth import GrowthMixin
from trafficmock.proxy.http1.content_codings import (
    MOST_CODINGS,
    decoding,
)


def header(coding: str) -> list[tuple[bytes, bytes]]:
    return [(b"A", b"b"), (b"Content-Encoding", coding.encode()), (b"Content-Length", b"1")]


def raw(data: bytes) -> bytes:
    engine = zlib.compressobj(wbits=-15)
    return engine.compress(data) + engine.flush()


def in_one_go(coded: bytes, wbits: int) -> bytes | None:
    """Undo a coding without slices or limits."""
    plain = b""
    while coded:
        engine = zlib.decompressobj(wbits)
        try:
            plain += engine.decompress(coded)
        except zlib.error:
            return None
        if not engine.eof:
            return None
        coded = engine.unused_data
    return plain


MEMBERS = st.lists(
    st.tuples(st.binary(max_size=300), st.integers(1, 400), st.integers(0, 9)), max_size=6
).map(lambda parts: b"".join(gzip.compress(text * n, level) for text, n, level in parts))


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

    @given(MEMBERS, st.integers(0, 40), st.binary(max_size=30), st.sampled_from([31, 15, -15]))
    def test_slices(self, coded: bytes, cut: int, more: bytes, wbits: int) -> None:
        """Decoding in slices gives what decoding in one go gives."""
        given_bytes = coded[: len(coded) - cut] + more
        if wbits == 31:
            found, expected = decoded(header("gzip"), given_bytes, 0), in_one_go(given_bytes, 31)
        else:
            plain = in_one_go(coded, 31) or b""
            engine = zlib.compressobj(wbits=wbits)
            given_bytes = engine.compress(plain) + engine.flush()
            found, expected = decoded(header("deflate"), given_bytes, 0), plain
        self.assertEqual(None if found is None else found[1], expected)

    def test_many_codings(self) -> None:
        """Codings one within the other are undone up to a number."""
        text, names = b"abc", "gzip"
        for number in range(1, MOST_CODINGS + 2):
            text = gzip.compress(text)
            found = decoded(header(names), text, 0)
            self.assertEqual(found is not None, number <= MOST_CODINGS, number)
            names += ", gzip"


class EffortTests(GrowthMixin, SynchronousTestCase):
    """What a server can make the decoding cost."""

    def test_members(self) -> None:
        """Members without content cost in proportion to their number."""
        member = gzip.compress(b"")
        self.assert_linear(member.__mul__, lambda coded: decoded(header("gzip"), coded, 0), 25_000)

    def test_blocks(self) -> None:
        """Blocks without content cost in proportion to their number."""
        empty = b"\x00\x00\x00\xff\xff"
        self.assert_linear(
            lambda number: empty * number + raw(b""),
            lambda coded: decoded(header("deflate"), coded, 0),
            300_000,
        )

    def test_output(self) -> None:
        """Content that was compressed well costs in proportion to its size."""
        self.assert_linear(
            lambda size: gzip.compress(b"0" * size),
            lambda coded: decoded(header("gzip"), coded, 0),
            1_000_000,
        )

    def test_steps(self) -> None:
        """A long decoding comes in many steps, also where nothing comes out."""
        for coded in (
            gzip.compress(b"") * 5000,
            gzip.compress(b"0" * 2_000_000),
            gzip.compress(b"0" * 100) * 5000,
        ):
            steps = decoding(header("gzip"), coded, 0)
            self.assertEqual(len(list(islice(steps, 12))), 12)
