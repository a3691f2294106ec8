"""Keeps an error in the hooks of trafficmock itself from ending the run of the tests.

Such an error is that of the one test whose hook it is. Where there is no test, at the end of a run,
it is said there. So each hook that a test runner calls does what it does in :func:`guarded`.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager

TITLE = "error in trafficmock"


@contextmanager
def guarded(what: str, tell: Callable[[str], object]) -> Iterator[None]:
    """Run a block whose errors are told instead of raised.

    What pytest raises to fail or to skip a test, and interruptions, are no such errors.

    :param what: what the block does, as the end of "trafficmock failed to".
    :param tell: is called with the text of the error.
    """
    try:
        yield
    except Exception as error:  # noqa: BLE001 - whatever it is, it must not end the run
        tell(failure_text(what, error))


def failure_text(what: str, error: BaseException) -> str:
    """Return the text of an error in trafficmock itself, with its traceback."""
    trace = "".join(traceback.format_exception(error)).rstrip()
    return f"trafficmock failed to {what}. This is a fault of trafficmock:\n{trace}"
