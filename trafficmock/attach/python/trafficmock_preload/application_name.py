"""The default client id of an application."""

from __future__ import annotations

import os

from trafficmock_preload.attached_process import command_line, program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import MutableMapping, Sequence

PARENT = "TRAFFICMOCK_PARENT_NAME"
"""The variable with the name of the parent process, for child processes."""

_SECTIONS = frozenset({"[project]", "[tool.poetry]"})
_CHARACTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")
"""The characters of a project's name (PEP 508). A colon would end the user of credentials."""

_MOST_CHARACTERS = 65536


def application_name(environment: MutableMapping[str, str]) -> str:
    """Return the name of this process: that of its project, else of its program, as in Node.

    A process without a program, such as one of a pool, has the name of its parent. The name is
    put into the environment for child processes.
    """
    name = name_of(command_line(), _folder()) or environment.get(PARENT)
    name = name or f"python-{os.getpid()}"
    environment[PARENT] = name
    return name


def _folder() -> str:
    try:
        return os.getcwd()
    except OSError:
        # The directory was removed.
        return os.sep


def name_of(words: Sequence[str], folder: str) -> str:
    """Return the name of a process by its command line; an empty one if that has no program.

    :param words: the words of the command line.
    :param folder: the working directory of the process.
    """
    is_module, started, _ = program(words)
    if not started:
        return ""
    is_own = not is_module and started.endswith(".py")
    # A tool (gunicorn, ``-m flask``) is not the application: the working directory is.
    place = os.path.dirname(os.path.join(folder, started)) if is_own else folder
    found = project_name(place)
    if found:
        return found
    own = started if is_module else os.path.splitext(os.path.basename(started))[0]
    return own if _CHARACTERS.issuperset(own) else ""


def project_name(folder: str) -> str:
    """Return the name in the nearest ``pyproject.toml`` of a directory and its parents."""
    while True:
        path = os.path.join(folder, "pyproject.toml")
        try:
            # To open a FIFO waits for its writer.
            name = _name_in_file(path) if os.path.isfile(path) else ""
        except (OSError, ValueError):
            # There is no readable file here; a parent directory may have one.
            name = ""
        parent = os.path.dirname(folder)
        if name or parent == folder:
            return name
        folder = parent


def _name_in_file(path: str) -> str:
    with open(path, encoding="utf-8") as opened:
        return name_in(opened.read(_MOST_CHARACTERS))


def name_in(text: str) -> str:
    """Return the project's name in a ``pyproject.toml``; Python has ``tomllib`` since 3.11 only."""
    section = ""
    for line in text.splitlines():
        stripped = line.partition("#")[0].strip()
        if stripped.startswith("["):
            section = stripped
        elif section in _SECTIONS:
            key, _, value = stripped.partition("=")
            name = value.strip().strip("\"'")
            if key.strip() == "name" and name and _CHARACTERS.issuperset(name):
                return name
    return ""
