"""What a job of a build server begins with, and the packages that the example has in ``vendor``."""

import functools
import os
import re
import shutil
import subprocess
import venv
from collections.abc import Sequence
from pathlib import Path

from tests.support.documents import blocks
from tests.support.processes.node_parts import node_binary
from tests.support.processes.proxy_process import REPOSITORY

SECONDS = 600
_NOT_COPIED = shutil.ignore_patterns("node_modules", ".*", "build", "dist", "*.egg-info", "tests")
_KEPT = re.compile(r"PIP_|npm_config_|NODE_EXTRA_CA_CERTS|SSL_|HOME$|LANG$|TMPDIR$")
"""Variables of this machine without which it may find no registry of packages."""


def fresh_tools(place: Path) -> dict[str, str]:
    """Make a Python without packages, and return the environment with it, Node 22 and npm.

    :param place: where it is put.
    """
    environment = place / "python"
    venv.create(environment, symlinks=True, with_pip=True)
    programs = place / "bin"
    programs.mkdir()
    (programs / "node").symlink_to(node_binary())
    return {
        **{name: value for name, value in os.environ.items() if _KEPT.match(name)},
        "CI": "true",
        "PATH": os.pathsep.join((f"{environment}/bin", str(programs), os.environ["PATH"])),
        "XDG_DATA_HOME": str(place / "data"),
    }


@functools.cache
def vendored(page: Path) -> Sequence[Path]:
    """Make the packages by the commands of a page, from a copy of the checkout.

    :param page: the commands are those of its first block for a shell.
    """
    place = Path("vendored").absolute()
    checkout = place / "trafficmock"
    shutil.copytree(REPOSITORY, checkout, ignore=_NOT_COPIED)
    (commands,) = [block.text for block in blocks(page) if "--wheel-dir" in block.text]
    environment = fresh_tools(place)
    subprocess.run(
        ["/bin/bash", "-ec", commands.replace("PATH/TO/trafficmock", str(checkout))],
        cwd=place,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=SECONDS,
        check=True,
    )
    return tuple((place / "vendor").iterdir())
