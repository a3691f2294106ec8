"""Upstream, proxy and application, started once for all tests here."""

import atexit
import functools
from contextlib import ExitStack

from tests.e2e.stage import Stage, stage


@functools.cache
def shared_stage() -> Stage:
    """Start the processes, or give those that run."""
    ending = ExitStack()
    playing = ending.enter_context(stage())
    atexit.register(ending.close)
    return playing
