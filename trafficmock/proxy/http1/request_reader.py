"""Reads requests from the bytes of a client: a head and its body in turn."""

from __future__ import annotations

import re

from trafficmock.proxy.http1.body_readers import BodyReader, reader
from trafficmock.proxy.http1.framing import BodyKind, Framing
from trafficmock.proxy.http1.heads import END, BadMessageError, RequestHead, parse_request

_BARE_END = re.compile(rb"\n\n|(?<!\r)\n\r\n")
"""A head whose lines end with LF alone: it has no CR LF CR LF, so its end would never be found."""


class RequestReader:
    """Buffers received bytes, and reads requests from them.

    :param limit: bytes of the longest head (``--max-header-bytes``).
    """

    def __init__(self, limit: int) -> None:
        self.unread = b""
        self.body_complete = True
        self._limit = limit
        self._body: BodyReader | None = None

    def received(self, data: bytes) -> None:
        self.unread = self.unread + data if self.unread else data

    def head(self) -> tuple[RequestHead, bytes] | None:
        """Read the head of the next request.

        :returns: the head, and the bytes of it with all bytes behind it; ``None`` if it is
            incomplete.
        :raises BadMessageError: if it is too long or malformed.
        """
        raw = self.unread.lstrip(b"\r\n")
        head, self.unread = take_request_head(raw, self._limit)
        return None if head is None else (head, raw)

    def begin_body(self, framing: Framing) -> bytes:
        """Begin the body of the request.

        :returns: the part of it that has arrived.
        :raises BadMessageError: if its framing is malformed.
        """
        if framing.kind is BodyKind.LENGTH and len(self.unread) >= framing.length:
            content, self.unread = self.unread[: framing.length], self.unread[framing.length :]
            self._body, self.body_complete = None, True
            return content
        self._body = reader(framing)
        self.body_complete = self._body.done
        return self.body()

    def body(self) -> bytes:
        """Return the part of the body that has arrived since the last call.

        :raises BadMessageError: if its framing is malformed.
        """
        if self._body is None or not self.unread:
            return b""
        content, self.unread = self._body.feed(self.unread)
        self.body_complete = self._body.done
        return content

    def take(self) -> bytes:
        """Remove and return the unread bytes, for another protocol."""
        unread, self.unread = self.unread, b""
        return unread


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
