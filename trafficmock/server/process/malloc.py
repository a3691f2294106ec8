"""Sets glibc's malloc thresholds, so that the memory of large buffers is reused.

By default glibc maps each buffer above some hundred kilobytes separately, and unmaps it when it
is freed. Each copy of a message of a megabyte then causes hundreds of page faults, which cost
more than all other work on it. The unused memory is bounded: glibc returns the top of the heap to
the system above the trim threshold.
"""

import ctypes
import sys

_M_TRIM_THRESHOLD = -1
_M_MMAP_THRESHOLD = -3
_TRIM_BYTES = 64 * 2**20
_MMAP_BYTES = 32 * 2**20
"""The highest threshold that glibc accepts (``mallopt(3)``)."""


def tune_allocator() -> bool:
    """Set both thresholds.

    :returns: whether they were set; false without glibc.
    """
    if not sys.platform.startswith("linux"):
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return False
    set_both = mallopt(_M_MMAP_THRESHOLD, _MMAP_BYTES), mallopt(_M_TRIM_THRESHOLD, _TRIM_BYTES)
    return all(set_both)
