"""Keeps the process small: large buffers go back to the system when they are free.

glibc raises its threshold for separate mappings with the sizes it sees; after a few
bodies of a megabyte it would keep and fragment what it could give back.
"""

import ctypes
import sys

_M_TRIM_THRESHOLD = -1
_M_MMAP_THRESHOLD = -3
_TRIM_BYTES = 16 * 2**20
_MMAP_BYTES = 256 * 1024


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
