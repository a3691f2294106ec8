"""Measures a list of 10,000 requests: ``python -m tests.dashboard.browser.scrolling``."""

import sys
from typing import Any

from playwright.sync_api import Page, expect

from tests.dashboard.fixtures.browser import dashboard_setup
from tests.dashboard.fixtures.clients import Agent, ProxyClients, request, response
from tests.dashboard.fixtures.one_thread import browser, in_browser_thread
from tests.dashboard.fixtures.tab import SIZE

COUNT = 10_000
_AT_ONCE = 200
_SCROLL = """async () => {
  const grid = document.querySelector(".grid");
  const times = [];
  let before = performance.now();
  for (let step = 0; step < 300; step++) {
    grid.scrollTop += step % 100 < 50 ? 900 : 45;
    await new Promise(requestAnimationFrame);
    const now = performance.now();
    times.push(now - before);
    before = now;
  }
  return times.slice(5).sort((one, other) => one - other);
}"""
_WORK = """() => {
  const grid = document.querySelector(".grid");
  const times = [];
  for (let step = 0; step < 300; step++) {
    const before = performance.now();
    grid.scrollTop = (step * 7919) % (grid.scrollHeight - 900);
    grid.dispatchEvent(new Event("scroll"));
    grid.getBoundingClientRect();
    times.push(performance.now() - before);
  }
  return times.sort((one, other) => one - other);
}"""


def fill(agent: Agent, count: int) -> None:
    """Make many requests that nobody wants."""
    for start in range(0, count, _AT_ONCE):
        asked = [
            agent.start(request(f"https://shop-{number % 7}.example/items/{number}"))
            for number in range(start, min(count, start + _AT_ONCE))
        ]
        for request_id in asked:
            agent.decided(request_id)
            agent.report(request_id, response(200 if len(request_id) % 2 else 404))
    agent.settled()


def heap(page: Page) -> int:
    """Count the bytes of the page's objects, after garbage was collected."""
    client = page.context.new_cdp_session(page)
    client.send("HeapProfiler.collectGarbage")
    used: int = client.send("Runtime.getHeapUsage")["usedSize"]
    return used


def _shown(name: str, times: list[float]) -> str:
    at = {share: times[min(len(times) - 1, int(len(times) * share))] for share in (0.5, 0.95, 0.99)}
    parts = ", ".join(f"p{share * 100:.0f} {ms:.1f} ms" for share, ms in at.items())
    return f"{name}: {parts}, longest {times[-1]:.1f} ms"


def measure() -> list[str]:
    """Scroll, and say how long frames took."""
    with (
        dashboard_setup("--history-limit", str(COUNT)) as made,
        ProxyClients(made.proxy.url) as clients,
    ):
        fill(clients.agent("shop"), COUNT)
        page = browser().new_page(viewport=SIZE)
        page.goto(made.dashboard.url)
        expect(page.locator(".result")).to_have_text("10,000 shown", timeout=60_000)
        page.keyboard.press("p")
        frames: Any = page.evaluate(_SCROLL)
        work: Any = page.evaluate(_WORK)
        elements = page.locator(".grid-body .grid-row").count()
        return [
            _shown("frames while scrolling", frames),
            _shown("work of one jump", work),
            f"rows that are elements: {elements}; heap: {heap(page) / 1e6:.1f} MB",
        ]


if __name__ == "__main__":
    for line in in_browser_thread(measure):
        sys.stdout.write(line + "\n")
