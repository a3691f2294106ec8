"""Reads the argument ``allow`` of strict mode."""

from __future__ import annotations

from collections.abc import Iterable

from trafficmock.matching.allow_list import read_allow_list
from trafficmock.matching.host_pattern import PatternError
from trafficmock.testing.errors import UsageError


def allow_patterns(allow: Iterable[str]) -> tuple[str, ...]:
    """Check patterns of hosts and URLs, and return them.

    :param allow: such as ``["auth.example", "https://pay.example/token*"]``.
    :raises UsageError: it is not a list of such patterns.
    """
    if isinstance(allow, str) or not isinstance(allow, Iterable):
        raise UsageError(f"allow is a list of hosts and URL globs, not {allow!r}")
    patterns = tuple(allow)
    for pattern in patterns:
        if not isinstance(pattern, str):
            raise UsageError(f"allow is a list of hosts and URL globs; {pattern!r} is neither")
    try:
        return read_allow_list(patterns).texts
    except PatternError as error:
        raise UsageError(str(error)) from None
