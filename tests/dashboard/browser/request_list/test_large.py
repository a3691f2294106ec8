"""A long list of requests: only what is in sight exists, and the memory stays bounded.

500 of them, in the deep run 10,000.

How smoothly it scrolls is measured by ``python -m tests.dashboard.browser.scrolling``.
"""

from playwright.sync_api import expect

from tests.dashboard.browser.scrolling import COUNT, fill, heap
from tests.dashboard.fixtures.browser import BrowserTestCase, dashboard_setup, rows
from tests.dashboard.fixtures.clients import ProxyClients, request, response
from tests.support.hypothesis_profiles import DEEP

MANY = COUNT if DEEP else 500


class LargeTests(BrowserTestCase):
    """Thousands of rows."""

    def test_large(self) -> None:
        """It has few elements, finds anything, and one new row makes one small answer."""
        options = ("--history-limit", str(MANY + 1))
        with dashboard_setup(*options) as made, ProxyClients(made.proxy.url) as clients:
            agent = clients.agent("shop")
            fill(agent, MANY)
            page = self.open(dashboard=made.dashboard.url)
            expect(page.locator(".result")).to_have_text(f"{MANY:,} shown", timeout=60_000)
            self.assertLess(rows(page).count(), 60)
            page.locator(".grid").focus()
            page.keyboard.press("End")
            expect(rows(page).last).to_contain_text("/items/0")
            page.keyboard.press("/")
            page.keyboard.type("/items/477")
            expect(page.locator(".result")).to_have_text(f"{11 if DEEP else 1} of {MANY:,}")
            page.keyboard.press("Escape")
            page.keyboard.press("x")
            with page.expect_response("**/api/history?*") as answering:
                agent.passes(request("https://new.example/"), response())
            self.assertIn("&since=", answering.value.url)
            self.assertLess(len(answering.value.body()), 1500)
            expect(page.locator(".result")).to_have_text(f"{MANY + 1:,} shown")
            self.assertLess(heap(page), 80_000_000)
