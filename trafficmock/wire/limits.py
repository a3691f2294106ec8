"""Limits that follow from protocol 3, and the values of options that mean no limit."""

import sys

MAX_MESSAGE_BYTES = 100 * 2**20
"""The largest message that a client of protocol 3 takes: it closes with 1009 on a larger one.

The default of ``--max-frame-bytes`` too, since clients send no larger message either.
"""


def or_unlimited(limit: int) -> int:
    """Turn the 0 of an option, which stands for no limit, into a number that nothing exceeds."""
    return limit or sys.maxsize
