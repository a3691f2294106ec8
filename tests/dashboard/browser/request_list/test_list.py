"""The list of requests in a browser: what it shows, filters, and how it keeps its place."""

import re

from playwright.sync_api import expect

from tests.dashboard.browser.request_list.day_rows import ALL, PASSED, hosts
from tests.dashboard.fixtures.browser import (
    LITTLE,
    BrowserTestCase,
    ask_now,
    busy_setup,
    forgetful_setup,
    row,
    rows,
    show,
)
from tests.dashboard.fixtures.clients import ProxyClients, request, response


class ShownTests(BrowserTestCase):
    """What stands in a row."""

    def test_cells(self) -> None:
        """Each cell of a row says what its column is about, in a form that people read."""
        page = self.look()
        cells = row(page, "stock.example").locator("[role=gridcell]").all_text_contents()
        self.assertRegex(cells[0], r"^\d\d:\d\d:\d\d\.\d{3}$")
        self.assertEqual(cells[1:4], ["PUT", "200", "stock.example"])
        self.assertEqual(cells[4], "/items/teapot?warehouse=eu-1&fields=count,price")
        self.assertEqual(cells[5:7], ["continue", "shop"])
        self.assertEqual(cells[7], "buys a teapot with a card tests/checkout.spec.ts")
        self.assertEqual(cells[8:10], ["json", "30 B"])
        self.assertRegex(cells[10], r"^\d+ ms$")

    def test_action(self) -> None:
        """Each action is a word and a colour of its own."""
        page = self.look()
        colours = set()
        for action in ("error", "passthrough", "abort", "continue", "fulfill"):
            badge = page.locator(f".badge.action-{action}").first
            expect(badge).to_have_text(action)
            colours.add(badge.evaluate("badge => getComputedStyle(badge).color"))
        self.assertEqual(len(colours), 5)

    def test_failures_stand_out(self) -> None:
        """What went wrong is marked, also when upstream failed and no test had to do with it."""
        page = self.look()
        marked = page.locator(".grid-row.failed .col-host").all_text_contents()
        self.assertEqual(
            [host.removesuffix(".example") for host in sorted(marked)],
            ["bank", "down", "odd", "search", "stock-eu"],
        )


class FilterTests(BrowserTestCase):
    """Filters, and the URL that has them."""

    def test_text(self) -> None:
        """Words filter by URL, method, status, test and error; all of them must be there."""
        page = self.look()
        search = page.get_by_label("Filter HTTP requests by text")
        for words, found in [
            ("charges", ["api.pay.example"]),
            ("POST teapot", ["api.pay.example"]),
            ("404", ["api.pay.example"]),
            ("ambiguous_route", ["search.example"]),
            ("ECONNREFUSED", ["down.example"]),
            ("TEAPOT PUT", ["stock.example"]),
        ]:
            search.fill(words)
            expect(page.locator(".grid-body .col-host")).to_have_text(found)
            expect(page.locator(".result")).to_have_text(f"{len(found)} of {ALL}")
        self.assertIn("q=TEAPOT+PUT", page.url)

    def test_actions(self) -> None:
        """Actions filter, several at once, with counts of what there is."""
        page = self.look()
        for name in ("fulfill", "abort", "continue"):
            page.get_by_role("button", name=f"{name} {PASSED[name]}", exact=True).click()
        expect(page.locator(".result")).to_have_text(f"4 of {ALL}")
        page.get_by_role("button", name="abort 2", exact=True).click()
        expect(page.locator(".result")).to_have_text(f"2 of {ALL}")
        self.assertIn("action=fulfill%2Ccontinue", page.url)

    def test_client_and_test(self) -> None:
        """Clients and tests filter, also tests that only wanted a request."""
        page = self.look()
        page.get_by_label("Client").select_option("mail-worker")
        expect(page.locator(".result")).to_have_text(f"2 of {ALL}")
        page.get_by_label("Client").select_option("")
        page.locator("label", has_text="Test").locator("select").select_option("filters by price")
        expect(page.locator(".result")).to_have_text(f"1 of {ALL}")
        self.assertEqual(hosts(page), ["search.example"])

    def test_time(self) -> None:
        """The last so many minutes filter, and two moments do, to the second."""
        page = self.look()
        page.get_by_label("Time").select_option("3600")
        expect(page.locator(".result")).to_have_text(f"{ALL} shown")
        page.get_by_label("Time").select_option("between")
        page.get_by_label("From").fill("2099-01-01T00:00:00")
        page.get_by_label("From").blur()
        expect(page.get_by_text("Nothing fits the filters.")).to_be_visible()
        page.get_by_role("button", name="Clear filters").first.click()
        expect(page.locator(".result")).to_have_text(f"{ALL} shown")
        expect(page.get_by_label("Time")).to_have_value("")
        expect(page.get_by_label("From")).to_be_hidden()

    def test_failures(self) -> None:
        """Only failures can be shown."""
        page = self.look()
        page.get_by_label("only failures").check()
        expect(page.locator(".result")).to_have_text(f"5 of {ALL}")

    def test_deep(self) -> None:
        """On demand the proxy searches headers and bodies too."""
        page = self.look("/?q=lovelace")
        expect(page.get_by_text("Nothing fits the filters.")).to_be_visible()
        page.get_by_label("headers and bodies too").check()
        expect(page.locator(".result")).to_have_text(f"1 of {ALL}")
        self.assertEqual(hosts(page), ["api.pay.example"])

    def test_shared(self) -> None:
        """A URL with filters, an entry and a tab opens just that, and Back closes the entry."""
        page = self.look("/?q=teapot&action=fulfill,continue")
        expect(page.locator(".result")).to_have_text(f"2 of {ALL}")
        show(page, "stock.example", "Changes")
        address = page.url.rpartition("/")[2]
        page.go_back()
        expect(page.locator(".detail-pane")).to_be_hidden()
        self.assertIn("q=teapot", page.url)
        again = self.open(f"/{address}")
        expect(again.get_by_role("tab", name="Changes")).to_have_attribute("aria-selected", "true")
        expect(again.locator(".detail-url")).to_contain_text("https://stock.example/items/teapot")
        expect(again.locator(".result")).to_have_text(f"2 of {ALL}")


class PlaceTests(BrowserTestCase):
    """New rows while somebody reads."""

    def test_place(self) -> None:
        """At the top the newest follows; below it, or with a row in hand, nothing moves."""
        made = busy_setup()
        with ProxyClients(made.proxy.url) as clients:
            agent = clients.agent("reader")

            def more(count: int, name: str) -> None:
                for number in range(count):
                    url = f"https://{name}.example/{number}"
                    agent.passes(request(url), response())
                agent.settled()

            more(100, "old")
            page = self.open("/?client=reader", made.dashboard.url)
            expect(page.locator(".result")).to_have_text(re.compile("^100 "))
            self.assertEqual(hosts(page)[0], "old.example")
            more(1, "followed")
            ask_now(page)
            expect(rows(page).first).to_contain_text("followed.example")
            target = row(page, "/50")
            page.locator(".grid").evaluate("grid => { grid.scrollTop = 1400 }")
            expect(target).to_be_in_viewport()
            before = target.bounding_box()
            more(7, "new")
            ask_now(page)
            expect(page.get_by_role("button", name="↑ 7 new")).to_be_visible()
            self.assertEqual(target.bounding_box(), before)
            page.get_by_role("button", name="↑ 7 new").click()
            expect(row(page, "new.example").first).to_be_in_viewport()
            expect(page.locator(".newer")).to_be_hidden()
            chosen = rows(page).nth(3)
            chosen.click()
            place = page.locator(".grid-row[aria-selected=true]").bounding_box()
            more(2, "late")
            ask_now(page)
            expect(page.get_by_role("button", name="↑ 2 new")).to_be_visible()
            self.assertEqual(page.locator(".grid-row[aria-selected=true]").bounding_box(), place)
            page.keyboard.press("n")
            expect(rows(page).first).to_contain_text("late.example")

    def test_evicted(self) -> None:
        """Rows that the proxy dropped go, and the entry that is open says so."""
        made = forgetful_setup()
        with ProxyClients(made.proxy.url) as clients:
            agent = clients.agent("shop")
            agent.passes(request("https://first.example/"), response())
            agent.settled()
            page = self.open(dashboard=made.dashboard.url)
            show(page, "first.example")
            for number in range(LITTLE + 4):
                agent.passes(request(f"https://next.example/{number}"), response())
            agent.settled()
            ask_now(page)
            expect(page.locator(".result")).to_have_text(f"{LITTLE} shown")
            expect(row(page, "first.example")).to_have_count(0)
            expect(page.locator(".detail-url")).to_contain_text("first.example")
