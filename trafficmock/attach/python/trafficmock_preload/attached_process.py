"""Whether this process is attached."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

URL_VARIABLES = ("TRAFFICMOCK_PROXY_URL", "PLAYWRIGHT_BACKEND_MOCKS_PROXY_URL")
OFF_VARIABLE = "TRAFFICMOCK_PYTHON_PRELOAD"
_WITH_VALUE = frozenset({"-W", "-X"})
"""Options of the interpreter whose value is the next word."""


def attach(directory: str) -> None:
    """Attach this process, if a variable says where the proxy is.

    :param directory: that of the preload, which child processes need in their ``PYTHONPATH``.
    """
    environment = os.environ
    if not any(environment.get(name) for name in URL_VARIABLES):
        return
    if environment.get(OFF_VARIABLE, "1") == "0" or is_service(command_line()):
        return
    from trafficmock_preload import hooks

    hooks.install(directory, environment)


def command_line() -> list[str]:
    """Give the words that started this process: ``sys.argv`` is not there yet."""
    words: list[str] | None = getattr(sys, "orig_argv", None)
    if words is not None:
        return words
    try:
        with open("/proc/self/cmdline", "rb") as opened:
            return [os.fsdecode(word) for word in opened.read().split(b"\0")]
    except OSError:
        return []


def is_service(words: Sequence[str]) -> bool:
    """Tell whether a command line starts trafficmock itself, which must not be its own client."""
    left = iter(words[1:])
    for word in left:
        if word == "-m":
            return next(left, "").split(".")[0] == "trafficmock"
        if word in _WITH_VALUE:
            next(left, None)
        elif not word.startswith("-"):
            name = os.path.basename(word)
            return name == "trafficmock" or (name == "twistd" and "trafficmock" in left)
        elif word == "-c":
            break
    return False
