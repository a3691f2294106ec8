"""Headers that tests read and write, and what a handler changes in a request."""

import enum
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.support.hypothesis_profiles import profile
from trafficmock.testing.session.arguments import headers as hd
from trafficmock.testing.session.arguments import request_overrides as ch
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

    @profile(100)
    @given(PAIRS, PAIRS)
    def test_forbidden_stay(self, original: Any, changed: Any) -> None:
        """What a handler may not set is the original's, whatever it says."""
        names = ("cookie", "sec-x", "proxy-y", "host")
        changed = (*changed, *((name, "evil") for name in names))
        original = (*original, ("cookie", "a=1"))
        result = hd.for_continue(original, changed)
        self.assertNotIn("evil", [value for name, value in result if name in names])
        self.assertEqual(hd.get(result, "Cookie"), hd.get(original, "cookie"))

    def test_texts(self) -> None:
        """A text of an enumeration is that text; other values are written as Python does."""

        class Kind(str, enum.Enum):  # noqa: UP042 - whose str() is the name of a member
            JSON = "application/json"

        for read in (hd.lenient, hd.strict):
            self.assertEqual(read({"Accept": Kind.JSON}), (("accept", "application/json"),))
        self.assertEqual(
            hd.lenient([("A", 1), ("a", None), ("a", 2.5)]), (("a", "1"), ("a", "2.5"))
        )

    def test_method_overrides(self) -> None:
        """The header that overrides a method is forbidden for some methods only."""
        self.assertTrue(hd.is_forbidden("x-http-method", "get, TRACE"))
        self.assertFalse(hd.is_forbidden("x-http-method", "PATCH"))


class ChangeTests(SynchronousTestCase):
    """What handlers change adds up."""

    def merged(self, before: ch.Changes = ch.NO_CHANGES, **given: Any) -> ch.Changes:
        nothing = dict.fromkeys(("url", "method", "headers", "post_data"))
        return ch.merge(before, **{**nothing, **given})

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
            self.assertEqual(self.merged(post_data=given_body).body, expected, given_body)

    def test_nothing(self) -> None:
        """No change is no key on the wire."""
        self.assertIsNone(ch.for_continue((), self.merged(method="", post_data=0)))
        self.assertIsNone(ch.for_fetch((), self.merged()))

    def test_length(self) -> None:
        """A new body brings its length; an empty one removes it, and is null on the wire."""
        original = (("content-length", "5"), ("x", "1"))
        sent = ch.for_continue(original, self.merged(post_data="ab"))
        assert sent is not None
        self.assertEqual(sent.headers, {"content-length": "2", "x": "1"})
        sent = ch.for_continue(original, self.merged(post_data=""))
        assert sent is not None
        self.assertEqual((sent.headers, sent.body_base64), ({"x": "1"}, body.NULL))
