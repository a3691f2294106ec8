"""Takes the roots that an attached process demands, which are too long for a header."""

from __future__ import annotations

from collections.abc import Callable

from trafficmock.proxy.http1 import framing
from trafficmock.proxy.http1.framing import BodyKind
from trafficmock.proxy.http1.heads import BadMessageError, RequestHead
from trafficmock.proxy.http1.server_demands import MOST_ROOT_BYTES

_NOTED = b"HTTP/1.1 200 Noted\r\nConnection: close\r\n\r\n"


class RootsUpload:
    """Reads the body of a ``CONNECT`` with ``Trafficmock-Notice: roots``: blocks of PEM.

    :param head: the head of that request.
    :param keep: keeps the roots.
    :param end: answers and closes the connection.
    :raises BadMessageError: if the body has no length, or is too long.
    """

    def __init__(
        self, head: RequestHead, keep: Callable[[bytes], object], end: Callable[[bytes], None]
    ) -> None:
        body = framing.of_request(head)
        if body.kind is not BodyKind.LENGTH or body.length > MOST_ROOT_BYTES:
            raise BadMessageError(f"Roots need a length of at most {MOST_ROOT_BYTES} bytes.")
        self._length = body.length
        self._keep = keep
        self._end = end
        self._read = b""

    def data_received(self, data: bytes) -> None:
        """Keep the roots, once they are whole."""
        self._read += data
        if self._read and len(self._read) >= self._length:
            self._keep(self._read[: self._length])
            self._end(_NOTED)

    def half_closed(self) -> None:
        """Do nothing: what has come does not count."""

    def lost(self) -> None:
        """Do nothing: what has come does not count."""
