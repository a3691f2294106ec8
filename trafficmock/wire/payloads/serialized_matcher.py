"""The matcher of a route, and the report of a match."""

from typing import Annotated, Final

from msgspec import UNSET, Meta, Struct, UnsetType

MOST_NAMES: Final = 1000
"""The most methods, and the most client ids, of one route: the index of routes has each of them."""

_Names = Annotated[list[str], Meta(max_length=MOST_NAMES)]


class SerializedRegex(Struct, frozen=True):
    """A JavaScript regular expression."""

    source: str
    flags: str


class SerializedMatcher(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """The conditions of a route: all that are present must hold; without any, it matches all.

    :param url_glob: a glob of the whole URL, see :mod:`trafficmock.matching.patterns.glob`.
    :param predicate: the route also has a function, which only the worker can call.
    """

    url_glob: str | UnsetType = UNSET
    url_regex: SerializedRegex | UnsetType = UNSET
    methods: _Names | UnsetType = UNSET
    client_ids: _Names | UnsetType = UNSET
    predicate: bool | UnsetType = UNSET


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
