"""The one tab of the browser that tests use, one after the other.

A page that is loaded costs a second of CPU, and a new context with its own process two more.
So tests that only look go through the page that is there by its own addresses, tests that change
what the page remembers load it again, and only what cannot be taken back gets a context of its own.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Literal

from attrs import define
from playwright.sync_api import expect

from tests.dashboard.one_thread import browser

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page, ViewportSize

PATIENCE_MS = 20_000
SIZE: ViewportSize = {"width": 1400, "height": 860}

Theme = Literal["light", "dark"]

_TIDY = """() => {
  const press = (key) =>
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  document.querySelector("[role=tab]")?.click();
  press("Escape");
  press("n");
  document.querySelector(".reset-columns:not([hidden])")?.click();
  document.activeElement?.blur();
  document.getElementById("said").textContent = "";
}"""
_GO = """(path) => {
  history.pushState(null, "", path);
  dispatchEvent(new PopStateEvent("popstate"));
}"""

expect.set_options(timeout=PATIENCE_MS)


@define
class Tab:
    """A page in a context of its own.

    :param complaints: what the page complained of since they were taken.
    """

    context: BrowserContext
    page: Page
    complaints: list[str]
    _tidy: str = ""

    def load(self, url: str, viewport: ViewportSize, theme: Theme) -> Page:
        """Load a page as if for the first time, and wait until it has heard of the proxy."""
        self._tidy = ""
        self._resize(viewport)
        self.page.emulate_media(color_scheme=theme)
        self.page.goto(url)
        heard_of_proxy(self.page)
        return self.page

    def look(self, base: str, path: str, viewport: ViewportSize) -> Page:
        """Go to an address of the page that is there, when a test left it tidy; else load it."""
        if self._tidy != base:
            return self.load(base + path, viewport, "light")
        self._tidy = ""
        self._resize(viewport)
        self.page.evaluate(_GO, path)
        return self.page

    def _resize(self, viewport: ViewportSize) -> None:
        if self.page.viewport_size != viewport:
            self.page.set_viewport_size(viewport)

    def tidy(self, base: str) -> None:
        """Close what a test has opened, so that the next one can look."""
        self.page.evaluate(_TIDY)
        self._tidy = base

    def reset(self) -> None:
        """Forget all that a test taught the browser; the next one loads the page."""
        self._tidy = ""
        self.page.unroute_all(behavior="ignoreErrors")
        self.page.evaluate("localStorage.clear()")

    def spoil(self) -> None:
        """Let the next test load the page: nobody knows how this one left it."""
        self._tidy = ""


def heard_of_proxy(page: Page) -> None:
    """Wait until a page has asked for everything once."""
    expect(page.locator(".pill")).not_to_have_text("connecting…")


def new_tab(complaints: list[str]) -> Tab:
    """Open a tab that shares nothing with others; who asks closes its context.

    :param complaints: where it notes what its page complains of.
    """
    context = browser().new_context(
        viewport=SIZE,
        reduced_motion="reduce",
        permissions=["clipboard-read", "clipboard-write"],
    )
    context.set_default_timeout(PATIENCE_MS)
    context.on("weberror", lambda error: complaints.append(str(error.error)))
    context.on("console", lambda said: complaints.extend(_complaint(said.type, said.text)))
    return Tab(context, context.new_page(), complaints)


def _complaint(kind: str, text: str) -> list[str]:
    """Tell whether what a page wrote to its console is one: at most one."""
    if kind in ("error", "warning") and "Failed to load resource" not in text:
        return [text]
    return []


@functools.cache
def shared_tab() -> Tab:
    """Give the tab of all tests; it ends with the browser."""
    return new_tab([])
