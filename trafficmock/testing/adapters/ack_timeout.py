"""The time limit for the proxy's acknowledgements."""

import os
import re

from trafficmock.testing.errors import UsageError
from trafficmock.wire.limits import ACK_SECONDS

VARIABLE = "TRAFFICMOCK_ACK_TIMEOUT_MS"


def ack_seconds() -> float:
    """Read the limit from ``TRAFFICMOCK_ACK_TIMEOUT_MS``.

    :returns: seconds; :data:`ACK_SECONDS` unless the variable is set.
    :raises UsageError: the variable is not a number of milliseconds above 0.
    """
    given = os.environ.get(VARIABLE)
    if not given:
        return ACK_SECONDS
    if re.fullmatch(r"[1-9][0-9]{0,8}", given) is None:
        raise UsageError(f"{VARIABLE} must be a number of milliseconds above 0, not {given!r}")
    return int(given) / 1000
