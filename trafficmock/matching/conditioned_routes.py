"""The routes with one condition on the URL, and with conditions on more than that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from trafficmock.matching.request_content import UnreadableBodyError

if TYPE_CHECKING:
    from trafficmock.matching.compiled_matcher import RouteMatcher
    from trafficmock.matching.request_conditions import Discriminator, RequestConditions
    from trafficmock.matching.request_content import RequestContent

#: Keys of routes by the number of their registration, in that order.
Keys = dict[int, str]


@attrs.frozen
class _Conditioned:
    key: str
    methods: frozenset[str]
    conditions: RequestConditions


@attrs.define(eq=False)
class ConditionedRoutes:
    """Finds the routes whose conditions a request meets.

    Routes are looked up by one value that they demand, so that ten thousand of them on one URL
    take about the time of ten. Those that demand none are compared one by one.
    """

    _by_value: dict[Discriminator, dict[Any, dict[int, _Conditioned]]] = attrs.Factory(dict)
    _others: dict[int, _Conditioned] = attrs.Factory(dict)
    _count: int = 0

    def __len__(self) -> int:
        return self._count

    def add(
        self, number: int, key: str, matcher: RouteMatcher, conditions: RequestConditions
    ) -> None:
        """Add a route.

        :param number: the number of its registration.
        """
        self._count += 1
        route, found = _Conditioned(key, matcher.methods, conditions), conditions.discriminator
        if found is None:
            self._others[number] = route
        else:
            place, value = found
            self._by_value.setdefault(place, {}).setdefault(value, {})[number] = route

    def remove(self, number: int, conditions: RequestConditions) -> None:
        """Remove a route."""
        self._count -= 1
        found = conditions.discriminator
        if found is None:
            del self._others[number]
            return
        place, value = found
        by_value = self._by_value[place]
        del by_value[value][number]
        if not by_value[value]:
            del by_value[value]
        if not by_value:
            del self._by_value[place]

    def find(self, method: str, content: RequestContent) -> tuple[Keys, Keys]:
        """Return the routes that a request meets, and those about which its body decides.

        :param method: the method in upper case.
        """
        meeting: Keys = {}
        awaiting: Keys = {}
        groups = [self._others]
        for (part, path), by_value in self._by_value.items():
            if content.awaits_body and part not in ("query", "header"):
                groups += by_value.values()
                continue
            try:
                values = content.values(part, path)
            except UnreadableBodyError:
                continue
            groups += [by_value[each] for each in values if _is_key(each) and each in by_value]
        for group in groups:
            for number, route in group.items():
                if route.methods and method not in route.methods:
                    continue
                holds = route.conditions.hold(content)
                if holds is not False:
                    (awaiting if holds is None else meeting)[number] = route.key
        return dict(sorted(meeting.items())), dict(sorted(awaiting.items()))


def _is_key(value: Any) -> bool:
    return isinstance(value, str | int | float)
