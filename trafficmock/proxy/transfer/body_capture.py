"""Copies of bodies with a limit, and HTTP messages in the form of protocol 3."""

from __future__ import annotations

from msgspec import UNSET, UnsetType, structs

from trafficmock.proxy.http1.heads import Pairs, ResponseHead
from trafficmock.wire.http_syntax import on_wire
from trafficmock.wire.payloads import body as bodies
from trafficmock.wire.payloads.serialized_request import HeaderPairs, SerializedRequest
from trafficmock.wire.payloads.serialized_response import SerializedResponse

_OWN_PIECE = 4096
"""Pieces of this many bytes or more are kept as they are; smaller ones are joined."""


class BodyCapture:
    """A copy of the beginning of a streamed body; ``size`` counts all its bytes.

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
        """Whether bytes beyond the limit were dropped."""
        return self._held < self.size

    def take(self) -> bytes | bytearray:
        pieces, self._pieces, self._held = self._pieces, [], 0
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def _texts(pairs: Pairs) -> HeaderPairs:
    return [(name.decode("latin-1"), value.decode("latin-1")) for name, value in pairs]


def header_map(pairs: Pairs) -> tuple[dict[str, str], HeaderPairs | UnsetType]:
    """Convert header lines to the form of protocol 3.

    :returns: the values by lower-case name, and all lines if a name repeats.
    """
    lines = _texts(pairs)
    headers = {name.lower(): value for name, value in lines}
    return (headers, UNSET) if len(headers) == len(lines) else on_wire(lines)


def request_of(url: str, method: bytes, pairs: Pairs, content: bytes) -> SerializedRequest:
    """Convert a request to the form of protocol 3."""
    headers, lines = header_map(pairs)
    return SerializedRequest(url, method.decode("ascii"), headers, content or bodies.NULL, lines)


def response_of(
    url: str,
    head: ResponseHead,
    pairs: Pairs,
    content: bytes | bytearray = b"",
    *,
    full_size: int | None = None,
    trailers: Pairs | None = None,
) -> SerializedResponse:
    """Convert a response to the form of protocol 3.

    :param pairs: its end-to-end header lines.
    :param content: its body, decoded if ``pairs`` are those of the decoded body.
    :param full_size: bytes of the whole body, if ``content`` is only its beginning.
    :param trailers: the fields behind the body.
    """
    headers, lines = header_map(pairs)
    response = SerializedResponse(
        head.status,
        head.reason.decode("latin-1"),
        headers,
        bodies.from_bytes(content),
        url,
        lines,
        trailers=_texts(trailers) if trailers else UNSET,
    )
    if full_size is None:
        return response
    return structs.replace(response, truncated=True, body_size=full_size)
