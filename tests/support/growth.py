"""Is the work in proportion to the size of the input? Measured by the processor's time."""

import gc
import time
from collections.abc import Callable
from typing import Any

TIMES_LARGER = 4
MOST_TIMES_SLOWER = 6.5
"""Work that grows with the square of the input takes 16 times as long."""

_ROUNDS = 4
_RUNS = 2


def growth(make: Callable[[int], Any], work: Callable[[Any], object], size: int) -> float:
    """Tell how many times as long an input takes that is four times as large.

    :param make: gives an input of a size; its time does not count.
    :param work: what is measured.
    :param size: of the smaller input, large enough for some milliseconds.
    :returns: the smallest ratio of several rounds: another process may disturb one of them,
        and no disturbance makes each of them look better.
    """
    lowest = float("inf")
    for _ in range(_ROUNDS):
        small = min(_seconds(make, work, size) for _ in range(_RUNS))
        large = min(_seconds(make, work, size * TIMES_LARGER) for _ in range(_RUNS))
        lowest = min(lowest, large / max(small, 1e-6))
        if lowest <= MOST_TIMES_SLOWER:
            break
    return lowest


def _seconds(make: Callable[[int], Any], work: Callable[[Any], object], size: int) -> float:
    given = make(size)
    gc.disable()
    try:
        begun = time.process_time()
        work(given)
        return time.process_time() - begun
    finally:
        gc.enable()


class GrowthMixin:
    """For test cases that ask whether something is linear."""

    def assert_linear(
        self, make: Callable[[int], Any], work: Callable[[Any], object], size: int
    ) -> None:
        """Fail when four times the input takes much more than four times the time."""
        found = growth(make, work, size)
        if found > MOST_TIMES_SLOWER:
            raise AssertionError(
                f"{TIMES_LARGER} times the input takes {found:.1f} times as long, "
                f"not at most {MOST_TIMES_SLOWER}"
            )
