"""A request that strict mode refused, as workers are told of it."""

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from trafficmock.wire.payloads.serialized_matcher import SerializedMatcher


class UnmatchedRequest(Struct, frozen=True, rename="camel"):
    """A refused request that no test owns, and how often it came.

    :param url: without user name and password.
    :param message: why it was refused, in words.
    """

    method: str
    url: str
    client_id: str
    kind: Literal["http", "websocket"]
    count: int
    message: str


class NearestRoute(Struct, frozen=True, rename="camel", omit_defaults=True):
    """The route that comes closest to a refused request.

    :param differs: what keeps it from matching: ``method``, ``client``, ``scheme``, ``host``,
        ``port``, ``path``, ``query``, ``url``, ``predicate`` or ``handler``.
    :param place: where its test states it.
    :param found: what the request has there.
    """

    route_id: str
    test_id: str
    matcher: SerializedMatcher
    differs: str
    place: str | UnsetType = UNSET
    found: str | UnsetType = UNSET


class UnmatchedDetail(Struct, frozen=True, rename="camel", omit_defaults=True):
    """What a worker is told of a refused request besides the text.

    :param url: without user name and password.
    :param allow: the patterns in force.
    :param nearest: absent when there is no route to compare with.
    :param last: further ones of this test are refused without a message.
    """

    request_id: str
    kind: Literal["http", "websocket"]
    method: str
    url: str
    client_id: str
    allow: list[str]
    nearest: NearestRoute | UnsetType = UNSET
    last: bool | UnsetType = UNSET
