"""Keeps large buffers cheap: they stay with the process instead of going back to the system.

By default glibc maps a buffer of more than some hundred kilobytes separately and unmaps it
when it is free. A message of a megabyte is then paid for with hundreds of page faults at
each step of its way, which cost more than all the work on it. What is kept is bounded: the
top of the heap goes back to the system from the trim threshold on.
"""

import ctypes
import sys

_M_TRIM_THRESHOLD = -1
_M_MMAP_THRESHOLD = -3
_TRIM_BYTES = 64 * 2**20
_MMAP_BYTES = 32 * 2**20
"""The highest that glibc takes."""


def tune_allocator() -> bool:
    """Fix glibc's thresholds.

    :returns: whether there was a glibc to tell.
    """
    if not sys.platform.startswith("linux"):
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return False
    set_both = mallopt(_M_MMAP_THRESHOLD, _MMAP_BYTES), mallopt(_M_TRIM_THRESHOLD, _TRIM_BYTES)
    return all(set_both)
