"""A real browser in front of a real dashboard and a real proxy with a day's traffic."""

from __future__ import annotations

import atexit
import functools
import sys
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from attrs import frozen
from playwright.sync_api import expect
from twisted.trial.unittest import SynchronousTestCase

from tests.dashboard.clients import ProxyClients
from tests.dashboard.one_thread import browser, in_browser_thread
from tests.dashboard.traffic import day
from tests.support.proxy_process import ProxyProcess, free_port, running_proxy, until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Locator, Page, ViewportSize

COMMAND = [sys.executable, "-m", "trafficmock", "dashboard"]
PATIENCE_MS = 20_000
SIZE: ViewportSize = {"width": 1400, "height": 860}

QUIET = ("--idle-timeout-ms", "86400000", "--heartbeat-ms", "86400000")
"""Options of a proxy whose clients answer no pings, and stay connected for many minutes."""

expect.set_options(timeout=PATIENCE_MS)


@frozen
class DashboardSetup:
    """What a browser test looks at."""

    proxy: ProxyProcess
    dashboard: ProxyProcess


@contextmanager
def dashboard_setup(*options: str) -> Iterator[DashboardSetup]:
    """Run a proxy of its own, and a dashboard for it."""
    with (
        running_proxy(*options) as proxy,
        running_proxy("--proxy-url", proxy.url, command=COMMAND) as dashboard,
    ):
        yield DashboardSetup(proxy, dashboard)


@functools.cache
def shared_setup() -> DashboardSetup:
    """Give the proxy and dashboard that tests share which only look; they end with the process."""
    stack = ExitStack()
    made = stack.enter_context(dashboard_setup(*QUIET))
    day(stack.enter_context(ProxyClients(made.proxy.url)))
    until(lambda: settled(made.proxy), made.proxy.process, made.proxy.output)
    atexit.register(stack.close)
    return made


def settled(proxy: ProxyProcess) -> bool:
    """Tell whether no request waits for a decision any more."""
    return not proxy.get("/api/history?fields=summary&action=pending")["entries"]


def fixed_port() -> tuple[str, ...]:
    """Give options for a port that a service can be started on again."""
    return ("--port", str(free_port()))


class BrowserTestCase(SynchronousTestCase):
    """Opens pages, and fails for whatever a page complains of."""

    def setUp(self) -> None:
        self.complaints: list[str] = []
        self.foreign: list[str] = []

    def run(self, result: Any = None) -> Any:
        """Run the whole test where the browser is."""
        return in_browser_thread(lambda: super(BrowserTestCase, self).run(result))

    def open(self, path: str = "/", dashboard: str = "", **context: Any) -> Page:
        """Open a page, and wait until it has heard of the proxy."""
        base = dashboard or shared_setup().dashboard.url
        opened = browser().new_context(**{"viewport": SIZE, **context})
        self.addCleanup(opened.close)
        opened.set_default_timeout(PATIENCE_MS)
        opened.grant_permissions(["clipboard-read", "clipboard-write"])
        page = opened.new_page()
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", self._on_console)
        page.on("request", lambda asked: self._asked(asked.url, base))
        page.goto(base + path)
        expect(page.locator(".pill")).not_to_have_text("connecting…")
        return page

    def _on_console(self, message: Any) -> None:
        if message.type in ("error", "warning") and "Failed to load resource" not in message.text:
            self.complaints.append(message.text)

    def _asked(self, url: str, base: str) -> None:
        if not url.startswith((base, "blob:", "data:", "about:")):
            self.foreign.append(url)

    def tearDown(self) -> None:
        """Nothing was complained of, and nothing was asked of anybody else."""
        self.assertEqual((self.complaints, self.foreign), ([], []))


def rows(page: Page) -> Locator:
    """Find the rows in sight."""
    return page.locator(".grid-body .grid-row")


def row(page: Page, text: str) -> Locator:
    """Find the first row with this text."""
    return rows(page).filter(has_text=text).first


def show(page: Page, text: str, tab: str = "") -> Locator:
    """Open an entry, and a part of it; give the part."""
    row(page, text).click()
    panel = page.locator(".detail-pane .tabpanel")
    if tab:
        page.get_by_role("tab", name=tab).click()
    expect(panel).to_be_visible()
    return panel


def clipboard(page: Page) -> str:
    """Read what was copied."""
    expect(page.locator("#said")).to_contain_text("Copied")
    text: str = page.evaluate("navigator.clipboard.readText()")
    return text
