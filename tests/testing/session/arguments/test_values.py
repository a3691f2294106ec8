"""Values that tests give: functions, delays and headers."""

import enum
import inspect
from typing import Any

from attrs import define
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET
from twisted.trial.unittest import SynchronousTestCase

from tests.support.hypothesis_profiles import profile
from trafficmock.testing.session.arguments import headers as hd
from trafficmock.testing.session.arguments.callables import call_handler, check_handler
from trafficmock.testing.session.arguments.request_overrides import overrides
from trafficmock.wire.http_syntax import lower_case, on_wire
from trafficmock.wire.payloads import body


@define
class Route:
    """A route with its request."""

    request: str = "request"


class CallTests(SynchronousTestCase):
    """A handler gets the request as well, unless it takes the route alone."""

    def test_arguments(self) -> None:
        """The number of its parameters decides, whatever kind of callable it is."""
        route = Route()

        @define  # neither hashable nor weakly referable
        class Callable:
            def __call__(self, route: Any) -> Any:
                return (route,)

        class Unhashable:
            __hash__ = None  # type: ignore[assignment]

            def __call__(self, *given: Any) -> Any:
                return given

        self.assertEqual(call_handler(lambda *given: given, route), (route, "request"))
        self.assertEqual(call_handler(lambda route: (route,), route), (route,))
        self.assertEqual(call_handler(Callable(), route), (route,))
        self.assertEqual(call_handler(Unhashable(), route), (route, "request"))

    def test_signature_is_read_once(self) -> None:
        """A call does not read the signature again: it may run on another thread."""
        kept: list[Any] = []
        handler = kept.append
        check_handler(handler, "(route, request)", most=2)

        def read(function: Any) -> Any:
            raise AssertionError(f"the signature of {function} is read again")

        self.patch(inspect, "signature", read)
        route = Route()
        call_handler(handler, route)
        self.assertEqual(kept, [route])


TEXT = st.text(max_size=20)
PAIRS = st.lists(st.tuples(TEXT, TEXT), max_size=5).map(tuple)


class HeaderTests(SynchronousTestCase):
    """Headers as pairs."""

    @profile(100)
    @given(PAIRS)
    def test_there_and_back(self, pairs: Any) -> None:
        """What goes onto the wire comes back, but for the case of names."""
        mapped, listed = on_wire(hd.lenient(pairs))
        expected = tuple((name.lower(), value) for name, value in pairs)
        self.assertEqual(tuple(lower_case(mapped, listed)), expected)

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
