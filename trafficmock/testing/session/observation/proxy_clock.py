"""The proxy's clock, compared with that of this process."""

from __future__ import annotations

from attrs import frozen
from msgspec import UNSET, UnsetType

_DRIFT = 0.001
"""How much the clocks of two machines may drift apart: they are corrected by up to 500 ppm."""


@frozen
class ProxyClock:
    """One reading of the proxy's clock, between two of this process's.

    All are monotonic, in microseconds. On one machine they are the same clock, and the order of
    two readings is known. Of another machine's clock, it is only known that the proxy read it
    before its answer came: what seems to lie just before a moment may lie after it.

    :param reading: absent from a proxy that does not tell.
    """

    reading: int | UnsetType
    asked: int
    answered: int

    def is_before(self, reading: int | UnsetType, moment: int) -> bool:
        """Tell whether a reading of the proxy's clock is surely older than a moment here."""
        if self.reading is UNSET or reading is UNSET:
            return False
        if self.asked <= self.reading <= self.answered + 1:
            return reading < moment
        since = moment - self.answered
        return reading - self.reading < since - abs(since) * _DRIFT
