"""Finds the line on which a test called trafficmock, which reports name for a route."""

from __future__ import annotations

import inspect
from pathlib import Path

_PACKAGE = "trafficmock."


def place_of_call(root: str = "") -> str:
    """Return the line of the test's own code that called, such as ``tests/test_shop.py:12``.

    :param root: the directory that the path is relative to, by default the working directory.
        Of a file outside of it, only the name is given.
    :returns: empty text where no frame of the stack is outside of trafficmock.
    """
    frame = inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").startswith(_PACKAGE):
        frame = frame.f_back
    if frame is None:
        return ""
    file = Path(frame.f_code.co_filename)
    inside = file.is_relative_to(root or Path.cwd())
    return f"{file.relative_to(root or Path.cwd()) if inside else file.name}:{frame.f_lineno}"
