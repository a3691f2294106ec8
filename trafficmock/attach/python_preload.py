"""The preload of Python processes: where it is, and the variable by which they load it."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from trafficmock.attach.node import first_line

if TYPE_CHECKING:
    from collections.abc import Mapping

DIRECTORY = Path(__file__).parent / "python"
"""Holds a ``sitecustomize``, which Python imports before the application begins."""

OFF_VARIABLE = "TRAFFICMOCK_PYTHON_PRELOAD"
"""Set to 0, Python processes use the proxy as every other program does."""

HTTPS_PROBLEM = (
    "Python applications need an http:// URL of the proxy, because their connections are tunnels "
    f"through it; with {OFF_VARIABLE}=0 they are started without the preload"
)

_PYTHON = re.compile(r"(python|pypy)[\d.]*\Z")
_SCRIPT = re.compile(rb"#!.*\b(python|pypy)[\d.]*\b")


def runs_python(command: str, search: str | None = None) -> bool:
    """Tell whether a command is certain to be a Python process, by its name or its first line.

    :param command: the first word of a command line.
    :param search: the directories to look for it in, as ``PATH`` has them.
    """
    if _PYTHON.match(Path(command).name):
        return True
    found = shutil.which(command, path=search)
    return found is not None and _SCRIPT.match(first_line(found)) is not None


def https_problem(scheme: str, present: Mapping[str, str]) -> str | None:
    """Say why Python applications cannot be attached to a proxy behind TLS; ``None`` if they can.

    :param scheme: of the proxy's URL.
    :param present: the environment so far, which may turn the preload off.
    """
    return HTTPS_PROBLEM if scheme == "https" and present.get(OFF_VARIABLE) != "0" else None


def python_variables(present: Mapping[str, str], directory: Path = DIRECTORY) -> dict[str, str]:
    """List the variables by which a Python process is attached.

    :param present: the environment so far; ``PYTHONPATH`` is kept behind the preload.
    :param directory: that of the preload.
    """
    if present.get(OFF_VARIABLE) == "0":
        return {}
    entries = [entry for entry in present.get("PYTHONPATH", "").split(os.pathsep) if entry]
    others = [entry for entry in entries if entry != str(directory)]
    return {"PYTHONPATH": os.pathsep.join([str(directory), *others])}
