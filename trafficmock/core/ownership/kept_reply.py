"""A fixed answer that a test has left with its route (feature ``reply``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, field

if TYPE_CHECKING:
    from msgspec import UnsetType

    from trafficmock.wire.payloads.serialized_request import HeaderPairs
    from trafficmock.wire.payloads.serialized_response import SerializedResponse


@define(eq=False)
class Reply:
    """What answers the requests of a route, and how often.

    :param response: made safe for agents; ``None`` where there was no room for it, so that the
        test's process gives it.
    :param headers_list: the header lines as the test gave them, for observers.
    :param size: bytes that it takes here.
    :param left: requests that it may still answer; ``None`` is any number.
    """

    response: SerializedResponse | None = field(repr=False)
    headers_list: HeaderPairs | UnsetType = field(repr=False)
    size: int
    left: int | None
