"""What a route matches, as a worker states it, and how a match is reported."""

from msgspec import UNSET, Struct, UnsetType


class SerializedRegex(Struct, frozen=True):
    """A JavaScript regular expression."""

    source: str
    flags: str


class SerializedMatcher(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """All the keys that are there must hold; none matches everything.

    ``predicate`` says that the real test is a function which only the worker can run.
    """

    url_glob: str | UnsetType = UNSET
    url_regex: SerializedRegex | UnsetType = UNSET
    methods: list[str] | UnsetType = UNSET
    client_ids: list[str] | UnsetType = UNSET
    predicate: bool | UnsetType = UNSET


class RouteMatchDiagnostic(Struct, frozen=True, rename="camel"):
    """One matching route, named so that its owner finds it."""

    route_id: str
    test_id: str
    title: str
    file: str
    worker_id: str
    matcher: SerializedMatcher
