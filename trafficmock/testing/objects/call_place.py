"""The line on which a test calls trafficmock: reports name it for a route."""

from __future__ import annotations

import inspect
from pathlib import Path

_PACKAGE = "trafficmock."


def place_of_call(root: str = "") -> str:
    """Name the line of the test's own code that called trafficmock, as ``tests/test_shop.py:12``.

    :param root: the directory to which that is relative; else the working directory. The place
        of a file outside of it is its name.
    """
    frame = inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").startswith(_PACKAGE):
        frame = frame.f_back
    if frame is None:
        return ""
    file = Path(frame.f_code.co_filename)
    inside = file.is_relative_to(root or Path.cwd())
    return f"{file.relative_to(root or Path.cwd()) if inside else file.name}:{frame.f_lineno}"
