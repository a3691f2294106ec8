"""Where a test calls us: the place that reports name for a route."""

from __future__ import annotations

import inspect
from pathlib import Path

_OURS = "trafficmock."


def place_of_call(root: str = "") -> str:
    """Say where the test's own code called us, as ``tests/test_shop.py:12``.

    :param root: the directory to which that is relative; else the working directory. The place
        of a file outside of it is its name.
    """
    frame = inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").startswith(_OURS):
        frame = frame.f_back
    if frame is None:
        return ""
    file = Path(frame.f_code.co_filename)
    inside = file.is_relative_to(root or Path.cwd())
    return f"{file.relative_to(root or Path.cwd()) if inside else file.name}:{frame.f_lineno}"
