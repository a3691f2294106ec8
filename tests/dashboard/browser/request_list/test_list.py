"""The list of requests in a browser: what it shows, filters, keys, and how it keeps its place."""

import re

from playwright.sync_api import Page, expect

from tests.dashboard.fixtures.browser import (
    LITTLE,
    BrowserTestCase,
    ask_now,
    busy_setup,
    clipboard,
    forgetful_setup,
    reload,
    row,
    rows,
    show,
)
from tests.dashboard.fixtures.clients import ProxyClients, request, response

PASSED = {"error": 2, "passthrough": 11, "abort": 2, "continue": 1, "fulfill": 1, "pending": 0}
ALL = sum(PASSED.values())


def hosts(page: Page) -> list[str]:
    return page.locator(".grid-body .col-host").all_text_contents()


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


class KeyTests(BrowserTestCase):
    """Everything by keyboard."""

    def chosen(self, page: Page) -> str:
        return page.locator(".grid-row[aria-selected=true] .col-host").text_content() or ""

    def test_list(self) -> None:
        """Arrows, j, k, Home and End go through the list; Enter opens, Esc closes."""
        page = self.look("/?q=passthrough")
        everything = hosts(page)
        page.locator(".grid").focus()
        for key, expected in [
            ("ArrowDown", 0),
            ("ArrowDown", 1),
            ("j", 2),
            ("k", 1),
            ("ArrowUp", 0),
            ("End", -1),
            ("Home", 0),
            ("PageDown", -1),
            ("PageUp", 0),
        ]:
            page.keyboard.press(key)
            self.assertEqual(self.chosen(page), everything[expected], key)
        active = page.locator(".grid").get_attribute("aria-activedescendant")
        expect(page.locator(f"#{active}")).to_have_attribute("aria-selected", "true")
        page.keyboard.press("Enter")
        expect(page.locator(".detail-pane")).to_be_visible()
        page.keyboard.press("ArrowDown")
        expect(page.locator(".detail-url")).to_contain_text(everything[1])
        page.keyboard.press("Escape")
        expect(page.locator(".detail-pane")).to_be_hidden()
        expect(page.locator(".grid")).to_be_focused()

    def test_enter_after_letters(self) -> None:
        """On a fresh page j takes a row in hand, and Enter opens it."""
        page = self.look()
        page.keyboard.press("j")
        page.keyboard.press("j")
        host = self.chosen(page)
        page.keyboard.press("Enter")
        expect(page.locator(".detail-url")).to_contain_text(host)

    def test_enter_on_a_button(self) -> None:
        """A button with the focus takes Enter, but not after j: that moved on to the list."""
        page = self.look()
        chip = page.get_by_role("button", name="passthrough 11", exact=True)
        chip.focus()
        page.keyboard.press("Enter")
        expect(chip).to_have_attribute("aria-pressed", "true")
        page.keyboard.press("j")
        page.keyboard.press("Enter")
        expect(page.locator(".detail-pane")).to_be_visible()
        expect(chip).to_have_attribute("aria-pressed", "true")

    def test_letters_while_reading(self) -> None:
        """With j the next entry comes, and who reads a part of it goes on reading there."""
        page = self.look()
        panel = show(page, "www.example.org", "Response")
        panel.focus()
        page.keyboard.press("k")
        expect(page.locator(".detail-url")).to_contain_text("mail.example")
        expect(panel).to_be_focused()

    def test_filter(self) -> None:
        """/ goes to the filter, Esc back to the list, x clears."""
        page = self.look()
        page.keyboard.press("/")
        page.keyboard.type("charges")
        expect(rows(page)).to_have_count(1)
        page.keyboard.press("Escape")
        expect(page.locator(".grid")).to_be_focused()
        page.keyboard.press("x")
        expect(page.locator(".result")).to_have_text(f"{ALL} shown")

    def test_views(self) -> None:
        """Digits go to the views, and Back returns."""
        page = self.look()
        for key, title in [("1", "Overview"), ("4", "Connections"), ("3", "WebSocket")]:
            page.keyboard.press(key)
            expect(page).to_have_title(f"{title} · trafficmock")
        page.go_back()
        expect(page).to_have_title("Connections · trafficmock")
        expect(page.locator("nav [aria-current=page]")).to_contain_text("Connections")

    def test_detail(self) -> None:
        """Brackets change the tab, c copies as cURL; arrows, Home and End work within the tabs."""
        page = self.look()
        show(page, "charges")
        page.keyboard.press("]")
        expect(page.get_by_role("tab", name="Request")).to_have_attribute("aria-selected", "true")
        page.keyboard.press("[")
        page.keyboard.press("End")
        expect(page.get_by_role("tab", name="Timeline")).to_be_focused()
        page.keyboard.press("ArrowRight")
        expect(page.get_by_role("tab", name="Overview")).to_be_focused()
        page.keyboard.press("c")
        self.assertTrue(clipboard(page).startswith("curl https://api.pay.example/v1/charges"))

    def test_help(self) -> None:
        """? explains keys and actions, and single keys can be turned off for good."""
        page = self.open()
        page.keyboard.press("?")
        dialog = page.get_by_role("dialog", name="Keys")
        expect(dialog).to_be_visible()
        dialog.get_by_label("Single letters").uncheck()
        dialog.get_by_role("button", name="Close").click()
        page.keyboard.press("1")
        expect(page).to_have_title("HTTP · trafficmock")
        reload(page)
        page.keyboard.press("1")
        expect(page).to_have_title("HTTP · trafficmock")

    def test_pause_and_theme(self) -> None:
        """One key pauses and goes on, another changes the theme, which is remembered."""
        page = self.open()
        page.keyboard.press("p")
        expect(page.locator(".pill")).to_have_text("paused")
        page.keyboard.press("p")
        expect(page.locator(".pill")).to_have_text("live")
        ground = "getComputedStyle(document.body).backgroundColor"
        light = page.evaluate(ground)
        page.keyboard.press("t")
        page.keyboard.press("t")
        dark = page.evaluate(ground)
        self.assertNotEqual(light, dark)
        reload(page)
        self.assertEqual(page.evaluate(ground), dark)

    def test_splitter(self) -> None:
        """The width of the detail changes by keys and by mouse, and is remembered."""
        page = self.open()
        show(page, "charges")
        bar = page.get_by_role("separator", name="Width of the detail")
        before = int(bar.get_attribute("aria-valuenow") or 0)
        bar.focus()
        page.keyboard.press("ArrowLeft")
        self.assertEqual(int(bar.get_attribute("aria-valuenow") or 0), before + 3)
        box = bar.bounding_box()
        assert box is not None
        page.mouse.move(box["x"] + 3, box["y"] + 50)
        page.mouse.down()
        page.mouse.move(700, box["y"] + 50)
        page.mouse.up()
        self.assertEqual(bar.get_attribute("aria-valuenow"), "50")


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
