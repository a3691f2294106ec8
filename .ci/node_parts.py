"""Installs the npm packages of tests and linter, if they are not those of the lock files."""

import fcntl
import hashlib
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

ROOT = Path(__file__).parents[1]
TESTS = ROOT / "tests"
TEST_PROJECTS = (
    TESTS / "interop" / "npm" / "node",
    TESTS / "interop" / "clients" / "node",
    ROOT / "agent",
    ROOT / "playwright",
)


def main(names: list[str]) -> int:
    """Run ``npm ci`` where the stamp does not say that it ran for this very lock file.

    :param names: the projects' directories, from the root; none means those of the tests.
    :returns: the exit status.
    """
    npm = shutil.which("npm")
    if npm is None:
        sys.stderr.write("npm is missing: apt-get install --yes nodejs npm\n")
        return 1
    projects = [ROOT / name for name in names] or TEST_PROJECTS
    # npm waits for the registry most of the time.
    with ThreadPoolExecutor(len(projects)) as threads:
        return max(threads.map(partial(install, npm), projects))


def install(npm: str, project: Path) -> int:
    """Bring one project's packages, if they are not there and nobody else is bringing them.

    :returns: npm's exit status.
    """
    stamp = project / "node_modules" / ".lock-file.sha256"
    with (project / "package-lock.json").open("rb") as lock_file:
        fcntl.flock(lock_file, fcntl.LOCK_EX)
        wanted = hashlib.sha256(lock_file.read()).hexdigest()
        if stamp.exists() and stamp.read_text() == wanted:
            return 0
        status = subprocess.call([npm, "ci", "--no-audit", "--no-fund"], cwd=project)
        if status == 0:
            stamp.write_text(wanted)
        return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
