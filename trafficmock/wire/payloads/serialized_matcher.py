"""The matcher of a route, and the report of a match."""

from typing import Annotated, Any, Final, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from trafficmock.wire.payloads.numbers import Count
from trafficmock.wire.payloads.quiet_repr import quiet_repr

MOST_NAMES: Final = 1000
"""The most methods, and the most client ids, of one route: the index of routes has each of them."""

MOST_CONDITIONS: Final = 1000
"""The most conditions of one route on more than the URL."""

MOST_STEPS: Final = 100
"""The most names and indexes that lead to a value."""

_Names = Annotated[list[str], Meta(max_length=MOST_NAMES)]


class SerializedRegex(Struct, frozen=True):
    """A JavaScript regular expression."""

    source: str
    flags: str


ConditionPart = Literal["query", "header", "form", "json", "operation", "variables"]
"""A part of a request beside its method and URL."""


class SerializedCondition(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """A condition on the values at one place of a request.

    With no key but ``part`` and ``path`` there must be a value, of any kind.

    :param part: ``operation`` and ``variables`` are those of GraphQL.
    :param path: the names and indexes that lead to the value. For ``query``, ``header`` and
        ``form`` the name; with an index, one of the values of that name.
    :param equals: the value; numbers are compared as numbers.
    :param matches: is searched in a text.
    :param length: the number of items, or of the values of a name.
    :param is_object: there must be an object.
    :param is_absent: there must be no value.
    :param has_function: the worker has a function of the value, and is sent the values.
    """

    part: ConditionPart
    path: Annotated[list[str | int], Meta(max_length=MOST_STEPS)] = []
    equals: str | int | float | bool | UnsetType | None = UNSET
    matches: SerializedRegex | UnsetType = UNSET
    length: Count | UnsetType = UNSET
    is_object: bool | UnsetType = UNSET
    is_absent: bool | UnsetType = UNSET
    has_function: bool | UnsetType = UNSET


class PlacedValues(Struct, frozen=True):
    """The values at one place of a request, for the functions that a worker has there.

    :param part: with ``path`` the place, as in the condition that has the function.
    :param values: several only for a name that repeats.
    """

    part: ConditionPart
    path: list[str | int]
    values: list[Any]

    __repr__ = quiet_repr


_Conditions = Annotated[list[SerializedCondition], Meta(max_length=MOST_CONDITIONS)]


class SerializedMatcher(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """The conditions of a route: all that are present must hold; without any, it matches all.

    :param url_glob: a glob of the whole URL, see :mod:`trafficmock.matching.patterns.glob`.
    :param predicate: the route also has a function, which only the worker can call.
    :param conditions: the conditions on more than the URL, only of routes for HTTP requests.
    :param base_url: what a relative ``url_glob`` is resolved against; the
        coordinator keeps matchers without it.
    """

    url_glob: str | UnsetType = UNSET
    url_regex: SerializedRegex | UnsetType = UNSET
    methods: _Names | UnsetType = UNSET
    client_ids: _Names | UnsetType = UNSET
    predicate: bool | UnsetType = UNSET
    conditions: (
        Annotated[list[SerializedCondition], Meta(max_length=MOST_CONDITIONS)] | UnsetType
    ) = UNSET
    base_url: str | UnsetType = UNSET


class ShownRoute(Struct, frozen=True, omit_defaults=True):
    """What people know a route by.

    :param place: file and line of its registration, if the test side sent them.
    """

    matcher: SerializedMatcher
    place: str | UnsetType = UNSET


class RouteMatchDiagnostic(Struct, frozen=True, rename="camel"):
    """A route that matches an ambiguous request, with the test that registered it."""

    route_id: str
    test_id: str
    title: str
    file: str
    worker_id: str
    matcher: SerializedMatcher
