"""Everybody can use it: axe-core finds nothing, at any size, in light and dark."""

import re

from playwright.sync_api import Page, expect

from tests.dashboard.browser import BrowserTestCase, show
from tests.support.proxy_process import REPOSITORY

AXE = REPOSITORY / "tests" / "e2e" / "node" / "node_modules" / "axe-core" / "axe.min.js"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
_RUN = """async (rules) => {
  const { violations } = await axe.run({ runOnly: rules });
  const said = (node) => `${node.html} ${node.any.map((check) => check.message)}`;
  return violations.map((one) => `${one.id}: ${one.nodes.map(said).join(" | ")}`);
}"""


def violations(page: Page) -> list[str]:
    """Run axe-core in the page, past the policy that keeps all other foreign scripts out."""
    page.evaluate(AXE.read_text(encoding="utf-8"))
    page.wait_for_timeout(200)
    found: list[str] = page.evaluate(_RUN, RULES)
    return found


class AxeTests(BrowserTestCase):
    """No violation of WCAG 2.2 AA, or of axe's own advice."""

    def check(self, theme: str) -> None:
        for view in ("overview", "http", "ws", "connections"):
            page = self.open(f"/?view={view}", color_scheme=theme)
            self.assertEqual(violations(page), [], (view, theme))
            if view == "connections":
                page.locator("details summary").first.click()
                self.assertEqual(violations(page), [], (view, theme))
            page.context.close()
        page = self.open("/?q=zzz", color_scheme=theme)
        page.get_by_role("button", name="Clear filters").first.click()
        page.get_by_role("button", name="Size", exact=True).click()
        page.keyboard.press("Shift+ArrowRight")
        page.get_by_role("button", name="Save as HAR").click()
        expect(page.get_by_text("Saved 12 entries")).to_be_visible()
        self.assertEqual(violations(page), [], ("columns", theme))
        page.get_by_role("button", name="Clear the list").click()
        self.assertEqual(violations(page), [], ("cleared", theme))
        page.context.close()
        page = self.open("/?q=a&last=3600", color_scheme=theme)
        for text, tab in [
            ("charges", "Overview"),
            ("charges", "Response"),
            ("stock.example", "Changes"),
            ("stock.example", "Timeline"),
            ("short.example", "Redirects"),
            ("search.example", "Overview"),
            ("metrics", "Request"),
        ]:
            show(page, text, tab)
            self.assertEqual(violations(page), [], (text, tab, theme))
        page.keyboard.press("?")
        self.assertEqual(violations(page), [], ("help", theme))
        page = self.open("/?view=ws", color_scheme=theme)
        show(page, "room=17")
        self.assertEqual(violations(page), [], ("frames", theme))

    def test_light(self) -> None:
        """In every view and part, in light."""
        self.check("light")

    def test_dark(self) -> None:
        """In every view and part, in dark."""
        self.check("dark")

    def test_away(self) -> None:
        """Also while the proxy is away."""
        page = self.open(color_scheme="light")
        page.route("**/state", lambda route: route.abort())
        expect(page.locator("#banner")).not_to_be_empty()
        self.assertEqual(violations(page), [])
        page.emulate_media(color_scheme="dark")
        self.assertEqual(violations(page), [])


class SizeTests(BrowserTestCase):
    """Small windows and large letters."""

    def test_no_sideways(self) -> None:
        """From 900 px on, and at 200 % of a common window, nothing is cut off sideways."""
        for width, height in ((900, 700), (640, 430)):
            page = self.open(viewport={"width": width, "height": height})
            for key, view in (("1", "overview"), ("2", "http"), ("3", "ws"), ("4", "connections")):
                page.keyboard.press(key)
                expect(page).to_have_url(re.compile(rf"view={view}|/$"))
                wide = page.evaluate("document.documentElement.scrollWidth")
                self.assertLessEqual(wide, width, view)

    def test_entry_at_200_percent(self) -> None:
        """At 200 % the entry takes the whole width, can be read, and closed."""
        page = self.open(viewport={"width": 640, "height": 430})
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
        """Whatever has the focus has an outline, all the way through the page."""
        page = self.open()
        seen = set()
        for _ in range(40):
            page.keyboard.press("Tab")
            seen.add(
                page.evaluate(
                    "[document.activeElement.tagName, document.activeElement === document.body"
                    " ? 'solid' : getComputedStyle(document.activeElement).outlineStyle].join(' ')"
                )
            )
        bad = {what for what in seen if what.split()[1] == "none" and "MAIN" not in what}
        self.assertEqual(bad, set())
