"""Calls the functions that a test gave in the place of values of a request."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import Any

from trafficmock.testing.errors import UsageError
from trafficmock.testing.session.arguments.callables import describe
from trafficmock.testing.session.arguments.match_conditions import ValueCheck
from trafficmock.wire.payloads.serialized_matcher import PlacedValues


def all_met(checks: Iterable[ValueCheck], values: Iterable[PlacedValues]) -> bool:
    """Return whether each function accepts a value of its place; of a name one that repeats.

    :param values: what the proxy found at the places of the functions.
    :raises UsageError: a function returns something to be awaited.
    """
    found = {(each.part, *each.path): each.values for each in values}
    return all(
        any(_accepts(each, value) for value in found[each.place.part, *each.place.path])
        for each in checks
    )


def _accepts(check: ValueCheck, value: Any) -> bool:
    accepted = check.test(value)
    if inspect.isawaitable(accepted):
        # As a value it would be true, whatever it comes to.
        if inspect.iscoroutine(accepted):
            accepted.close()
        what = describe(check.test, "function")
        raise UsageError(f"{what} must return whether the value matches, and nothing to be awaited")
    return bool(accepted)
