"""Texts to search in."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET
from twisted.trial.unittest import SynchronousTestCase

from tests.history.builders import diagnostic
from trafficmock.history.search import (
    claimants,
    fold_in_windows,
    header_lines,
    header_weight,
    lines,
)


class TextTests(SynchronousTestCase):
    """Putting texts together."""

    def test_lines(self) -> None:
        """Texts that are absent leave no line."""
        self.assertEqual(lines("a", UNSET, "b"), "a\nb")

    def test_claimants(self) -> None:
        """Claimants are named by title, file and test."""
        named = claimants([diagnostic()])
        self.assertEqual(named, "pays by cash\ntests/cash.spec.ts\ntest-2")
        self.assertIs(claimants(UNSET), UNSET)

    def test_headers(self) -> None:
        """Headers are lines; the ordered pairs win over the map."""
        self.assertEqual(header_lines({"a": "1", "b": "2"}, UNSET), "a:1\nb:2")
        self.assertEqual(header_lines({"a": "1"}, [("A", "1"), ("A", "2")]), "A:1\nA:2")

    def test_weight(self) -> None:
        """The weight of headers is all their characters."""
        self.assertEqual(header_weight({"ab": "cde"}), 5)
        self.assertEqual(header_weight({"ab": "cde"}, [("f", "g")]), 7)

    @given(st.text(max_size=50), st.integers(0, 4))
    def test_windows(self, text: str, repeat: int) -> None:
        """Pieces of a long text are the text, folded."""
        text *= 1 + repeat * 1500
        self.assertEqual("".join(fold_in_windows(text, 0)), text.casefold())
