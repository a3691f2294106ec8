"""The keys of the list of requests."""

from playwright.sync_api import Page, expect

from tests.dashboard.browser.request_list.day_rows import ALL, hosts
from tests.dashboard.fixtures.browser import (
    BrowserTestCase,
    clipboard,
    reload,
    rows,
    show,
)


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
