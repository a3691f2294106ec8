"""The packages of a release, built from the checkout into ``dist/``."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

from attrs import frozen

from tools.release.running import CommandError, run
from trafficmock import __version__

ROOT = Path(__file__).parents[2]
DIST = ROOT / "dist"
AGENT = ROOT / "agent"
PLAYWRIGHT = ROOT / "playwright"
PROXY = ROOT / "proxy"


@frozen(kw_only=True)
class Packages:
    """Where each package lies."""

    wheel: Path
    sdist: Path
    agent: Path
    playwright: Path
    proxy: Path

    def npm(self) -> tuple[Path, ...]:
        """Give the npm packages, each after what it depends on."""
        return self.agent, self.playwright, self.proxy

    def all(self) -> tuple[Path, ...]:
        """Give all packages, in the order in which they may be published."""
        return self.wheel, self.sdist, *self.npm()


def build() -> Packages:
    """Build all packages; what lay in ``dist/`` goes.

    :raises CommandError: when a build fails, or a package has another version than
        ``trafficmock.__version__``.
    """
    shutil.rmtree(DIST, ignore_errors=True)
    DIST.mkdir()
    run("npm", "ci", "--no-audit", "--no-fund", cwd=AGENT)
    run(sys.executable, "-m", "build", "--outdir", DIST, ROOT, cwd=ROOT)
    wheel = the_one(f"trafficmock-{__version__}-*.whl")
    packed = shutil.copy(wheel, PROXY)
    try:
        for directory in (AGENT, PLAYWRIGHT, PROXY):
            check_version(directory)
            run("npm", "pack", "--pack-destination", DIST, cwd=directory)
    finally:
        Path(packed).unlink()
    return Packages(
        wheel=wheel,
        sdist=the_one(f"trafficmock-{__version__}.tar.gz"),
        agent=the_one(f"trafficmock-agent-{__version__}.tgz"),
        playwright=the_one(f"trafficmock-playwright-{__version__}.tgz"),
        proxy=the_one(f"trafficmock-proxy-{__version__}.tgz"),
    )


def check_version(directory: Path) -> None:
    """Compare the version in a directory's ``package.json`` with ``trafficmock.__version__``.

    :raises CommandError: when they differ.
    """
    version = json.loads((directory / "package.json").read_text(encoding="utf-8"))["version"]
    if version != __version__:
        raise CommandError(
            f"{directory.name}/package.json says {version}, trafficmock/__init__.py {__version__}: "
            f"run `npm run version:take` in {directory.name}/"
        )


def the_one(pattern: str) -> Path:
    """Find the one file in ``dist/`` with a name of this pattern.

    :raises CommandError: when there is none, or more than one.
    """
    found = sorted(DIST.glob(pattern))
    if len(found) != 1:
        raise CommandError(f"{DIST} has {len(found)} files {pattern} where one is expected")
    return found[0]
