"""Converts times of this process's monotonic clock to those of the proxy's."""

from __future__ import annotations

from math import floor

from attrs import frozen
from msgspec import UNSET, UnsetType

_DRIFT = 0.001
"""The drift of two machines' clocks, as a ratio: each may be slewed by up to 500 ppm."""


@frozen
class ProxyClock:
    """One reading of the proxy's clock, between two readings of this process's.

    All are monotonic, in microseconds. On one machine they are the same clock, so two readings can
    be compared. Of another machine's clock it is only known that the proxy read it before its
    answer came here.

    :param reading: the proxy's clock.
    :param asked: this process's clock before the question.
    :param answered: this process's clock when the answer came.
    """

    reading: int | UnsetType
    asked: int
    answered: int

    def time_of(self, moment: int) -> int | UnsetType:
        """Return the earliest time that the proxy's clock may have had at a moment here.

        :param moment: this process's clock.
        :returns: absent without a reading of the proxy's clock.
        """
        if self.reading is UNSET:
            return UNSET
        if self._is_ours(self.reading):
            return moment
        since = moment - self.answered
        return self.reading + floor(since - abs(since) * _DRIFT)

    def elapsed(self, moment: int) -> int:
        """Return the time from the reading to a moment here, in microseconds.

        It is negative for an earlier moment. For another machine's clock it is too short by the
        time that the answer took.

        :param moment: this process's clock.
        """
        if self.reading is not UNSET and self._is_ours(self.reading):
            return moment - self.reading
        return moment - self.answered

    def _is_ours(self, reading: int) -> bool:
        """Return whether the proxy reads the clock of this machine."""
        return self.asked <= reading <= self.answered + 1
