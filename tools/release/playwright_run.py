"""The Playwright package in an empty directory, with the example of its README."""

from __future__ import annotations

import os
import re
from pathlib import Path
from shutil import which

from tools.release.packages import PLAYWRIGHT, ROOT, Packages
from tools.release.running import CommandError, run
from tools.release.trial_runs import free_port

SHOP = ROOT / "docs" / "examples" / "playwright" / "shop.mjs"
CHROMIUMS = ("chromium-headless-shell", "chromium")
"""Debian's. Playwright would download one of its own."""

WITH_CHROMIUM = """
import config from "./playwright.config.js";
config.use.launchOptions = { executablePath: "%s" };
export default config;
"""


def try_playwright(packages: Packages, directory: Path) -> None:
    """Install the tarballs beside the newest Playwright and run the README's example.

    The proxy is that of the npm package: nothing is installed by pip.

    :raises CommandError: when a step fails.
    """
    directory.mkdir()
    newest: tuple[str | Path, ...] = ("@playwright/test@latest", *packages.npm())
    run("npm", "install", "--no-audit", "--no-fund", *newest, cwd=directory)
    spec, config = re.findall(
        r"^```js\n(.*?)^```$", (PLAYWRIGHT / "README.md").read_text(), re.DOTALL | re.MULTILINE
    )
    files = {
        "shop.spec.js": spec,
        "playwright.config.js": config,
        "chromium.config.js": WITH_CHROMIUM % chromium(),
        "shop.mjs": SHOP.read_text(encoding="utf-8"),
    }
    port = str(free_port())
    for name, text in files.items():
        (directory / name).write_text(text.replace("3000", port), encoding="utf-8")
    environment = {
        "PATH": without_trafficmock(os.environ["PATH"]),
        "XDG_CACHE_HOME": str(directory / "cache"),
        "TRAFFICMOCK_PROXY_URL": f"http://127.0.0.1:{free_port()}",
    }
    said = run(
        "npx",
        "playwright",
        "test",
        "--config",
        "chromium.config.js",
        cwd=directory,
        env=environment,
    )
    if re.search(r"\b1 passed\b", said) is None:
        raise CommandError(f"the example did not pass:\n{said}")


def without_trafficmock(path: str) -> str:
    """Leave the directories out of a ``PATH`` that have the command ``trafficmock``."""
    places = path.split(os.pathsep)
    return os.pathsep.join(place for place in places if not which("trafficmock", path=place))


def chromium() -> str:
    """Find Debian's Chromium, or its headless shell.

    :raises CommandError: neither is installed.
    """
    found = next(filter(None, map(which, CHROMIUMS)), None)
    if found is None:
        raise CommandError("no Chromium: apt-get install --yes chromium-headless-shell")
    return found
