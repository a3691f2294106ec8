"""An index of what demands values at some places of a request."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any, Generic, TypeVar

import attrs

from trafficmock.matching.request_conditions import ContentPlace, DemandedValues
from trafficmock.matching.request_content import RequestContent, UnreadablePartError

T = TypeVar("T")

MOST_COMBINATIONS = 64
"""How many combinations of values are looked up, where names repeat in a request."""


@attrs.define(eq=False)
class LiteralIndex(Generic[T]):
    """Finds the items whose literals a request may have.

    Items with the same places are together, by their values at these places: a request takes one
    look for each such set of places, however many values are wanted there.
    """

    _by_places: dict[tuple[ContentPlace, ...], dict[tuple[Any, ...], dict[int, T]]] = attrs.Factory(
        dict
    )

    def __len__(self) -> int:
        return sum(len(each) for values in self._by_places.values() for each in values.values())

    def add(self, number: int, literals: DemandedValues, item: T) -> None:
        """Add an item by a number of its own."""
        by_values = self._by_places.setdefault(literals.places, {})
        by_values.setdefault(literals.values, {})[number] = item

    def remove(self, number: int, literals: DemandedValues) -> None:
        """Remove an item."""
        by_values = self._by_places[literals.places]
        del by_values[literals.values][number]
        if not by_values[literals.values]:
            del by_values[literals.values]
        if not by_values:
            del self._by_places[literals.places]

    def find(self, content: RequestContent) -> Iterator[tuple[int, T]]:
        """Yield all items whose literals the request has, and perhaps others."""
        for places, by_values in self._by_places.items():
            try:
                values = [_keys(content.values(*place)) for place in places]
            except UnreadablePartError:
                continue
            if math.prod(map(len, values)) > MOST_COMBINATIONS:
                for items in by_values.values():
                    yield from items.items()
                continue
            for wanted in itertools.product(*values):
                yield from by_values.get(wanted, {}).items()


def _keys(values: list[Any]) -> set[Any]:
    return {each for each in values if isinstance(each, str | int | float)}
