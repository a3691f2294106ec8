"""Finds the head of a request in the bytes that a client has sent so far."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from trafficmock.proxy.http1.heads import END, BadMessageError, parse_request

if TYPE_CHECKING:
    from trafficmock.proxy.http1.heads import RequestHead

_BARE_END = re.compile(rb"\n\n|(?<!\r)\n\r\n")
"""A head whose lines end with LF alone: it has no CR LF CR LF, so its end would never be found."""


def take_request_head(buffer: bytes, limit: int) -> tuple[RequestHead | None, bytes]:
    """Parse the head at the beginning of received bytes.

    :param buffer: begins with the request line, or is empty.
    :param limit: bytes of the longest head (``--max-header-bytes``).
    :returns: the head and the bytes behind it; ``None`` and the buffer if it is incomplete.
    :raises BadMessageError: if it is too long or malformed.
    """
    end = buffer.find(END, 0, limit + len(END))
    if end >= 0:
        return parse_request(buffer[:end]), buffer[end + len(END) :]
    if len(buffer) >= limit + len(END):
        raise BadMessageError(
            f"The request line and headers are over {limit} bytes. Send less, or raise "
            "--max-header-bytes.",
            status=431,
            code="headers_too_large",
        )
    if _BARE_END.search(buffer):
        raise BadMessageError("A line of the head ends without CR LF.")
    return None, buffer
