"""Installs the npm packages of the end-to-end tests, if they are not those of the lock file."""

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

NODE = Path(__file__).parents[1] / "tests" / "e2e" / "node"
STAMP = NODE / "node_modules" / ".lock-file.sha256"


def main() -> int:
    """Run ``npm ci`` unless the stamp says that it ran for this very lock file.

    :returns: the exit status.
    """
    wanted = hashlib.sha256((NODE / "package-lock.json").read_bytes()).hexdigest()
    if STAMP.exists() and STAMP.read_text() == wanted:
        return 0
    npm = shutil.which("npm")
    if npm is None:
        sys.stderr.write("npm is missing: apt-get install --yes nodejs npm\n")
        return 1
    status = subprocess.call([npm, "ci", "--no-audit", "--no-fund"], cwd=NODE)
    if status == 0:
        STAMP.write_text(wanted)
    return status


if __name__ == "__main__":
    sys.exit(main())
