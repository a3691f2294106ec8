"""Messages as the core and the history know them: text, base64, and a limit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import UNSET, structs

from trafficmock.wire.http_syntax import join_repeats
from trafficmock.wire.payloads import body as bodies
from trafficmock.wire.payloads.serialized_request import SerializedRequest
from trafficmock.wire.payloads.serialized_response import SerializedResponse

if TYPE_CHECKING:
    from msgspec import UnsetType

    from trafficmock.proxy.http1.heads import Pairs, ResponseHead
    from trafficmock.wire.payloads.serialized_request import HeaderPairs


_OWN_PIECE = 4096
"""Bytes from which on a piece is kept as it came; smaller ones are put together."""


class BodyCapture:
    """The beginning of a body that streams past, and how long it was.

    :param limit: bytes to keep; 0 for all.
    """

    __slots__ = ("_held", "_limit", "_pieces", "size")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._pieces: list[bytes | bytearray] = []
        self._held = 0
        self.size = 0

    def add(self, data: bytes) -> None:
        self.size += len(data)
        if self._limit:
            room = self._limit - self._held
            if room <= 0:
                return
            if len(data) > room:
                data = data[:room]
        self._held += len(data)
        if len(data) >= _OWN_PIECE:
            self._pieces.append(data)
        elif self._pieces and isinstance(last := self._pieces[-1], bytearray):
            last += data
        else:
            self._pieces.append(bytearray(data))

    @property
    def truncated(self) -> bool:
        """Whether bytes were left out."""
        return self._held < self.size

    def take(self) -> bytes | bytearray:
        pieces, self._pieces, self._held = self._pieces, [], 0
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def header_map(pairs: Pairs) -> tuple[dict[str, str], HeaderPairs | UnsetType]:
    """Write header lines as protocol 3 does.

    :returns: the values by lower-case name, and all lines when a name repeats.
    """
    lines = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in pairs]
    headers = join_repeats(lines)
    return headers, UNSET if len(headers) == len(lines) else lines


def request_of(url: str, method: bytes, pairs: Pairs, content: bytes) -> SerializedRequest:
    """Write a request as protocol 3 does."""
    headers, lines = header_map(pairs)
    return SerializedRequest(
        url, method.decode("ascii"), headers, bodies.from_bytes(content), lines
    )


def response_of(
    url: str,
    head: ResponseHead,
    pairs: Pairs,
    content: bytes | bytearray = b"",
    *,
    full_size: int | None = None,
) -> SerializedResponse:
    """Write a response as protocol 3 does.

    :param pairs: its end-to-end header.
    :param content: its body, as it is shown.
    :param full_size: bytes of the whole body where ``content`` is only its beginning.
    """
    headers, lines = header_map(pairs)
    response = SerializedResponse(
        head.status, head.reason.decode("latin-1"), headers, bodies.from_bytes(content), url, lines
    )
    if full_size is None:
        return response
    return structs.replace(response, truncated=True, body_size=full_size)
