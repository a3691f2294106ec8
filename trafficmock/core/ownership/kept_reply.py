"""The replies that the registry keeps with their routes (feature ``reply``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, field, frozen
from msgspec import UNSET

if TYPE_CHECKING:
    from msgspec import UnsetType

    from trafficmock.core.har.har_lookup import HarLookup
    from trafficmock.wire.payloads.serialized_request import HeaderPairs
    from trafficmock.wire.payloads.serialized_response import SerializedResponse


@frozen(eq=False)
class KeptResponse:
    """A response of a reply.

    :param response: the response, corrected by :func:`.sendable_response`.
    :param headers_list: the header lines as the test gave them, for observers.
    """

    response: SerializedResponse
    headers_list: HeaderPairs | UnsetType


def is_same(one: KeptResponse | None, other: KeptResponse | None) -> bool:
    """Return whether two responses are the same, byte for byte."""
    if one is None or other is None:
        return one is other
    return one.response == other.response


@define(eq=False)
class Reply:
    """The reply of a route.

    :param kept: the response to all requests, or the HAR that has those to some.
    :param size: the bytes that count in ``--reply-bytes``.
    :param delay_ms: the time after which the response is sent.
    """

    kept: KeptResponse | HarLookup = field(repr=False)
    size: int = 0
    delay_ms: int | UnsetType = UNSET

    @property
    def fixed(self) -> KeptResponse | None:
        """The response to all requests."""
        return self.kept if isinstance(self.kept, KeptResponse) else None
