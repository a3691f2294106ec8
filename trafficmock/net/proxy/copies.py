"""Messages as the core and the history know them: text, base64, and a limit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import UNSET, structs

from trafficmock.net.proxy.codings import decoded
from trafficmock.wire import body as bodies
from trafficmock.wire.request import Request
from trafficmock.wire.response import Response

if TYPE_CHECKING:
    from msgspec import UnsetType

    from trafficmock.net.proxy.heads import Pairs
    from trafficmock.wire.request import HeaderPairs


class Copy:
    """The beginning of a body that streams past, and how long it was.

    :param limit: bytes to keep; 0 for all.
    """

    __slots__ = ("_kept", "_limit", "size")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._kept = bytearray()
        self.size = 0

    def add(self, data: bytes) -> None:
        """See a piece go by."""
        self.size += len(data)
        if not self._limit:
            self._kept += data
        elif (room := self._limit - len(self._kept)) > 0:
            self._kept += data if len(data) <= room else data[:room]

    @property
    def truncated(self) -> bool:
        """Whether something is missing."""
        return len(self._kept) < self.size

    def take(self) -> bytearray:
        """Give what was kept, once."""
        kept, self._kept = self._kept, bytearray()
        return kept


def header_map(pairs: Pairs) -> tuple[dict[str, str], HeaderPairs | UnsetType]:
    """Write header lines as protocol 3 does.

    :returns: the values by lower-case name, and all lines when a name repeats.
    """
    headers: dict[str, str] = {}
    for name, value in pairs:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        headers[key] = f"{headers[key]}, {text}" if key in headers else text
    if len(headers) == len(pairs):
        return headers, UNSET
    return headers, [(name.decode("latin-1"), value.decode("latin-1")) for name, value in pairs]


def request_of(url: str, method: bytes, pairs: Pairs, content: bytes) -> Request:
    """Write a request as protocol 3 does."""
    headers, lines = header_map(pairs)
    return Request(url, method.decode("ascii"), headers, bodies.from_bytes(content), lines)


def response_of(
    url: str,
    status: int,
    reason: bytes,
    pairs: Pairs,
    copy: Copy | None,
    *,
    decode_to: int = 0,
) -> Response:
    """Write a response as protocol 3 does: its body decoded, where that can be done here.

    :param copy: of its body; ``None`` for none.
    :param decode_to: bytes that a decoded body may have, 0 for any number.
    """
    cut = copy is not None and copy.truncated
    content: bytes | bytearray = b"" if copy is None else copy.take()
    if content and not cut and any(name.lower() == b"content-encoding" for name, _ in pairs):
        pairs, content = decoded(pairs, content, decode_to) or (pairs, content)
    headers, lines = header_map(pairs)
    response = Response(
        status, reason.decode("latin-1"), headers, bodies.from_bytes(content), url, lines
    )
    if copy is None or not cut:
        return response
    return structs.replace(response, truncated=True, body_size=copy.size)
