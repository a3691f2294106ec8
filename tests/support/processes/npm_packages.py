"""The npm packages of a folder, brought when a test needs them."""

import fcntl
import shutil
import subprocess
from pathlib import Path


def install(folder: Path, needed: str = "") -> None:
    """Bring the npm packages of a folder, by its lock file where it has one.

    The processes of trial install one after the other: npm writes packages that another one sees.

    :param needed: one of the packages, by which to know that they are there; else any will do.
    """
    with (folder / "package.json").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (folder / "node_modules" / needed).exists():
            return
        npm = shutil.which("npm") or "npm"
        locked = (folder / "package-lock.json").exists()
        command = ["ci"] if locked else ["install", "--no-package-lock"]
        subprocess.run([npm, *command, "--no-audit", "--no-fund"], cwd=folder, check=True)
