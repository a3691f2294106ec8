"""Reads the argument ``delay`` of decisions and mocks."""

from __future__ import annotations

import math
from datetime import timedelta

from msgspec import UNSET, UnsetType

from trafficmock.testing.errors import UsageError
from trafficmock.wire.payloads.numbers import SAFE_INTEGER

Delay = float | timedelta | None
"""Milliseconds or a duration; ``None`` and 0 are no delay."""


def read_delay(delay: Delay) -> int | UnsetType:
    """Return a delay for the proxy, in whole milliseconds; ``UNSET`` without one.

    :raises UsageError: it is not a duration, or it is negative.
    """
    if delay is None:
        return UNSET
    given = delay.total_seconds() * 1000 if isinstance(delay, timedelta) else delay
    is_number = isinstance(given, int | float) and not isinstance(given, bool)
    if not is_number or not 0 <= given <= SAFE_INTEGER:
        raise UsageError(f"delay is milliseconds or a timedelta, 0 or more, not {delay!r}")
    return math.ceil(given) or UNSET
