"""An example of the documentation as a project of its own, with the commands of this checkout."""

import os
import shutil
import sys
from pathlib import Path

from tests.support.processes.node_parts import node_binary
from tests.support.processes.proxy_process import REPOSITORY
from tests.testing import runs


def example_project(example: Path, folder: Path) -> dict[str, str]:
    """Copy an example, and return the environment in which its commands run.

    :param folder: the directory of the project; the commands are put beside it.
    """
    shutil.copytree(example, folder)
    return programs_of_checkout(folder.parent)


def programs_of_checkout(place: Path) -> dict[str, str]:
    """Make the commands of this checkout, and return the environment that finds them.

    :param place: where they are put.
    """
    programs = place / "bin"
    programs.mkdir()
    for name, words in (
        ("trafficmock", f'"{sys.executable}" -m trafficmock'),
        ("pytest", f'"{sys.executable}" -m {" ".join(runs.lean_pytest())}'),
        ("python", f'"{sys.executable}"'),
        ("node", f'"{node_binary()}"'),
    ):
        (programs / name).write_text(f'#!/bin/sh\nexec {words} "$@"\n')
        (programs / name).chmod(0o755)
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith("TRAFFICMOCK")},
        **runs.LEAN,
        "PATH": f"{programs}:{os.environ['PATH']}",
        "PYTHONPATH": str(REPOSITORY),
        "XDG_DATA_HOME": str(place / "data"),
    }
