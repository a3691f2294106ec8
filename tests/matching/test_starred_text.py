"""Text with stars against the regular expression that says the same."""

import re

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.support.hypothesis_profiles import profile
from trafficmock.matching.starred_text import matches_starred

SHORT = st.text("ab.", max_size=6)


class StarredTextTests(SynchronousTestCase):
    """A star is any text."""

    @profile(300)
    @given(st.lists(SHORT, min_size=1, max_size=4), SHORT)
    def test_as_a_regular_expression(self, pieces: list[str], text: str) -> None:
        """It matches what the pieces with ``.*`` between them match."""
        expected = re.fullmatch(".*".join(map(re.escape, pieces)), text) is not None
        self.assertEqual(matches_starred(pieces, text), expected)

    def test_linear(self) -> None:
        """Many stars cost no more than the text is long."""
        self.assertFalse(matches_starred(["a"] * 1000 + ["b"], "a" * 100_000))
