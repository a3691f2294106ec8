"""Starts browsers on a page: Debian's, as they are, each with a new profile.

Chromium is driven by Playwright, whose browser contexts have a proxy of their own. Firefox and
WebKitGTK's MiniBrowser take theirs from the profile and the command line, so nothing has to drive
them: the page goes on by itself.
"""

import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from attrs import frozen

from tests.interop.browsers.sites import HOSTS, Sites
from tests.support.processes.child_process import Child
from tests.support.processes.node_parts import CHROMIUMS
from tests.support.processes.proxy_process import REPOSITORY


@frozen
class Browser:
    """A browser of Debian's.

    :param package: the one that it comes in.
    :param executable: its path.
    :param command: makes its command line, of the sites, the proxy's port or ``None``, and a new
        directory for its profile.
    :param is_headless: it needs no display.
    :param resolves: it can be told the addresses of hosts, and needs no proxy for that.
    """

    name: str
    package: str
    executable: Path
    command: Callable[[Sites, int | None, Path], list[str]]
    is_headless: bool = True
    resolves: bool = True

    def missing(self) -> str:
        """Say what it takes to run it; nothing where it is installed."""
        if self.executable.exists() and (self.is_headless or shutil.which("Xvfb")):
            return ""
        return f"{self.name} is missing; run: apt-get install --yes {self.package}"


def _chromium(sites: Sites, proxy: int | None, profile: Path) -> list[str]:  # noqa: ARG001 - of all browsers
    options = {
        "page": sites.page(),
        "request": f"{sites.origin('app')}/s/page-request",
        "proxy": proxy,
        "resolve": ", ".join(f"MAP {host} 127.0.0.1" for host in HOSTS.values()),
        "secure": sites.origin("app"),
    }
    return [sys.executable, "-m", "tests.interop.browsers.playwright_page", json.dumps(options)]


def _firefox(sites: Sites, proxy: int | None, profile: Path) -> list[str]:
    preferences: dict[str, Any] = {
        "browser.shell.checkDefaultBrowser": False,
        "browser.startup.homepage_override.mstone": "ignore",
        "datareporting.policy.dataSubmissionEnabled": False,
        "dom.disable_open_during_load": False,
        "dom.serviceWorkers.testing.enabled": True,
        "network.captive-portal-service.enabled": False,
        "network.connectivity-service.enabled": False,
        "network.dns.localDomains": ",".join(HOSTS.values()),
        "services.settings.server": "data:,",
        "toolkit.telemetry.reportingpolicy.firstRun": False,
    }
    if proxy is not None:
        preferences |= {
            "network.proxy.type": 1,
            "network.proxy.http": "127.0.0.1",
            "network.proxy.http_port": proxy,
            "network.proxy.ssl": "127.0.0.1",
            "network.proxy.ssl_port": proxy,
            "network.proxy.allow_hijacking_localhost": True,
        }
    lines = (
        f"user_pref({json.dumps(name)}, {json.dumps(value)});"
        for name, value in preferences.items()
    )
    (profile / "user.js").write_text("\n".join(lines), encoding="utf-8")
    return ["firefox-esr", "--headless", "--no-remote", "--profile", str(profile), sites.page()]


def _webkit(sites: Sites, proxy: int | None, profile: Path) -> list[str]:  # noqa: ARG001 - of all browsers
    options = ["--javascript-can-open-windows-automatically=true"]
    if proxy is not None:
        options.append(f"--proxy=http://127.0.0.1:{proxy}")
    return [str(_MINI_BROWSER), "--private", *options, sites.page()]


_CHROMIUM = next((path for path in CHROMIUMS if path.exists()), CHROMIUMS[0])
_MINI_BROWSER = Path("/usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser")

BROWSERS = {
    browser.name: browser
    for browser in (
        Browser("chromium", "chromium-headless-shell", _CHROMIUM, _chromium),
        Browser("firefox", "firefox-esr", Path("/usr/bin/firefox-esr"), _firefox),
        Browser(
            "webkit",
            "webkit2gtk-driver xvfb",
            _MINI_BROWSER,
            _webkit,
            is_headless=False,
            resolves=False,
        ),
    )
}


@contextmanager
def browsing(browser: Browser, sites: Sites, proxy: int | None) -> Iterator[Child]:
    """Let a browser make the requests of the page until the block ends.

    :param proxy: the port of its proxy; ``None`` for none.
    """
    with ExitStack() as stack:
        home = Path(tempfile.mkdtemp(prefix="trafficmock-browser-"))
        stack.callback(shutil.rmtree, home, ignore_errors=True)
        profile = home / "profile"
        profile.mkdir()
        environment = {"HOME": str(home), "XDG_CACHE_HOME": str(home), "XDG_DATA_HOME": str(home)}
        if not browser.is_headless:
            command = ["Xvfb", "-displayfd", "1", "-nolisten", "tcp"]
            display = Child.start("Xvfb", command, env={})
            stack.callback(display.stop)
            environment["DISPLAY"] = f":{display.announced()}"
        child = Child.start(
            browser.name,
            browser.command(sites, proxy, profile),
            env=environment,
            announces=False,
            cwd=REPOSITORY,
        )
        stack.callback(child.stop)
        yield child
