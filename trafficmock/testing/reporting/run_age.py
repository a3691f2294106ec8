"""When the run of this process began: strict mode lists only what it refused since then.

In a report, it is what the processes of one run have in common.

It is the start of pytest's own process, of the controller with pytest-xdist; else the time at which
the process imported this package, before it starts an application. The proxy is told an age instead
of a time, because its clock may be another one.
"""

import time

_MS = 1_000_000
_imported = time.time_ns() // _MS
_begun: list[int] = []


def began(at: int) -> None:
    """Say when the run began, if another process did it.

    :param at: epoch milliseconds, by the clock of this machine.
    """
    _begun[:] = [at]


def run_started_at() -> int:
    """Return when the run of this process began, in epoch milliseconds."""
    return _begun[0] if _begun else _imported


def run_age() -> int:
    """Return how long ago the run of this process began, in milliseconds."""
    return max(0, time.time_ns() // _MS - run_started_at())
