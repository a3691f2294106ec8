"""A request that strict mode refused, in messages to workers."""

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from trafficmock.wire.payloads.quiet_repr import quiet_repr
from trafficmock.wire.payloads.serialized_matcher import SerializedMatcher


class UnmatchedRequest(Struct, frozen=True, rename="camel", omit_defaults=True):
    """A refused request that no test owns.

    :param url: without user information.
    :param count: the number of such requests.
    :param message: the reason for the refusal.
    :param at: when the first of them was refused, in epoch ms.
    :param last_at: when the last one was.
    :param sender: the client and, where it is known, the process that sent the first one.
    :param framework: the preset that has the request, of one that a framework sends for itself.
    """

    method: str
    url: str
    client_id: str
    kind: Literal["http", "websocket"]
    count: int
    message: str
    at: int = 0
    last_at: int = 0
    sender: str = ""
    framework: str | UnsetType = UNSET

    __repr__ = quiet_repr


class NearestRoute(Struct, frozen=True, rename="camel", omit_defaults=True):
    """The route that is most similar to a refused request.

    :param differs: the first difference: ``method``, ``client``, ``scheme``, ``host``,
        ``port``, ``path``, ``query``, ``url``, ``predicate`` or ``handler``.
    :param place: file and line of the route in its test.
    :param found: the value that the request has there.
    """

    route_id: str
    test_id: str
    matcher: SerializedMatcher
    differs: str
    place: str | UnsetType = UNSET
    found: str | UnsetType = UNSET

    __repr__ = quiet_repr


class UnmatchedDetail(Struct, frozen=True, rename="camel", omit_defaults=True):
    """The ``detail`` of the ``proxy:error`` about a refused request.

    :param url: without user information.
    :param allow: the allow list in force.
    :param nearest: absent without a route to compare with.
    :param last: later refusals of this test are not sent to the worker.
    :param sender: as of :class:`UnmatchedRequest`.
    """

    request_id: str
    kind: Literal["http", "websocket"]
    method: str
    url: str
    client_id: str
    allow: list[str]
    nearest: NearestRoute | UnsetType = UNSET
    last: bool | UnsetType = UNSET
    sender: str = ""

    __repr__ = quiet_repr
