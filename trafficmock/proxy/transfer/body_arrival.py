"""When the pieces of a server's body came."""

from __future__ import annotations

from attrs import define, field
from msgspec import UNSET, UnsetType
from twisted.internet.interfaces import IReactorTime

from trafficmock.wire.payloads.serialized_response import MOST_ARRIVALS

_TOGETHER_MS = 10
"""What comes within this time of a piece belongs to it."""


@define
class BodyArrival:
    """The times of a body's pieces, from the head of its response on."""

    clock: IReactorTime
    _began: float = field(init=False)
    _pieces: list[tuple[int, int]] = field(init=False, factory=list)

    def __attrs_post_init__(self) -> None:
        self._began = self.clock.seconds()

    def add(self, data: bytes) -> None:
        at = round((self.clock.seconds() - self._began) * 1000)
        if self._pieces:
            last, size = self._pieces[-1]
            if at - last < _TOGETHER_MS or len(self._pieces) == MOST_ARRIVALS:
                self._pieces[-1] = (last, size + len(data))
                return
        self._pieces.append((at, len(data)))

    def recorded(self) -> list[tuple[int, int]] | UnsetType:
        """Return the milliseconds and bytes of each; ``UNSET`` if all came at once."""
        return self._pieces if len(self._pieces) > 1 else UNSET
