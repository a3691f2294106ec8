"""The parts of a message that comes in many frames, put together in time linear in its length."""

from __future__ import annotations

from typing import AnyStr, Generic

MOST_LOOSE = 1024
"""Parts kept one by one: each costs some fifty bytes besides its own."""


class MessagePieces(Generic[AnyStr]):
    """Text or bytes that arrive in parts.

    :param empty: what no parts make: ``""`` or ``b""``.
    """

    __slots__ = ("_empty", "_joined", "_loose", "size")

    def __init__(self, empty: AnyStr) -> None:
        self._empty: AnyStr = empty
        self._loose: list[AnyStr] = []
        self._joined: list[AnyStr] = []
        self.size = 0

    def add(self, part: AnyStr) -> None:
        self.size += len(part)
        if part:
            self._loose.append(part)
        if len(self._loose) >= MOST_LOOSE:
            self._joined.append(self._empty.join(self._loose))
            self._loose.clear()

    def clear(self) -> None:
        """Drop the parts, but keep the count of bytes."""
        self._loose.clear()
        self._joined.clear()

    def take(self) -> AnyStr:
        whole: AnyStr = self._empty.join(self._joined + self._loose)
        self.clear()
        self.size = 0
        return whole
