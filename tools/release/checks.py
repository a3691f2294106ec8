"""What the registries' own checkers say of the packages."""

from __future__ import annotations

import sys
import tarfile
import zipfile

from tools.release.packages import DIST, Packages
from tools.release.running import CommandError, run

PUBLINT = "publint@0.3"
ARE_THE_TYPES_WRONG = "@arethetypeswrong/cli@0.18"


def check(packages: Packages) -> None:
    """Check metadata, entry points, types and contents.

    :raises CommandError: when a checker complains, or the agent is not in the wheel.
    """
    run(
        sys.executable, "-m", "twine", "check", "--strict", packages.wheel, packages.sdist, cwd=DIST
    )
    for package in packages.npm():
        run("npx", "--yes", PUBLINT, package, "--strict", cwd=DIST)
        run("npx", "--yes", ARE_THE_TYPES_WRONG, package, cwd=DIST)
    require("wheel", zipfile.ZipFile(packages.wheel).namelist(), "trafficmock/_agent/register.js")
    with tarfile.open(packages.agent) as tarball:
        require("npm package", tarball.getnames(), "package/register.js")
    with tarfile.open(packages.playwright) as tarball:
        require("npm package", tarball.getnames(), "package/src/report/make-report.js")


def require(what: str, names: list[str], name: str) -> None:
    """Look for a file without which a package would install and not work.

    :raises CommandError: when it is not there.
    """
    if name not in names:
        raise CommandError(
            f"the {what} lacks {name}: were npm and python3 there when it was built?"
        )
