"""Rules of HTTP that several parts share."""

import re

from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.wire.http_syntax import TCHAR, join_repeats, lines_of, lower_case, on_wire

NAMES = st.sampled_from(["cookie", "Cookie", "accept", "Set-Cookie"])


class JoinTests(SynchronousTestCase):
    """Header lines as a map."""

    def test_cookies(self) -> None:
        """Lines of cookies are one list of cookies; other repeats are lists of values."""
        lines = [("Cookie", "a=1"), ("cookie", "b=2"), ("Accept", "x"), ("accept", "y")]
        self.assertEqual(join_repeats(lines), {"cookie": "a=1; b=2", "accept": "x, y"})

    @given(st.lists(st.tuples(NAMES, st.text("ab", max_size=3))))
    def test_nothing_is_lost(self, lines: list[tuple[str, str]]) -> None:
        """Each value stands in the map, in the order of the lines."""
        joined = join_repeats(lines)
        self.assertEqual(joined.keys(), {name.lower() for name, _ in lines})
        for name, text in joined.items():
            values = [value for other, value in lines if other.lower() == name]
            self.assertEqual(re.split("[;,] ", text), values)


class TokenTests(SynchronousTestCase):
    """Characters of a token."""

    @given(st.characters())
    def test_characters(self, character: str) -> None:
        """Visible ASCII but the delimiters."""
        visible = "!" <= character <= "~" and character not in '"(),/:;<=>?@[\\]{}'
        self.assertEqual(bool(re.fullmatch(TCHAR, character)), visible)


class HeaderLineTests(SynchronousTestCase):
    """The two forms of headers."""

    def test_read(self) -> None:
        """The list counts before the map; overrides may have neither."""
        listed = [("A", "1"), ("a", "2")]
        self.assertEqual(lines_of({"a": "1, 2"}, listed), listed)
        self.assertEqual(lines_of({"A": "1"}, UNSET), [("A", "1")])
        self.assertEqual(lines_of(UNSET, UNSET), [])
        self.assertEqual(lower_case(UNSET, listed), [("a", "1"), ("a", "2")])

    def test_written(self) -> None:
        """The list is only there if a name repeats, in any case."""
        self.assertEqual(on_wire([("A", "1"), ("b", "2")]), ({"a": "1", "b": "2"}, UNSET))
        repeated = (("A", "1"), ("a", "2"))
        self.assertEqual(on_wire(repeated), ({"a": "1, 2"}, [*repeated]))
