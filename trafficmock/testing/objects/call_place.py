"""Finds the line on which a test called trafficmock, for reports and for warnings."""

from __future__ import annotations

import inspect
import warnings
from pathlib import Path
from types import FrameType

from trafficmock.testing.session.session import Session

_PACKAGE = "trafficmock."


def place_of_call(root: str = "") -> str:
    """Return the line of the test's own code that called, such as ``tests/test_shop.py:12``.

    :param root: the directory that the path is relative to, by default the working directory.
        Of a file outside of it, only the name is given.
    :returns: empty text where no frame of the stack is outside of trafficmock.
    """
    frame, _ = frame_of_call()
    if frame is None:
        return ""
    file = Path(frame.f_code.co_filename)
    inside = file.is_relative_to(root or Path.cwd())
    return f"{file.relative_to(root or Path.cwd()) if inside else file.name}:{frame.f_lineno}"


def frame_of_call() -> tuple[FrameType | None, int]:
    """Return the first frame outside of trafficmock, and how many are between it and the caller.

    :returns: the number as ``warnings.warn`` takes it (``stacklevel``).
    """
    level, frame = 0, inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    return frame, level


def warn_of_capture(session: Session) -> None:
    """Warn that a list of requests may be incomplete where the history does not keep everything."""
    if session.recorded.capture is not None:
        text = f"the proxy keeps only part of the traffic (capture: {session.recorded.capture})"
        _, level = frame_of_call()
        warnings.warn(text, stacklevel=level)
