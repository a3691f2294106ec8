"""The routes with one condition on the URL, and with conditions on more than that."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import KeysView
from typing import Any

import attrs

from trafficmock.matching.compiled_matcher import RouteMatcher
from trafficmock.matching.literal_index import LiteralIndex
from trafficmock.matching.request_conditions import RequestConditions
from trafficmock.matching.request_content import RequestContent

#: Keys of routes by the number of their registration, in that order.
Keys = dict[int, str]

#: The owners of routes, as they are now and change.
Owners = KeysView[str]


@attrs.define(eq=False)
class _SameHead:
    """The routes with the same methods and the same conditions on the head of a request.

    :param number: that in the index of heads.
    :param conditions: those of any of the routes; the head's are the same for all.
    :ivar without_body: the routes without conditions on the body.
    :ivar owners: the number of routes with such conditions, by their owner.
    """

    number: int
    methods: frozenset[str]
    conditions: RequestConditions
    without_body: Keys = attrs.field(init=False, factory=dict)
    with_body: LiteralIndex[tuple[str, RequestConditions]] = attrs.field(
        init=False, factory=LiteralIndex
    )
    owners: Counter[str] = attrs.field(init=False, factory=Counter)


@attrs.define(eq=False)
class ConditionedRoutes:
    """Finds the routes whose conditions a request meets.

    Routes are looked up by the values that they demand, so that ten thousand of them on one URL
    take about the time of ten. Those that demand none are compared one by one.
    """

    _same_heads: dict[tuple[Any, ...], _SameHead] = attrs.Factory(dict)
    _heads: LiteralIndex[_SameHead] = attrs.Factory(LiteralIndex)
    _numbers: itertools.count[int] = attrs.Factory(itertools.count)
    _count: int = 0

    def __len__(self) -> int:
        return self._count

    def add(
        self,
        number: int,
        key: str,
        matcher: RouteMatcher,
        conditions: RequestConditions,
        owner: str,
    ) -> None:
        """Add a route.

        :param number: the number of its registration.
        :param owner: stands for it in what :meth:`find` returns before the body has come.
        """
        self._count += 1
        identity = (matcher.methods, *conditions.head_identity)
        same = self._same_heads.get(identity)
        if same is None:
            same = _SameHead(next(self._numbers), matcher.methods, conditions)
            self._same_heads[identity] = same
            self._heads.add(same.number, conditions.head_literals, same)
        if conditions.body:
            same.with_body.add(number, conditions.body_literals, (key, conditions))
            same.owners[owner] += 1
        else:
            same.without_body[number] = key

    def remove(
        self, number: int, matcher: RouteMatcher, conditions: RequestConditions, owner: str
    ) -> None:
        """Remove a route; the arguments are those of :meth:`add`."""
        self._count -= 1
        identity = (matcher.methods, *conditions.head_identity)
        same = self._same_heads[identity]
        if conditions.body:
            same.with_body.remove(number, conditions.body_literals)
            same.owners[owner] -= 1
            if not same.owners[owner]:
                del same.owners[owner]
        else:
            del same.without_body[number]
        if not same.owners and not same.without_body:
            del self._same_heads[identity]
            self._heads.remove(same.number, conditions.head_literals)

    def find(self, method: str, content: RequestContent) -> tuple[Keys, list[Owners]]:
        """Return the routes that a request meets, and the owners of those its body decides about.

        :param method: the method in upper case.
        """
        meeting: Keys = {}
        awaiting: list[Owners] = []
        for _, same in self._heads.find(content):
            if same.methods and method not in same.methods:
                continue
            if not same.conditions.head_holds(content):
                continue
            meeting.update(same.without_body)
            if content.awaits_body:
                if same.owners:
                    awaiting.append(same.owners.keys())
                continue
            for number, (key, conditions) in same.with_body.find(content):
                if conditions.body_holds(content):
                    meeting[number] = key
        return dict(sorted(meeting.items())), awaiting
