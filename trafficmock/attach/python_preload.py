"""The preload of Python processes: where it is, and the variable by which they load it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

DIRECTORY = Path(__file__).parent / "python"
"""Holds a ``sitecustomize``, which Python imports before the application begins."""

OFF_VARIABLE = "TRAFFICMOCK_PYTHON_PRELOAD"
"""Set to 0, Python processes use the proxy as every other program does."""


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
