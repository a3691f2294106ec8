"""Where the head of a request ends in what a client has sent so far."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from trafficmock.proxy.http1.heads import END, BadMessageError, parse_request

if TYPE_CHECKING:
    from trafficmock.proxy.http1.heads import RequestHead

_BARE_END = re.compile(rb"\n\n|(?<!\r)\n\r\n")
"""An empty line behind a line that ends with LF alone: the end of the head would never be seen."""


def take_request_head(buffer: bytes, limit: int) -> tuple[RequestHead | None, bytes]:
    """Read a head off the beginning of what has come.

    :param buffer: begins with the request line, or is empty.
    :param limit: bytes of a head (``--max-header-bytes``).
    :returns: the head and what lies behind it; ``None`` while it is not complete.
    :raises BadMessageError: it is too long, or no head.
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
