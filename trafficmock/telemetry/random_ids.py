"""Random ids of traces and spans."""

from __future__ import annotations

from collections.abc import Callable

from attrs import define

_AT_ONCE = 8192
"""Bytes: the system is asked for many ids at once, because a call takes longer than an id."""


@define(eq=False)
class RandomIds:
    """Returns that many random bytes when it is called.

    :param source: returns random bytes of the system.
    """

    source: Callable[[int], bytes]
    _bytes: bytes = b""
    _at: int = 0

    def __call__(self, size: int) -> bytes:
        """Return the next ``size`` bytes."""
        end = self._at + size
        if end > len(self._bytes):
            self._bytes, self._at, end = self.source(max(size, _AT_ONCE)), 0, size
        found, self._at = self._bytes[self._at : end], end
        return found
