"""Decides whether to attach this process."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

OFF_VARIABLE = "TRAFFICMOCK_PYTHON_PRELOAD"
_WITH_VALUE = frozenset({"-W", "-X"})
"""Options of the interpreter whose value is the next word."""


def attach(directory: str) -> None:
    """Attach this process, unless :data:`OFF_VARIABLE` is 0 or it is trafficmock itself.

    :param directory: the directory of the preload, for the ``PYTHONPATH`` of child processes.
    """
    environment = os.environ
    if environment.get(OFF_VARIABLE, "1") == "0" or is_service(command_line()):
        return
    from trafficmock_preload import hooks

    hooks.install(directory, environment)


def command_line() -> list[str]:
    """Return the command line of this process; ``sys.argv`` is set later."""
    words: list[str] | None = getattr(sys, "orig_argv", None)
    if words is not None:
        return words
    try:
        with open("/proc/self/cmdline", "rb") as opened:
            return [os.fsdecode(word) for word in opened.read().split(b"\0")]
    except OSError:
        return []


def is_service(words: Sequence[str]) -> bool:
    """Return whether a command line starts trafficmock itself, which must not be its own client."""
    is_module, started, rest = program(words)
    if is_module:
        return started.split(".")[0] == "trafficmock"
    name = os.path.basename(started)
    return name == "trafficmock" or (name == "twistd" and "trafficmock" in rest)


def program(words: Sequence[str]) -> tuple[bool, str, list[str]]:
    """Find the program in a command line of Python.

    :returns: whether it is a module (``-m``), its name or the path of the script, and the words
        behind it; an empty name for ``-c`` and for an interpreter without a program.
    """
    left = iter(words[1:])
    for word in left:
        if word == "-m":
            return True, next(left, ""), [*left]
        if word == "-c":
            break
        if word in _WITH_VALUE:
            next(left, None)
        elif not word.startswith("-"):
            return False, word, [*left]
    return False, "", []
