"""Times of day in errors and reports: in UTC, whoever reads them where."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache

_REMEMBERED = 256


def time_of_day(at: int) -> str:
    """Return the time of day of epoch milliseconds, such as ``14:03:22``; ``UTC`` follows it."""
    return _of_seconds(at // 1000)


@lru_cache(_REMEMBERED)
def _of_seconds(seconds: int) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%H:%M:%S}"
