"""The client id of an application that nobody named."""

from __future__ import annotations

import os

from trafficmock_preload.attached_process import command_line, program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import MutableMapping, Sequence

PARENT = "TRAFFICMOCK_PARENT_NAME"
"""Child processes find here what the process that started them is called."""

_SECTIONS = frozenset({"[project]", "[tool.poetry]"})
_CHARACTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")
"""Of the name of a project (PEP 508). A colon would end the user of the proxy's credentials."""

_MOST_CHARACTERS = 65536


def application_name(environment: MutableMapping[str, str]) -> str:
    """Name this process as the Node agent does: by its project, else by its program.

    Processes of a pool, and others without a program, have the name of their parent.
    """
    name = name_of(command_line(), _folder()) or environment.get(PARENT)
    name = name or f"python-{os.getpid()}"
    environment[PARENT] = name
    return name


def _folder() -> str:
    try:
        return os.getcwd()
    except OSError:
        # It was removed.
        return os.sep


def name_of(words: Sequence[str], folder: str) -> str:
    """Name a process by its command line, which may not tell it.

    :param folder: in which the process runs.
    """
    is_module, started, _ = program(words)
    if not started:
        return ""
    is_own = not is_module and started.endswith(".py")
    # A tool (gunicorn, ``-m flask``) is not the application, which is where it runs.
    place = os.path.dirname(os.path.join(folder, started)) if is_own else folder
    found = project_name(place)
    if found:
        return found
    own = started if is_module else os.path.splitext(os.path.basename(started))[0]
    return own if _CHARACTERS.issuperset(own) else ""


def project_name(folder: str) -> str:
    """Give the name in the next ``pyproject.toml``, looking upwards from a directory."""
    while True:
        try:
            with open(os.path.join(folder, "pyproject.toml"), encoding="utf-8") as opened:
                name = name_in(opened.read(_MOST_CHARACTERS))
        except (OSError, ValueError):
            # None here, or none that can be read: the next one up may have the name.
            name = ""
        parent = os.path.dirname(folder)
        if name or parent == folder:
            return name
        folder = parent


def name_in(text: str) -> str:
    """Find the project's name in a ``pyproject.toml``; Python reads TOML only since 3.11."""
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
