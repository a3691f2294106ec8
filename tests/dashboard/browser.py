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
from tests.dashboard.one_thread import in_browser_thread
from tests.dashboard.tab import SIZE, Tab, Theme, heard_of_proxy, new_tab, shared_tab
from tests.dashboard.traffic import day
from tests.support.processes.proxy_process import (
    NO_PINGS,
    ProxyProcess,
    free_port,
    running_proxy,
    until,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Locator, Page, ViewportSize

COMMAND = [sys.executable, "-m", "trafficmock", "dashboard"]
LITTLE = 3


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
    made = stack.enter_context(dashboard_setup(*NO_PINGS))
    day(stack.enter_context(ProxyClients(made.proxy.url)))
    until(lambda: settled(made.proxy), made.proxy.process, made.proxy.output)
    atexit.register(stack.close)
    return made


@functools.cache
def busy_setup() -> DashboardSetup:
    """Give a proxy and dashboard to which tests add; each looks at its own traffic."""
    return _until_exit()


@functools.cache
def forgetful_setup() -> DashboardSetup:
    """Give a proxy and dashboard likewise, which remember the last ``LITTLE`` requests."""
    return _until_exit("--history-limit", str(LITTLE))


def _until_exit(*options: str) -> DashboardSetup:
    stack = ExitStack()
    made = stack.enter_context(dashboard_setup(*options))
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
        self.complaints = shared_tab().complaints
        self.complaints.clear()

    def run(self, result: Any = None) -> Any:
        """Run the whole test where the browser is."""
        return in_browser_thread(lambda: self._run_here(result))

    def _run_here(self, result: Any) -> Any:
        done = super().run(result)
        if result is not None and not result.wasSuccessful():
            shared_tab().spoil()
        return done

    def open(
        self,
        path: str = "/",
        dashboard: str = "",
        *,
        viewport: ViewportSize = SIZE,
        theme: Theme = "light",
    ) -> Page:
        """Load a page in a browser that remembers nothing of it."""
        tab = shared_tab()
        self.addCleanup(tab.reset)
        return tab.load((dashboard or shared_setup().dashboard.url) + path, viewport, theme)

    def look(self, path: str = "/", dashboard: str = "", *, viewport: ViewportSize = SIZE) -> Page:
        """Show an address on the page that is there, for a test that leaves it as it was.

        Such a test may filter, open rows and arrange columns. What the page or the browser
        remembers beyond that (theme, cleared rows, filters of frames) is for :meth:`open`.
        """
        tab, base = shared_tab(), dashboard or shared_setup().dashboard.url
        self.addCleanup(tab.tidy, base)
        return tab.look(base, path, viewport)

    def apart(self) -> Tab:
        """Give a tab of its own, for what cannot be taken back, like a clock."""
        tab = new_tab(self.complaints)
        self.addCleanup(tab.context.close)
        return tab

    def tearDown(self) -> None:
        """Nothing was complained of."""
        self.assertEqual(self.complaints, [])


def reload(page: Page) -> None:
    """Load the page again, with what the browser remembers."""
    page.reload()
    heard_of_proxy(page)


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


def ask_now(page: Page) -> None:
    """Let the page ask the proxy at once what is new, as it does when it comes into sight."""
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")


def clipboard(page: Page) -> str:
    """Read what was copied."""
    expect(page.locator("#said")).to_contain_text("Copied")
    text: str = page.evaluate("navigator.clipboard.readText()")
    return text
