"""The Pythons of this machine, each in an environment with the libraries of the tests."""

import atexit
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from twisted.trial.unittest import SkipTest

from tests.interop.clients.python.test_services import SECONDS, clean

PACKAGES = ("flask", "requests", "httpx", "aiohttp", "treq", "hypothesis")


@cache
def environment(minor: int) -> str:
    """Make an environment for a Python 3.

    :returns: its interpreter.
    :raises SkipTest: there is no such Python.
    """
    for candidate in candidates(minor):
        folder = Path(tempfile.mkdtemp(prefix=f"trafficmock-python-3.{minor}-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        # Without the PYTHONPATH of trial's workers, which names another standard library.
        made_here = subprocess.call(
            [candidate, "-m", "venv", folder], stderr=subprocess.DEVNULL, env=clean()
        )
        if made_here != 0:
            continue
        made = str(folder / "bin" / "python")
        install = [made, "-m", "pip", "install", "--quiet", *PACKAGES]
        subprocess.run(install, check=True, timeout=SECONDS, env=clean())
        return made
    raise SkipTest(f"no python3.{minor} on the path, of pyenv or of uv")


def candidates(minor: int) -> Iterator[str]:
    """List where a Python 3 may be; the programs on the path may be pyenv's, for none."""
    name = f"python3.{minor}"
    found = shutil.which(name)
    if found is not None:
        yield found
    home = Path.home()
    pyenv = Path(os.environ.get("PYENV_ROOT") or home / ".pyenv")
    for places in (
        (pyenv / "versions").glob(f"3.{minor}.*/bin/{name}"),
        (home / ".local" / "share" / "uv" / "python").glob(f"cpython-3.{minor}.*/bin/{name}"),
    ):
        yield from map(str, sorted(places))
