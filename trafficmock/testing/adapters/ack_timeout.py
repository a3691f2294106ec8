"""How long the proxy may take to acknowledge what a test asks of it."""

import os
import re

from trafficmock.testing.errors import UsageError
from trafficmock.testing.session.worker_client import ACK_SECONDS

VARIABLE = "TRAFFICMOCK_ACK_TIMEOUT_MS"


def ack_seconds() -> float:
    """Read the limit from the environment, where every kind of test can set it.

    :returns: :data:`ACK_SECONDS` when it is not set.
    :raises UsageError: it is not a number of milliseconds.
    """
    given = os.environ.get(VARIABLE)
    if not given:
        return ACK_SECONDS
    if re.fullmatch(r"[1-9][0-9]{0,8}", given) is None:
        raise UsageError(f"{VARIABLE} must be a number of milliseconds above 0, not {given!r}")
    return int(given) / 1000
