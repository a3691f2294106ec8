"""Clearing the list: what is shown goes from the page, not from the proxy, and comes back."""

from playwright.sync_api import expect

from tests.dashboard.fixtures.browser import (
    LITTLE,
    BrowserTestCase,
    ask_now,
    dashboard_setup,
    forgetful_setup,
    reload,
    row,
    rows,
    show,
)
from tests.dashboard.fixtures.clients import ProxyClients, request, response


class ClearTests(BrowserTestCase):
    """*Clear the list*."""

    def test_cleared(self) -> None:
        """What was shown goes, what comes later is listed; the page says so, and can undo it."""
        with dashboard_setup() as made, ProxyClients(made.proxy.url) as clients:
            agent = clients.agent("shop")
            for name in ("one", "two"):
                agent.passes(request(f"https://{name}.example/"), response())
            held = agent.start(request("https://held.example/"))
            agent.settled()
            page = self.open(dashboard=made.dashboard.url)
            show(page, "two.example")
            clear = page.get_by_role("button", name="Clear the list")
            clear.click()
            expect(rows(page)).to_have_count(0)
            expect(page.locator(".detail-pane")).to_be_hidden()
            expect(page.get_by_text("What comes from now on is listed here.")).to_be_visible()
            note = page.locator("#cleared")
            self.assertRegex(
                note.inner_text(), r"3 requests not shown: cleared from this page at \d\d:\d\d:\d\d"
            )
            expect(note).to_contain_text("The proxy keeps them")
            agent.decided(held)
            agent.report(held, response())
            agent.passes(request("https://three.example/"), response())
            agent.settled()
            ask_now(page)
            expect(rows(page)).to_have_count(1)
            expect(row(page, "three.example")).to_be_visible()
            page.keyboard.press("1")
            expect(page.locator(".figure", has_text="requests recorded")).to_contain_text("1")
            self.assertEqual(len(made.proxy.get("/api/history")["entries"]), 4)
            note.get_by_role("button", name="Show them again").click()
            expect(note).to_be_empty()
            page.keyboard.press("2")
            expect(rows(page)).to_have_count(4)

    def test_only_what_is_shown(self) -> None:
        """A filter spares the rest, each list is cleared by itself, and loading brings all back.

        A link within the page does not load it.
        """
        page = self.open("/?q=teapot")
        expect(page.locator(".result")).to_have_text("6 of 17")
        page.get_by_role("button", name="Clear the list").click()
        expect(page.locator(".result")).to_have_text("0 of 11")
        page.get_by_role("button", name="Clear filters").first.click()
        expect(page.locator(".result")).to_have_text("11 shown")
        page.keyboard.press("3")
        page.get_by_role("button", name="Clear the list").click()
        note = "6 requests and 3 WebSockets not shown"
        expect(page.locator("#cleared")).to_contain_text(note)
        page.keyboard.press("1")
        page.locator("a.figure").first.click()
        expect(page.locator(".result")).to_be_visible()
        expect(page.locator("#cleared")).to_contain_text(note)
        page.go_back()
        expect(page.locator(".figure").first).to_be_visible()
        page.keyboard.press("3")
        reload(page)
        expect(rows(page)).to_have_count(3)
        expect(page.locator("#cleared")).to_be_empty()

    def test_evicted(self) -> None:
        """The count falls with what the proxy drops; at none the note goes."""
        made = forgetful_setup()
        with ProxyClients(made.proxy.url) as clients:
            agent = clients.agent("shop")
            for number in range(LITTLE):
                agent.passes(request(f"https://old.example/{number}"), response())
            agent.settled()
            page = self.open(dashboard=made.dashboard.url)
            expect(rows(page)).to_have_count(LITTLE)
            page.get_by_role("button", name="Clear the list").click()
            for number in range(LITTLE - 1):
                agent.passes(request(f"https://new.example/{number}"), response())
            agent.settled()
            ask_now(page)
            expect(page.locator("#cleared")).to_contain_text("1 request not shown")
            agent.passes(request("https://new.example/last"), response())
            agent.settled()
            ask_now(page)
            expect(rows(page)).to_have_count(LITTLE)
            expect(page.locator("#cleared")).to_be_empty()
