"""The requests in what a client sends: heads and bodies in turn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trafficmock.proxy.http1.body_readers import reader
from trafficmock.proxy.http1.request_heads import take_request_head

if TYPE_CHECKING:
    from trafficmock.proxy.http1.body_readers import BodyReader
    from trafficmock.proxy.http1.framing import Framing
    from trafficmock.proxy.http1.heads import RequestHead


class RequestReader:
    """Buffers received bytes, and reads requests from them.

    :param limit: bytes of a head (``--max-header-bytes``).
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

        :returns: the head, and the bytes that it was read from with all behind them; ``None``
            while it is not complete.
        :raises BadMessageError: it is too long, or no head.
        """
        raw = self.unread.lstrip(b"\r\n")
        head, self.unread = take_request_head(raw, self._limit)
        return None if head is None else (head, raw)

    def begin_body(self, framing: Framing) -> bytes:
        """Begin the body of the request, with the bytes that have arrived."""
        self._body = reader(framing)
        self.body_complete = self._body.done
        return self.body()

    def body(self) -> bytes:
        """Read more of the body.

        :raises BadMessageError: its framing breaks the rules.
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
