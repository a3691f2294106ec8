"""Fixed answers that a test has left with its route (feature ``reply``)."""

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
    """A response that lies here.

    :param response: made safe for agents.
    :param headers_list: the header lines as the test gave them, for observers.
    """

    response: SerializedResponse
    headers_list: HeaderPairs | UnsetType


@define(eq=False)
class Reply:
    """What answers the requests of a route, and how often.

    :param fixed: for all of them; ``None`` where there is none, or was no room for it, so that the
        test's process answers.
    :param recorded: for those with this method and URL; the test's process answers others.
    :param size: bytes that it takes here.
    :param left: requests that it may still answer; ``None`` is any number.
    """

    fixed: KeptResponse | None = field(repr=False)
    recorded: Mapping[tuple[str, str], KeptResponse] = field(factory=dict, repr=False)
    size: int = 0
    left: int | None = None

    def response_to(self, request: SerializedRequest) -> KeptResponse | None:
        """Give what answers a request; ``None`` where the test's process does."""
        return self.fixed or self.recorded.get((request.method, request.url))
