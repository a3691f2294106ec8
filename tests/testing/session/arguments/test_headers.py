"""Headers that tests read and write, and what a handler changes in a request."""

import enum
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET
from twisted.trial.unittest import SynchronousTestCase

from tests.support.hypothesis_profiles import profile
from trafficmock.testing.session.arguments import headers as hd
from trafficmock.testing.session.arguments.request_overrides import overrides
from trafficmock.wire.payloads import body

TEXT = st.text(max_size=20)
PAIRS = st.lists(st.tuples(TEXT, TEXT), max_size=5).map(tuple)


class HeaderTests(SynchronousTestCase):
    """Headers as pairs."""

    @profile(100)
    @given(PAIRS)
    def test_there_and_back(self, pairs: Any) -> None:
        """What goes onto the wire comes back, but for the case of names."""
        mapped, listed = hd.to_wire(hd.lenient(pairs))
        expected = tuple((name.lower(), value) for name, value in pairs)
        self.assertEqual(hd.from_wire(mapped, listed), expected)

    def test_texts(self) -> None:
        """A text of an enumeration is that text; other values are written as Python does."""

        class Kind(str, enum.Enum):  # noqa: UP042 - whose str() is the name of a member
            JSON = "application/json"

        for read in (hd.lenient, hd.strict):
            self.assertEqual(read({"Accept": Kind.JSON}), (("accept", "application/json"),))
        self.assertEqual(
            hd.lenient([("A", 1), ("a", None), ("a", 2.5)]), (("a", "1"), ("a", "2.5"))
        )


class OverrideTests(SynchronousTestCase):
    """What a handler changes, for the proxy."""

    def test_bodies(self) -> None:
        """Text, bytes and objects are bodies; other falsy values change nothing."""
        for given_body, expected in (
            ("", b""),
            (b"x", b"x"),
            ({}, b"{}"),
            ([], b"[]"),
            (5, b"5"),
            (0, None),
            (False, None),
            (None, None),
        ):
            sent = overrides(url=None, method=None, headers=None, post_data=given_body)
            if expected is None:
                self.assertIs(sent, UNSET, given_body)
            else:
                assert sent is not UNSET
                self.assertEqual(body.to_bytes(sent.body_base64), expected, given_body)

    def test_nothing(self) -> None:
        """Empty texts are no change."""
        self.assertIs(overrides(url="", method="", headers=None, post_data=0), UNSET)
