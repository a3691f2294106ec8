"""Compares times of the proxy's monotonic clock with those of this process."""

from __future__ import annotations

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

    def is_before(self, reading: int | UnsetType, moment: int) -> bool:
        """Return whether a reading of the proxy's clock is certainly older than a moment here.

        :param reading: the proxy's clock; absent counts as not older.
        :param moment: this process's clock.
        """
        if self.reading is UNSET or reading is UNSET:
            return False
        if self._is_ours(self.reading):
            return reading < moment
        since = moment - self.answered
        return reading - self.reading < since - abs(since) * _DRIFT

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
