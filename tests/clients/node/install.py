"""The npm packages that the programs use."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def install(folder: Path) -> None:
    """Bring the packages of a folder, if they are not there: by the lock file where it has one."""
    if (folder / "node_modules").exists():
        return
    command = "ci" if (folder / "package-lock.json").exists() else "install"
    npm = shutil.which("npm") or "npm"
    subprocess.run([npm, command, "--no-audit", "--no-fund"], cwd=folder, check=True)
