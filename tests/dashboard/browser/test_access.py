"""Everybody can use it: axe-core finds nothing, at any size, in light and dark."""

import re

from playwright.sync_api import Page, expect

from tests.dashboard.fixtures.browser import BrowserTestCase, ask_now, show
from tests.support.processes.proxy_process import REPOSITORY

AXE = REPOSITORY / "tests" / "interop" / "npm" / "node" / "node_modules" / "axe-core" / "axe.min.js"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
COLOURS = ["color-contrast", "link-in-text-block"]
"""What depends on the theme: the elements are the same in both."""

WHOLE = "html"
ENTRY = ".detail-pane"
_RUN = """async ([within, runOnly]) => {
  const { violations } = await axe.run(within, { runOnly, resultTypes: ["violations"] });
  const said = (node) => `${node.html} ${node.any.map((check) => check.message)}`;
  return violations.map((one) => `${one.id}: ${one.nodes.map(said).join(" | ")}`);
}"""

TABS = 45
"""The number of elements and parts of date fields that Tab reaches, and a few more."""
_FOCUSED_WITHOUT_OUTLINE = """() => {
  const { body, activeElement } = document;
  if ([body, document.getElementById("main")].includes(activeElement)) return null;
  return getComputedStyle(activeElement).outlineStyle === "none" ? activeElement.outerHTML : null;
}"""


def violations(page: Page, within: str, rules: list[str]) -> list[str]:
    """Run axe-core in the page, past the policy that keeps all other foreign scripts out."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text(encoding="utf-8"))
    found: list[str] = page.evaluate(_RUN, [within, rules])
    return found


class AxeTests(BrowserTestCase):
    """No violation of WCAG 2.2 AA, or of axe's own advice."""

    def check(self, page: Page, within: str = WHOLE) -> None:
        """Apply all rules in light, and those of colours in dark."""
        self.assertEqual(violations(page, within, RULES), [], "light")
        page.emulate_media(color_scheme="dark")
        self.assertEqual(violations(page, within, COLOURS), [], "dark")
        page.emulate_media(color_scheme="light")

    def test_views(self) -> None:
        """In every view, and in the list with filters, other columns, and rows cleared."""
        page = self.open("/?view=overview")
        self.check(page)
        page.keyboard.press("4")
        page.locator("details summary").first.click()
        self.check(page)
        page.keyboard.press("3")
        show(page, "room=17")
        self.check(page)
        page.keyboard.press("2")
        page.get_by_role("button", name="Size", exact=True).click()
        page.keyboard.press("Shift+ArrowRight")
        page.get_by_role("button", name="Save as HAR").click()
        expect(page.get_by_text("Saved 12 entries")).to_be_visible()
        self.check(page)
        page.get_by_role("button", name="Clear the list").click()
        self.check(page)
        page.locator("#cleared").get_by_role("button").click()
        page.keyboard.press("/")
        page.keyboard.type("zzz")
        expect(page.get_by_text("Nothing fits the filters.")).to_be_visible()
        self.check(page, ".list-view")

    def test_entries(self) -> None:
        """In every part of an entry; the page around it is the same for all."""
        page = self.open("/?q=a&last=3600")
        show(page, "charges", "Overview")
        self.check(page)
        for text, tab in [
            ("charges", "Response"),
            ("stock.example", "Changes"),
            ("stock.example", "Timeline"),
            ("short.example", "Redirects"),
            ("search.example", "Overview"),
            ("metrics", "Request"),
        ]:
            show(page, text, tab)
            self.check(page, ENTRY)
        page.keyboard.press("?")
        self.check(page, "dialog")

    def test_away(self) -> None:
        """Also while the proxy is away."""
        page = self.open()
        page.route("**/state", lambda route: route.abort())
        ask_now(page)
        expect(page.locator("#banner")).not_to_be_empty()
        self.check(page, "#banner")
        self.check(page, "#top")


class SizeTests(BrowserTestCase):
    """Small windows and large letters."""

    def test_no_sideways(self) -> None:
        """From 900 px on, and at 200 % of a common window, nothing is cut off sideways."""
        for width, height in ((900, 700), (640, 430)):
            page = self.look(viewport={"width": width, "height": height})
            for key, view in (("1", "overview"), ("2", "http"), ("3", "ws"), ("4", "connections")):
                page.keyboard.press(key)
                expect(page).to_have_url(re.compile(rf"view={view}|/$"))
                wide = page.evaluate("document.documentElement.scrollWidth")
                self.assertLessEqual(wide, width, view)

    def test_entry_at_200_percent(self) -> None:
        """At 200 % the entry takes the whole width, can be read, and closed."""
        page = self.look(viewport={"width": 640, "height": 430})
        panel = show(page, "charges", "Response")
        box = panel.bounding_box()
        assert box is not None
        self.assertGreater(box["width"], 600)
        page.keyboard.press("Escape")
        expect(page.locator(".grid")).to_be_visible()

    def test_large_letters(self) -> None:
        """With letters of twice the size rows grow with them."""
        page = self.open()
        before = page.locator(".grid-head").bounding_box()
        page.evaluate("document.documentElement.style.fontSize = '200%'")
        page.mouse.wheel(0, 10)
        after = page.locator(".grid-head").bounding_box()
        assert before is not None
        assert after is not None
        self.assertGreater(after["height"], 1.9 * before["height"])

    def test_focus_is_seen(self) -> None:
        """Whatever has the focus has an outline, through the whole page and within its fields."""
        page = self.look()
        page.get_by_label("Time").select_option("between")
        page.get_by_role("link", name="Skip to the content").focus()
        bare = set()
        for _ in range(TABS):
            page.keyboard.press("Tab")
            bare.add(page.evaluate(_FOCUSED_WITHOUT_OUTLINE))
        self.assertEqual(bare, {None})
        page.get_by_label("Time").select_option("")
