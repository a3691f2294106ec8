"""A list of 10,000 requests: only what is in sight exists, and the memory stays bounded.

How smoothly it scrolls is measured by ``python -m tests.dashboard.scrolling``.
"""

from playwright.sync_api import expect

from tests.dashboard.browser import BrowserTestCase, rows, world
from tests.dashboard.clients import Stage, request, response
from tests.dashboard.scrolling import COUNT, fill, heap


class LargeTests(BrowserTestCase):
    """10,000 rows."""

    def test_large(self) -> None:
        """It has few elements, finds anything, and one new row makes one small answer."""
        options = ("--history-limit", str(COUNT + 1))
        with world(*options) as made, Stage(made.proxy.url) as stage:
            agent = stage.agent("shop")
            fill(agent, COUNT)
            page = self.open(dashboard=made.dashboard.url)
            expect(page.locator(".result")).to_have_text("10,000 shown", timeout=60_000)
            self.assertLess(rows(page).count(), 60)
            page.locator(".grid").focus()
            page.keyboard.press("End")
            expect(rows(page).last).to_contain_text("/items/0")
            page.keyboard.press("/")
            page.keyboard.type("/items/777")
            expect(page.locator(".result")).to_have_text("11 of 10,000")
            page.keyboard.press("Escape")
            page.keyboard.press("x")
            with page.expect_response("**/api/history?*") as answering:
                agent.passes(request("https://new.example/"), response())
            self.assertLess(len(answering.value.body()), 1500)
            expect(page.locator(".result")).to_have_text("10,001 shown")
            self.assertLess(heap(page), 80_000_000)
