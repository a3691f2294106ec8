"""The limit of messages in protocol 3, and options whose 0 means no limit."""

import sys

MAX_MESSAGE_BYTES = 100 * 2**20
"""The largest message that clients of protocol 3 accept; they close with 1009 on a larger one.

It is also the default of ``--max-frame-bytes``, since clients do not send larger messages.
"""


def or_unlimited(limit: int) -> int:
    """Return ``limit``, or ``sys.maxsize`` for 0, which means no limit."""
    return limit or sys.maxsize
