"""``python -m tools.release``: everything up to the upload."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tools.release.checks import check
from tools.release.packages import DIST, build
from tools.release.playwright_run import try_playwright
from tools.release.running import CommandError
from tools.release.trial_runs import try_npm, try_python


def main() -> int:
    """Build, check and try all packages.

    :returns: the exit status: 1 when a step failed.
    """
    try:
        packages = build()
        check(packages)
        with tempfile.TemporaryDirectory() as directory:
            for number, package in enumerate((packages.wheel, packages.sdist)):
                try_python(package, Path(directory) / f"python-{number}")
            try_npm(packages.agent, packages.wheel, Path(directory) / "npm")
            try_playwright(packages, Path(directory) / "playwright")
    except CommandError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(f"Ready to upload from {DIST}:\n")
    for package in packages.all():
        sys.stdout.write(f"  {package.name}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
