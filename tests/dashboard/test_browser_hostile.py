"""What others recorded can be anything: it is shown, and does nothing."""

import atexit
import functools
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from playwright.sync_api import Page, expect

from tests.dashboard.browser import BrowserTestCase, DashboardSetup, dashboard_setup, rows, show
from tests.dashboard.clients import ProxyClients, Worker, request, response
from tests.dashboard.traffic import claimed_socket

SCRIPT = "<script>window.hit=1</script><img src=x onerror=window.hit=1><svg onload=window.hit=1>"
RTL = "\u202egnp.exe\u2066\u200f"
CONTROLS = "a\0b\x1b[31mc\x7f\x85\ufeffd"
LONG = 5_000_000
WIDTH = 1400


@functools.cache
def small_history_setup() -> DashboardSetup:
    """Give the proxy and dashboard of these tests; the history keeps one request."""
    stack = ExitStack()
    made = stack.enter_context(dashboard_setup("--history-limit", "1"))
    atexit.register(stack.close)
    return made


@contextmanager
def hostile(asked: dict[str, Any], answer: dict[str, Any]) -> Iterator[DashboardSetup]:
    """Give a proxy and dashboard in which only this was recorded."""
    made = small_history_setup()
    with ProxyClients(made.proxy.url) as clients:
        agent = clients.agent(f"shop {SCRIPT} {RTL}")
        worker = clients.worker("0")
        test = worker.test(f"t {SCRIPT} {RTL}", f"f {SCRIPT}.ts")
        worker.route(test, urlGlob="**")
        worker.answers(agent, asked, action="fulfill", response=answer)
        yield made


class HostileTests(BrowserTestCase):
    """Traffic that wants to be more than text."""

    def walk(self, page: Page) -> None:
        """Look at everything of the first entry."""
        rows(page).first.click()
        for tab in page.get_by_role("tab").all():
            tab.click()
            for way in page.locator(".way").all():
                way.click()
        for view in ("1", "4", "2"):
            page.keyboard.press(view)
        self.assertIsNone(page.evaluate("window.hit ?? null"))
        self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), WIDTH)

    def test_markup(self) -> None:
        """Markup in URL, headers, bodies, titles, files and names is text everywhere."""
        url = f"https://h.example/{SCRIPT}?q={SCRIPT}"
        headers = {"x-a": SCRIPT, SCRIPT: "1", "content-type": "text/html"}
        asked = request(url, f"G{SCRIPT}", headers=headers, body=SCRIPT)
        with hostile(asked, response(200, SCRIPT, "text/html", x_b=SCRIPT)) as made:
            page = self.open(dashboard=made.dashboard.url)
            self.walk(page)
            panel = show(page, "h.example", "Response")
            expect(panel.locator("pre.text")).to_have_text(SCRIPT)
            self.assertEqual(page.locator("#main script, #main [onerror]").count(), 0)

    def test_pictures_that_run(self) -> None:
        """SVG, which can hold programs, and a picture that is none, run nothing."""
        for kind in ("image/svg+xml", "image/png"):
            svg = '<svg xmlns="http://www.w3.org/2000/svg" onload="window.hit=1"/>'
            with hostile(request("https://h.example/p"), response(200, svg, kind)) as made:
                page = self.open(dashboard=made.dashboard.url)
                self.walk(page)
                panel = show(page, "h.example", "Response")
                if kind == "image/png":
                    expect(panel.locator("figcaption")).to_contain_text("no picture")
                else:
                    expect(panel.locator("pre.text")).to_have_text(svg)

    def test_links_that_run(self) -> None:
        """A URL that is a program is no link."""
        asked = request("https://h.example/")
        asked["url"] = "javascript:window.hit=1//"
        with hostile(asked, response(302, None, location="javascript:window.hit=1")) as made:
            page = self.open(dashboard=made.dashboard.url)
            self.walk(page)
            self.assertEqual(page.locator("a[href^='javascript']").count(), 0)

    def test_direction_and_controls(self) -> None:
        """What reorders text, and what is not seen, is made visible."""
        text = f"{CONTROLS}{RTL}"
        asked = request(f"https://h.example/{RTL}", headers={"x-a": text}, body=text)
        with hostile(asked, response(200, text, "text/plain; charset=x-unknown")) as made:
            page = self.open(dashboard=made.dashboard.url)
            self.walk(page)
            panel = show(page, "h.example", "Response")
            panel.get_by_role("button", name="Text", exact=True).click()
            shown = panel.locator("pre.text")
            expect(shown).to_contain_text("a␀b␛[31mc␡⟨U+0085⟩")
            expect(shown).to_contain_text("⟨U+202E⟩gnp.exe⟨U+2066⟩⟨U+200F⟩")
            expect(rows(page).first.locator(".col-path")).to_contain_text("⟨U+202E⟩gnp.exe")
            for text in page.locator("body").all_inner_texts():
                self.assertNotIn("\u202e", text)

    def test_long(self) -> None:
        """Lines of 5 MB come a piece at a time, and the page stays quick to answer."""
        line = "x" * LONG
        asked = request(f"https://h.example/{'u' * 60_000}", headers={"x-long": "v" * 60_000})
        with hostile(asked, response(200, line, "text/plain")) as made:
            page = self.open(dashboard=made.dashboard.url)
            self.walk(page)
            panel = show(page, "h.example", "Response")
            shown = panel.locator("pre.text")
            expect(shown).to_have_count(1)
            self.assertEqual(len(shown.first.inner_text()), 64 * 1024)
            panel.get_by_role("button", name="Show more: 4,934,464 characters are left").click()
            expect(shown).to_have_count(2)

    def test_long_json(self) -> None:
        """JSON of 100,000 items, or 500 levels deep, unfolds as far as somebody looks."""
        wide = f"[{','.join(['[1]'] * 100_000)}]"
        deep = "[" * 500 + "]" * 500
        for body in (wide, deep):
            with hostile(request("https://h.example/"), response(200, body)) as made:
                page = self.open(dashboard=made.dashboard.url)
                self.walk(page)
                panel = show(page, "h.example", "Response")
                panel.get_by_role("button", name="Unfold all").click()
                expect(panel.locator(".json")).to_be_visible()
                self.assertLess(panel.locator(".json *").count(), 100_000)

    def test_odd_json(self) -> None:
        """Keys that mean something to JavaScript are keys like others."""
        body = '{"__proto__": {"hit": 1}, "constructor": 1, "": 2, "toString": null}'
        with hostile(request("https://h.example/"), response(200, body)) as made:
            page = self.open(dashboard=made.dashboard.url)
            self.walk(page)
            panel = show(page, "h.example", "Response")
            for key in ("__proto__", "constructor", '""', "toString"):
                expect(panel.locator(".json-key", has_text=key).first).to_be_visible()

    def test_frames(self) -> None:
        """Frames of a WebSocket are text, whatever they hold."""
        with dashboard_setup() as made, ProxyClients(made.proxy.url) as clients:
            agent = clients.agent("shop")
            worker: Worker = clients.worker("0")
            test = worker.test("t", "f")
            url = f"wss://h.example/{SCRIPT}"
            socket = claimed_socket(agent, worker, test, url, "**")
            for data in (SCRIPT, CONTROLS + RTL, "y" * 1_000_000):
                agent.client.send("ws:messageFromPage", socketId=socket, data=data, isBase64=False)
                worker.client.until("ws:messageFromPage")
            page = self.open("/?view=ws", dashboard=made.dashboard.url)
            panel = show(page, "h.example")
            expect(panel.locator(".frame-client")).to_have_count(3)
            expect(panel).to_contain_text(SCRIPT)
            expect(panel).to_contain_text("⟨U+202E⟩")
            self.assertIsNone(page.evaluate("window.hit ?? null"))

    def test_policy(self) -> None:
        """Were markup ever to get in, the policy would not let it run or call out."""
        page = self.open()
        page.evaluate(f"document.getElementById('main').innerHTML = `{SCRIPT}`")
        page.wait_for_timeout(500)
        self.assertIsNone(page.evaluate("window.hit ?? null"))
        called = page.evaluate("fetch('http://127.0.0.1:9/x').then(() => 'out', () => 'blocked')")
        self.assertEqual(called, "blocked")
        self.assertTrue(all("Content Security Policy" in message for message in self.complaints))
        self.assertGreater(len(self.complaints), 1)
        self.complaints.clear()
        self.foreign.clear()
