"""Reads unfragmented masked data frames, and writes text frames (RFC 6455 section 5.2).

Nearly all messages are in such frames. Other frames are only recognised, and left to Autobahn.
"""

from __future__ import annotations

from struct import Struct

from trafficmock.errors import LocalError
from trafficmock.server.websocket.masking import unmask
from trafficmock.wire.limits import MAX_MESSAGE_BYTES

INCOMPLETE = -1
"""Returned instead of a length: the frame's header has not arrived completely."""

FOREIGN = -2
"""Returned instead of a length: the frame is left to Autobahn."""

_TEXT = 0x81
_WHOLE_DATA = (_TEXT, 0x82)
_MASKED = 0x80
_MASK_BYTES = 4
_TWO_BYTES = 126
_EIGHT_BYTES = 127
_JOIN_BYTES = 16 * 1024
"""A payload up to this size is joined with its header; a longer one is queued by itself."""

_short = Struct("!BB").pack
_medium = Struct("!BBH").pack
_long = Struct("!BBQ").pack

_kind_and_length = Struct("!HH").unpack_from
_MEDIUM_KINDS = frozenset({0x81FE, 0x82FE})
"""The first two bytes of a masked data frame whose length has two bytes: nearly all frames."""

_MEDIUM_HEAD = 4
_SHORTEST_MEDIUM = 126


def text_frame(payload: bytes) -> tuple[bytes, ...]:
    """Write a message as one unmasked text frame.

    :param payload: UTF-8, at most :data:`~trafficmock.wire.limits.MAX_MESSAGE_BYTES`.
    :returns: the pieces of the frame: one, or the header and the payload.
    :raises trafficmock.errors.LocalError: if the payload is longer.
    """
    length = len(payload)
    if length < _TWO_BYTES:
        return (_short(_TEXT, length) + payload,)
    if length <= _JOIN_BYTES:
        return (_medium(_TEXT, _TWO_BYTES, length) + payload,)
    if length < 1 << 16:
        return (_medium(_TEXT, _TWO_BYTES, length), payload)
    if length > MAX_MESSAGE_BYTES:
        raise LocalError(
            f"a message of {length} bytes cannot be sent: clients take {MAX_MESSAGE_BYTES} at most"
        )
    return (_long(_TEXT, _EIGHT_BYTES, length), payload)


def locate(data: bytes, start: int, longest: int) -> tuple[int, int]:
    """Read the header of a frame.

    :param data: received bytes.
    :param start: the index at which the frame begins.
    :param longest: bytes of the largest payload; a longer frame is :data:`FOREIGN`.
    :returns: the index of the mask, behind which the payload begins, and the length of the payload;
        or :data:`INCOMPLETE` or :data:`FOREIGN` instead of the length.
    """
    if len(data) - start < 2:  # noqa: PLR2004 - the least that a header has
        return start, INCOMPLETE
    length = data[start + 1] - _MASKED
    if length < 0 or data[start] not in _WHOLE_DATA:
        return start, FOREIGN
    if length < _TWO_BYTES:
        mask_at, shortest = start + 2, 0
    elif length == _TWO_BYTES:
        mask_at, shortest = start + 4, 126
    else:
        mask_at, shortest = start + 10, 1 << 16
    if len(data) < mask_at + _MASK_BYTES:
        return start, INCOMPLETE
    if shortest:
        length = int.from_bytes(data[start + 2 : mask_at], "big")
    # RFC 6455 section 5.2: a length must have the shortest form.
    return mask_at, length if shortest <= length <= longest else FOREIGN


class MessageReader:
    """Reads messages from the bytes of a client, up to a frame that is left to Autobahn.

    A message that arrives in parts is unmasked part by part and joined once, so that its cost is
    linear in its size.

    :param longest: bytes of the largest message.
    """

    __slots__ = ("_arrived", "_at", "_data", "_head", "_parts", "foreign", "longest", "missing")

    def __init__(self, longest: int) -> None:
        self.longest = longest
        self._data = b""
        self._at = 0
        self._head = b""
        self._parts: list[bytes] = []
        self._arrived = 0
        self.missing = 0
        """The bytes that have yet to arrive of an incomplete message."""
        self.foreign = False
        """Whether the next frame is left to Autobahn; :meth:`give_back` returns its bytes."""

    def feed(self, data: bytes) -> None:
        """Add received bytes; call :meth:`next` afterwards until it returns ``None``."""
        if self.missing:
            part = data[: self.missing]
            self._add_part(part)
            self._data, self._at = data, len(part)
        elif self._data:
            self._data, self._at = self._data[self._at :] + data, 0
        else:
            self._data, self._at = data, 0

    def next(self) -> bytes | None:
        """Return the next complete message, or ``None``."""
        data = self._data
        if not data:
            return None
        mask_at = self._at + _MEDIUM_HEAD
        begin = mask_at + _MASK_BYTES
        if begin < len(data) and not self._head:
            # Reading both numbers at once takes half the instructions.
            kind, length = _kind_and_length(data, self._at)
            end = begin + length
            if (
                kind in _MEDIUM_KINDS
                and end <= len(data)
                and _SHORTEST_MEDIUM <= length <= self.longest
            ):
                self._go_on_at(end)
                return unmask(bytearray(data[begin:end]), data[mask_at:begin])
        return self._next_of_any_form(data, self._at)

    def _next_of_any_form(self, data: bytes, start: int) -> bytes | None:
        if self._head and not self.missing:
            self._go_on_at(start)
            return self._join_parts()
        mask_at, length = locate(data, start, self.longest)
        if length < 0:
            self.foreign = length == FOREIGN
            return None
        begin = mask_at + _MASK_BYTES
        end = begin + length
        if end > len(data):
            self._head, self.missing = data[start:begin], length
            self._add_part(data[begin:])
            self._go_on_at(len(data))
            return None
        self._go_on_at(end)
        return unmask(bytearray(data[begin:end]), data[mask_at:begin]) if length else b""

    def _go_on_at(self, place: int) -> None:
        """Set the index of the next byte; drop the data when all of it is read."""
        if place == len(self._data):
            self._data, self._at = b"", 0
        else:
            self._at = place

    def give_back(self) -> bytes:
        """Remove and return all bytes that did not become messages, as they were received."""
        rest = self._data[self._at :]
        if self._head:
            head, self.missing = self._head, 0
            # Masking is an XOR, so unmasking the payload again restores the received bytes.
            rest = head + unmask(bytearray(self._join_parts()), head[-_MASK_BYTES:]) + rest
        self._data, self._at, self.foreign = b"", 0, False
        return rest

    def _add_part(self, part: bytes) -> None:
        if part:
            # The mask continues at the byte after the last part.
            turn = self._arrived % _MASK_BYTES
            mask = self._head[-_MASK_BYTES:]
            self._parts.append(unmask(bytearray(part), mask[turn:] + mask[:turn]))
            self.missing -= len(part)
            self._arrived += len(part)

    def _join_parts(self) -> bytes:
        message = b"".join(self._parts)
        self._head, self._parts, self._arrived = b"", [], 0
        return message
