"""The limits that several parts share, and options whose 0 means no limit."""

import sys

MAX_MESSAGE_BYTES = 100 * 2**20
"""The largest message that clients of protocol 3 accept; they close with 1009 on a larger one.

It is also the default of ``--max-frame-bytes``, since clients do not send larger messages.
"""

HISTORY_BODY_BYTES = 8 * 2**20
"""The part of a streamed body that the history keeps, unless ``--history-body-bytes`` is given."""

HANDLER_BODY_BYTES = 64 * 2**20
"""The largest body that a handler gets, unless ``--handler-body-bytes`` is given."""

MOST_HAR_BYTES = MAX_MESSAGE_BYTES - 2**20
"""The most bytes of the entries of a route from a HAR, within a message."""

MOST_REDIRECTS = 20
"""The most redirects that a fetch of a handler follows, unless the handler gives a number."""

ACK_SECONDS = 5.0
"""The time limit of an acknowledgement without ``TRAFFICMOCK_ACK_TIMEOUT_MS``."""

FILES_SECONDS = 120
"""The time in which the proxy makes the files of a recording or a report, beside that of an
acknowledgement. A large one takes long; a proxy that is stopped would take for ever."""

FIRST_PAUSE_SECONDS = 0.25
"""The pause before the first retry of a fetch; it doubles for each further one."""


def or_unlimited(limit: int) -> int:
    """Return ``limit``, or ``sys.maxsize`` for 0, which means no limit."""
    return limit or sys.maxsize
