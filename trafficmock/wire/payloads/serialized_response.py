"""A response in messages, and the error in its place."""

from typing import Annotated

import ada_url
from msgspec import UNSET, Meta, Struct, UnsetType

from trafficmock.wire.payloads.body import MessageBody
from trafficmock.wire.payloads.numbers import Count
from trafficmock.wire.payloads.quiet_repr import quiet_repr
from trafficmock.wire.payloads.serialized_request import BodySize, HeaderPairs

REDIRECTS = frozenset({301, 302, 303, 307, 308})
"""The statuses of redirects, which a client follows to the ``Location``."""

Status = Annotated[int, Meta(ge=0, le=999)]

FINAL_STATUSES = range(200, 1000)
"""The statuses of a mock: after a status below 200 a client waits for the final response
(RFC 9110 section 15.2).

``fulfill`` refuses other statuses, and so do the coordinator and the Node agent.
"""


MOST_ARRIVALS = 1000
"""The most pieces of a fetched body that are told apart."""


class SerializedResponse(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """An HTTP response with its decoded body (protocol 3 ``SerializedResponse``).

    ``truncated`` and ``body_size`` are those of
    :class:`~trafficmock.wire.payloads.serialized_request.SerializedRequest`. ``url`` is the URL of
    the hop that produced the response.

    :param trailers: the trailer fields behind the body (RFC 9110 section 6.5), as written.
    :param pieces: in the result of a fetch: the milliseconds from the head to each piece in which
        the body came, and its bytes; unset if all came at once.
    """

    status: Status
    status_text: str
    headers: dict[str, str]
    body_base64: MessageBody
    url: str | UnsetType = UNSET
    headers_list: HeaderPairs | UnsetType = UNSET
    truncated: bool | UnsetType = UNSET
    body_size: BodySize | UnsetType = UNSET
    trailers: HeaderPairs | UnsetType = UNSET
    pieces: Annotated[list[tuple[Count, Count]], Meta(max_length=MOST_ARRIVALS)] | UnsetType = UNSET

    __repr__ = quiet_repr

    def is_redirect(self) -> bool:
        """Return whether a client that follows redirects follows this response."""
        return self.status in REDIRECTS and bool(self.headers.get("location"))


REQUEST_SETTLED = "request_settled"
"""The code of a fetch that failed because its request was cancelled or decided meanwhile."""


FAULT = "fault"
"""The code of the error of an answer that a fault of the test broke off."""


class SerializedError(Struct, frozen=True, omit_defaults=True):
    """The error in place of a response (protocol 3 ``SerializedError``)."""

    name: str
    message: str
    stack: str | UnsetType = UNSET
    code: str | UnsetType = UNSET

    __repr__ = quiet_repr


def becomes_get(status: int, method: str) -> bool:
    """Return whether a redirect is followed by GET without a body (the Fetch standard's rule)."""
    if status in {301, 302}:
        return method == "POST"
    return status == 303 and method not in {"GET", "HEAD"}  # noqa: PLR2004 - See Other


def redirect_target(url: str, location: str) -> str | None:
    """Return the URL that a client asks for after a redirect, which has no fragment.

    :param url: that answered with the redirect.
    :param location: the ``Location``, as it is written.
    :returns: ``None`` if it leads to no URL.
    """
    try:
        target = ada_url.URL(location, base=url)
        target.hash = ""
    except ValueError:
        return None
    return str(target.href)
