"""How long a call may wait, as Playwright's calls are told."""

from datetime import timedelta

DEFAULT_TIMEOUT_MS = 30_000.0

Timeout = float | timedelta | None
"""Milliseconds or a duration; 0 is no limit, ``None`` the default of 30 s."""


def milliseconds(timeout: Timeout) -> float:
    """Read what a test gave."""
    if timeout is None:
        return DEFAULT_TIMEOUT_MS
    if isinstance(timeout, timedelta):
        return timeout.total_seconds() * 1000
    return timeout
