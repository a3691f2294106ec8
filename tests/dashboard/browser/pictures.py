"""Makes the pictures of the documentation: ``python -m tests.dashboard.browser.pictures``."""

from __future__ import annotations

import base64
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from playwright.sync_api import Page, ViewportSize, expect

from tests.dashboard.fixtures.browser import dashboard_setup, show
from tests.dashboard.fixtures.clients import ProxyClients
from tests.dashboard.fixtures.one_thread import browser, in_browser_thread
from tests.dashboard.fixtures.traffic import day
from tests.report.sample_run import write_page
from tests.support.processes.proxy_process import NO_PINGS, REPOSITORY

PLACE = REPOSITORY / "docs" / "pictures"
SIZE: ViewportSize = {"width": 1240, "height": 700}
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
QUALITY = 0.6
_TO_WEBP = """async ([source, quality]) => {
  const image = new Image();
  image.src = `data:image/png;base64,${source}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = image.width;
  canvas.height = image.height;
  canvas.getContext("2d").drawImage(image, 0, 0);
  return canvas.toDataURL("image/webp", quality).split(",")[1];
}"""


def _entry(text: str, tab: str = "Overview") -> Callable[[Page], Any]:
    return lambda page: show(page, text, tab)


def _away(page: Page) -> None:
    away = '{"error":"proxy_unavailable","message":"Nothing answers at http://127.0.0.1:4310."}'
    page.route("**/state", lambda route: route.fulfill(status=502, body=away))
    expect(page.locator("#banner")).not_to_be_empty()


def _unfold(page: Page) -> None:
    page.locator("details summary").first.click()


def _nothing(_: Page) -> None:
    """Take it as it is."""


VIEWS: dict[str, tuple[str, Callable[[Page], Any]]] = {
    "overview": ("/?view=overview", _nothing),
    "http": ("/", _nothing),
    "websocket": ("/?view=ws", lambda page: show(page, "room=17")),
    "connections": ("/?view=connections", _unfold),
    "response": ("/", _entry("charges", "Response")),
    "ambiguous": ("/", _entry("search.example")),
    "changes": ("/", _entry("stock.example", "Changes")),
    "timeline": ("/", _entry("stock.example", "Timeline")),
    "redirects": ("/", _entry("short.example", "Redirects")),
    "picture": ("/", _entry("cdn.example", "Response")),
    "away": ("/", _away),
    "help": ("/", lambda page: page.keyboard.press("?")),
}


def _take(url: str, name: str, theme: Literal["light", "dark"]) -> int:
    path, prepare = VIEWS[name]
    page = browser().new_page(viewport=SIZE, color_scheme=theme)
    page.goto(url + path)
    expect(page.locator(".pill")).to_have_text("live")
    prepare(page)
    return _save(page, f"{name}-{theme}")


def _save(page: Page, name: str) -> int:
    """Write what a page shows, and close it; return the size of the file."""
    page.mouse.move(0, 0)
    page.wait_for_timeout(300)
    taken = page.screenshot()
    page.close()
    blank = browser().new_page()
    source = base64.b64encode(taken).decode()
    picture = base64.b64decode(blank.evaluate(_TO_WEBP, [source, QUALITY]))
    blank.close()
    return (PLACE / f"{name}.webp").write_bytes(picture)


def _take_report(theme: Literal["light", "dark"]) -> int:
    """Take the first view of a report."""
    page = browser().new_page(viewport=SIZE, color_scheme=theme)
    with TemporaryDirectory() as directory:
        page.goto(write_page(Path(directory)))
        return _save(page, f"report-{theme}")


def make() -> None:
    """Make all pictures, light and dark."""
    PLACE.mkdir(exist_ok=True)
    for theme in THEMES:
        sys.stdout.write(f"report-{theme}.webp: {_take_report(theme)} bytes\n")
    with dashboard_setup(*NO_PINGS) as made, ProxyClients(made.proxy.url) as clients:
        day(clients, time.sleep)
        for name in VIEWS:
            for theme in THEMES:
                size = _take(made.dashboard.url, name, theme)
                sys.stdout.write(f"{name}-{theme}.webp: {size} bytes\n")


if __name__ == "__main__":
    in_browser_thread(make)
