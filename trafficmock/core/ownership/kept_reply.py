"""The replies that the registry keeps with their routes (feature ``reply``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, field, frozen

if TYPE_CHECKING:
    from collections.abc import Mapping

    from msgspec import UnsetType

    from trafficmock.wire.payloads.serialized_request import HeaderPairs, SerializedRequest
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

    :param fixed: the response to all requests; ``None`` if there is none or it exceeded
        ``--reply-bytes``: then the test's process answers.
    :param recorded: the responses by method and URL; the test's process answers other requests.
    :param size: the bytes that count in ``--reply-bytes``.
    """

    fixed: KeptResponse | None = field(repr=False)
    recorded: Mapping[tuple[str, str], KeptResponse] = field(factory=dict, repr=False)
    size: int = 0

    def response_to(self, request: SerializedRequest) -> KeptResponse | None:
        """Return the response to a request; ``None`` if the test's process answers."""
        return self.fixed or self.recorded.get((request.method, request.url))
