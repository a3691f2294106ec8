"""Bodies in the history."""

import base64
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.history.rest_records import BODY_HERE
from trafficmock.history.stored_messages import Body, folded_windows, header_weight, keep
from trafficmock.wire.payloads import body


class KeepTests(SynchronousTestCase):
    """Taking a body out of a message."""

    def test_nothing(self) -> None:
        """No body and an absent one stay what they are."""
        self.assertEqual(keep(body.NULL), (body.NULL, None))
        self.assertEqual(keep(body.ABSENT), (body.ABSENT, None))

    def test_something(self) -> None:
        """A body leaves a mark in its place, and knows its decoded size."""
        place, kept = keep(body.from_bytes(b"hello"))
        assert kept is not None
        self.assertIs(place, BODY_HERE)
        self.assertEqual((kept.content(), kept.size), (b"hello", 5))

    def test_dropped(self) -> None:
        """A dropped body keeps its size and has no content."""
        dropped = Body(b'"aGVsbG8="', 5)
        dropped.drop()
        self.assertTrue(dropped.truncated)
        self.assertEqual((dropped.content(), dropped.size), (b"", 5))


class WindowTests(SynchronousTestCase):
    """Reading a body in pieces."""

    @given(st.binary(max_size=300), st.integers(0, 5))
    def test_anything(self, content: bytes, repeat: int) -> None:
        """The pieces are the text of the body, whatever the bytes and wherever they are cut."""
        content = content * (1 + repeat * 200)
        expected = content.decode(errors="replace").casefold()
        text = Raw(b'"' + base64.b64encode(content) + b'"')
        self.assertEqual("".join(folded_windows(text, 0)), expected)
        self.assertEqual("".join(folded_windows(content, 0)), expected)

    def test_overlap(self) -> None:
        """Each piece begins with the end of the one before."""
        content = b"0123456789" * 20_000
        for kept in (content, Raw(b'"' + base64.b64encode(content) + b'"')):
            pieces = list(folded_windows(kept, 7))
            self.assertGreater(len(pieces), 3)
            for one, other in pairwise(pieces):
                self.assertEqual(one[-7:], other[:7])

    @given(st.binary(max_size=200))
    def test_junk(self, letters: bytes) -> None:
        """Letters that are no base64 are skipped as everywhere else."""
        text = Raw(b'"' + letters + b'"')
        expected = body.to_bytes(text).decode(errors="replace").casefold()
        self.assertEqual("".join(folded_windows(text, 0)), expected)

    def test_padding_ends(self) -> None:
        """Nothing is read after padding, also where a piece ends with it."""
        letters = b"A" * (64 * 1024 - 4) + b"QQ==" + b"QUFB"
        text = Raw(b'"' + letters + b'"')
        expected = body.to_bytes(text).decode(errors="replace").casefold()
        self.assertEqual("".join(folded_windows(text, 0)), expected)


class HeadTests(SynchronousTestCase):
    """The weight of a head."""

    def test_weight(self) -> None:
        """The weight of headers is all their characters."""
        self.assertEqual(header_weight({"ab": "cde"}), 5)
        self.assertEqual(header_weight({"ab": "cde"}, [("f", "g")]), 7)
