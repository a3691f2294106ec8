"""How the functions that a test gives are called."""

from __future__ import annotations

import inspect
from typing import Any

from attrs import define
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.testing.session.arguments.callables import call_handler, check_handler


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
