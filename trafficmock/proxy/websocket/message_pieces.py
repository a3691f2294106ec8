"""Joins the parts of a message of many frames, in time linear in its length."""

from __future__ import annotations

from typing import AnyStr, Generic

MOST_LOOSE = 1024
"""The most parts that are kept before they are joined: each object costs some fifty bytes."""


class MessagePieces(Generic[AnyStr]):
    """Collects text or bytes that arrive in parts; ``size`` is their length.

    :param empty: ``""`` for text, ``b""`` for bytes.
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
        """Drop the parts, but keep ``size``."""
        self._loose.clear()
        self._joined.clear()

    def take(self) -> AnyStr:
        whole: AnyStr = self._empty.join(self._joined + self._loose)
        self.clear()
        self.size = 0
        return whole
