"""Requests that were announced without their body: nobody is told of them before it is there.

A fixture takes the first it hears of a request for the whole of it, so a request with half
a body, told first, would cost the handler its data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen
from msgspec import UNSET, structs

from trafficmock.core.effects import Effects, Send
from trafficmock.records import RequestBodyCame
from trafficmock.wire import body
from trafficmock.wire.outbound import BodyLimits, RequestObserved

if TYPE_CHECKING:
    from typing import TypeVar

    from trafficmock.core.settings import Settings
    from trafficmock.wire.inbound import RequestBody
    from trafficmock.wire.serialized_request import SerializedRequest
    from trafficmock.wire.serialized_response import SerializedResponse

    HasBody = TypeVar("HasBody", SerializedRequest, SerializedResponse)

STREAM = "stream"
"""The feature of agents that announce requests, and report responses, before their bodies."""

MOST_FRAME_BYTES = 100 * 2**20
"""The largest message that any client of protocol 3 sends or takes."""

_AROUND = 2**20
"""Bytes that are left in a message for what is not its body."""


@frozen
class Untold:
    """What will be told of a request when its body is there, or will never be.

    :param request: its head.
    """

    client_id: str
    request: SerializedRequest

    def tell(
        self,
        request_id: str,
        content: RequestBody | None,
        observers: tuple[str, ...],
        out: Effects,
        *,
        limit: int = 0,
    ) -> SerializedRequest:
        """Record the body and tell the observers of the request.

        :param content: the body; without it the request counts as cut off.
        :param limit: bytes that are kept of it, 0 for all.
        :returns: the request as it is now known.
        """
        if content is None:
            request = structs.replace(self.request, truncated=True)
        else:
            request = structs.replace(
                self.request,
                body_base64=content.body_base64,
                truncated=content.truncated,
                body_size=content.body_size,
            )
        request = clipped(request, limit)
        out.append(RequestBodyCame(request_id, request))
        if observers:
            news = RequestObserved(request_id, for_workers(request), self.client_id)
            out.append(Send(observers, news))
        return request


def clipped(holder: HasBody, limit: int) -> HasBody:
    """Cut the body of a request or response to ``limit`` bytes, 0 for no limit, and mark it."""
    size = body.size(holder.body_base64)
    if not limit or size <= limit:
        return holder
    known = size if holder.body_size is UNSET else max(size, holder.body_size)
    beginning = body.beginning(holder.body_base64, limit)
    return structs.replace(holder, body_base64=beginning, truncated=True, body_size=known)


def for_workers(holder: HasBody) -> HasBody:
    """Leave out a body that is not whole: a test must not take a part of it for all."""
    if holder.truncated is not True or body.is_empty(holder.body_base64):
        return holder
    return structs.replace(holder, body_base64=body.NULL)


def body_limits(settings: Settings) -> BodyLimits:
    """Tell an agent how much of a body it may send; never more than fits in a message."""
    frame = min(settings.frame_bytes or MOST_FRAME_BYTES, MOST_FRAME_BYTES)
    most = max(frame - _AROUND, frame // 2) // 4 * 3
    return BodyLimits(
        history=min(settings.history_body_bytes or most, most),
        handler=min(settings.handler_body_bytes or most, most),
    )
