"""What others recorded can be anything: it is shown, and does nothing."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Page, expect

from tests.dashboard.fixtures.browser import (
    BrowserTestCase,
    DashboardSetup,
    ask_now,
    forgetful_setup,
    rows,
    show,
)
from tests.dashboard.fixtures.clients import ProxyClients, Worker, request, response
from tests.dashboard.fixtures.traffic import claimed_socket

SCRIPT = "<script>window.hit=1</script><img src=x onerror=window.hit=1><svg onload=window.hit=1>"
RTL = "\u202egnp.exe\u2066\u200f"
CONTROLS = "a\0b\x1b[31mc\x7f\x85\ufeffd"
LONG = 5_000_000
WIDTH = 1400


@contextmanager
def hostile(asked: dict[str, Any], answer: dict[str, Any]) -> Iterator[DashboardSetup]:
    """Give a proxy and dashboard in which this is what was recorded last."""
    made = forgetful_setup()
    with ProxyClients(made.proxy.url) as clients:
        agent = clients.agent(f"shop {SCRIPT} {RTL}")
        worker = clients.worker("0")
        test = worker.test(f"t {SCRIPT} {RTL}", f"f {SCRIPT}.ts")
        worker.route(test, urlGlob="**")
        worker.answers(agent, asked, action="fulfill", response=answer)
        yield made


class HostileTests(BrowserTestCase):
    """Traffic that wants to be more than text."""

    def setUp(self) -> None:
        super().setUp()
        self.host = f"{self._testMethodName.replace('_', '-')}.example"

    def newest(self, made: DashboardSetup, text: str = "") -> Page:
        """Show the list, when what was recorded last is in it."""
        page = self.look(dashboard=made.dashboard.url)
        ask_now(page)
        expect(rows(page).first).to_contain_text(text or self.host)
        return page

    def walk(self, page: Page) -> None:
        """Look at everything of the first entry."""
        page.keyboard.press("n")  # what is new is above a row in hand, behind a button
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
        url = f"https://{self.host}/{SCRIPT}?q={SCRIPT}"
        headers = {"x-a": SCRIPT, SCRIPT: "1", "content-type": "text/html"}
        asked = request(url, f"G{SCRIPT}", headers=headers, body=SCRIPT)
        with hostile(asked, response(200, SCRIPT, "text/html", x_b=SCRIPT)) as made:
            page = self.newest(made)
            self.walk(page)
            panel = show(page, self.host, "Response")
            expect(panel.locator("pre.text")).to_have_text(SCRIPT)
            self.assertEqual(page.locator("#main script, #main [onerror]").count(), 0)

    def test_pictures_that_run(self) -> None:
        """SVG, which can hold programs, and an invalid picture run nothing."""
        page = self.look(dashboard=forgetful_setup().dashboard.url)
        for kind in ("image/svg+xml", "image/png"):
            svg = '<svg xmlns="http://www.w3.org/2000/svg" onload="window.hit=1"/>'
            with hostile(request(f"https://{kind[6:9]}.example/"), response(200, svg, kind)):
                ask_now(page)
                expect(rows(page).first).to_contain_text(kind[6:9])
                self.walk(page)
                panel = show(page, f"{kind[6:9]}.example", "Response")
                if kind == "image/png":
                    expect(panel.locator("figcaption")).to_contain_text("no picture")
                else:
                    expect(panel.locator("pre.text")).to_have_text(svg)

    def test_links_that_run(self) -> None:
        """A URL that is a program is no link."""
        asked = request(f"https://{self.host}/")
        asked["url"] = "javascript:window.hit=1//"
        with hostile(asked, response(302, None, location="javascript:window.hit=1")) as made:
            page = self.newest(made, "javascript:")
            self.walk(page)
            self.assertEqual(page.locator("a[href^='javascript']").count(), 0)

    def test_direction_and_controls(self) -> None:
        """What reorders text, and what is not seen, is made visible."""
        text = f"{CONTROLS}{RTL}"
        asked = request(f"https://{self.host}/{RTL}", headers={"x-a": text}, body=text)
        with hostile(asked, response(200, text, "text/plain; charset=x-unknown")) as made:
            page = self.newest(made)
            self.walk(page)
            panel = show(page, self.host, "Response")
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
        asked = request(f"https://{self.host}/{'u' * 60_000}", headers={"x-long": "v" * 60_000})
        with hostile(asked, response(200, line, "text/plain")) as made:
            page = self.newest(made)
            self.walk(page)
            panel = show(page, self.host, "Response")
            shown = panel.locator("pre.text")
            expect(shown).to_have_count(1)
            self.assertEqual(len(shown.first.inner_text()), 64 * 1024)
            more = panel.get_by_role("button", name="Show more: 4,934,464 characters are left")
            for _ in range(3):
                more.click()
                # The last view of the walk may draw the request once more, from its first piece.
                if shown.count() == 2:
                    break
            expect(shown).to_have_count(2)

    def test_long_json(self) -> None:
        """JSON of 100,000 items, or 500 levels deep, unfolds as far as somebody looks."""
        wide = f"[{','.join(['[1]'] * 100_000)}]"
        deep = "[" * 500 + "]" * 500
        page = self.look(dashboard=forgetful_setup().dashboard.url)
        for name, body in (("wide", wide), ("deep", deep)):
            with hostile(request(f"https://{name}.example/"), response(200, body)):
                ask_now(page)
                expect(rows(page).first).to_contain_text(name)
                self.walk(page)
                panel = show(page, f"{name}.example", "Response")
                panel.get_by_role("button", name="Unfold all").click()
                expect(panel.locator(".json")).to_be_visible()
                self.assertLess(panel.locator(".json *").count(), 100_000)

    def test_odd_json(self) -> None:
        """Keys that mean something to JavaScript are keys like others."""
        body = '{"__proto__": {"hit": 1}, "constructor": 1, "": 2, "toString": null}'
        with hostile(request(f"https://{self.host}/"), response(200, body)) as made:
            page = self.newest(made)
            self.walk(page)
            panel = show(page, self.host, "Response")
            for key in ("__proto__", "constructor", '""', "toString"):
                expect(panel.locator(".json-key", has_text=key).first).to_be_visible()

    def test_frames(self) -> None:
        """Frames of a WebSocket are text, whatever they hold."""
        made = forgetful_setup()
        with ProxyClients(made.proxy.url) as clients:
            agent = clients.agent("shop")
            worker: Worker = clients.worker("0")
            test = worker.test("t", "f")
            url = f"wss://{self.host}/{SCRIPT}"
            socket = claimed_socket(agent, worker, test, url, "**")
            for data in (SCRIPT, CONTROLS + RTL, "y" * 1_000_000):
                agent.client.send("ws:messageFromPage", socketId=socket, data=data, isBase64=False)
                worker.client.until("ws:messageFromPage")
            page = self.look("/?view=ws", made.dashboard.url)
            panel = show(page, self.host)
            expect(panel.locator(".frame-client")).to_have_count(3)
            expect(panel).to_contain_text(SCRIPT)
            expect(panel).to_contain_text("⟨U+202E⟩")
            self.assertIsNone(page.evaluate("window.hit ?? null"))

    def test_nobody_else_is_asked(self) -> None:
        """Whatever is looked at, the page talks to the dashboard only."""
        asked: list[str] = []
        page = self.apart().page
        page.on("request", lambda request: asked.append(request.url))
        with hostile(request("https://h.example/"), response(200, SCRIPT, "text/html")) as made:
            page.goto(made.dashboard.url)
            self.walk(page)
            for url in asked:
                self.assertTrue(url.startswith((made.dashboard.url, "blob:", "data:")), url)

    def test_policy(self) -> None:
        """Were markup ever to get in, the policy would not let it run or call out."""
        page = self.open()
        with page.expect_console_message():
            page.evaluate(f"document.getElementById('main').innerHTML = `{SCRIPT}`")
        self.assertIsNone(page.evaluate("window.hit ?? null"))
        called = page.evaluate("fetch('http://127.0.0.1:9/x').then(() => 'out', () => 'blocked')")
        self.assertEqual(called, "blocked")
        self.assertTrue(all("Content Security Policy" in message for message in self.complaints))
        self.assertGreater(len(self.complaints), 1)
        self.complaints.clear()
