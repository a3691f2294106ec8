"""Waiting for what another process brings about."""

import time
from collections.abc import Callable

SECONDS = 30.0


def wait_until(satisfied: Callable[[], object], what: str, *, seconds: float = SECONDS) -> None:
    """
    Ask until the answer is true.

    :param satisfied: asked 50 times a second: another process's doing raises no event here.
    :param what: is waited for, for the error.
    :raises AssertionError: so many seconds have passed.
    """
    deadline = time.monotonic() + seconds
    while not satisfied():
        if time.monotonic() > deadline:
            raise AssertionError(f"waited in vain for {what}")
        time.sleep(0.02)
