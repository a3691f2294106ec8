"""The other views in a browser: WebSockets, connections, overview."""

from playwright.sync_api import ViewportSize, expect

from tests.dashboard.fixtures.browser import (
    LITTLE,
    BrowserTestCase,
    ask_now,
    busy_setup,
    clipboard,
    forgetful_setup,
    row,
    rows,
    show,
)
from tests.dashboard.fixtures.clients import ProxyClients, request, response


class SocketTests(BrowserTestCase):
    """WebSockets."""

    def test_link_of_a_report(self) -> None:
        """A link that was written for a report, with the view in the fragment, is understood."""
        page = self.open("/#view=ws")
        expect(rows(page)).to_have_count(3)

    def test_list(self) -> None:
        """Each has its outcome as a word, its state, and its test; filters work as for requests."""
        page = self.look("/?view=ws")
        expect(rows(page)).to_have_count(3)
        self.assertEqual(
            row(page, "room=17").locator("[role=gridcell]").all_text_contents()[1:7],
            [
                "support.example",
                "/chat?room=17",
                "matched",
                "shop",
                "talks to support tests/chat.spec.ts",
                "closed 1000",
            ],
        )
        expect(row(page, "prices").locator(".col-state")).to_have_text("open")
        page.get_by_role("button", name="passthrough 1").click()
        expect(rows(page)).to_have_count(1)
        page.get_by_role("button", name="Clear filters").first.click()
        page.get_by_label("Filter WebSockets by text").fill("dishwasher")
        page.get_by_label("headers and bodies too").check()
        expect(rows(page)).to_have_count(1)

    def test_frames(self) -> None:
        """Frames stand on their sender's side, oldest first; JSON is a tree, bytes are hex."""
        page = self.look("/?view=ws")
        panel = show(page, "room=17")
        expect(panel.locator(".frame-client")).to_have_count(3)
        expect(panel.locator(".frame-server")).to_have_count(3)
        message = panel.locator(".frame-kind-frame").all_inner_texts()
        self.assertIn("Ada", message[0])
        self.assertIn("welcome", message[1])
        self.assertIn("00000000  00 01 02", message[5])
        expect(panel.locator(".frame-system")).to_contain_text(
            ["the application opens it", "a test handles it", "accepts it", "closed by"]
        )
        expect(panel).not_to_contain_text("sendToPage")
        left = panel.locator(".frame-client").first.bounding_box()
        right = panel.locator(".frame-server").first.bounding_box()
        assert left is not None
        assert right is not None
        self.assertGreater(right["x"], left["x"])
        expect(page.locator(".detail-head")).to_contain_text("closed 1000 bye")

    def test_frame_filters(self) -> None:
        """Frames are filtered by text and side; JSON can be shown as it is; each can be copied."""
        page = self.open("/?view=ws")
        panel = show(page, "room=17")
        panel.get_by_label("Side").select_option("client")
        expect(panel.locator(".frame")).to_have_count(3)
        panel.get_by_label("Filter frames by text").fill("dishwasher")
        expect(panel.locator(".frame")).to_have_count(1)
        panel.get_by_role("button", name="Copy the frame").click()
        self.assertEqual(clipboard(page), "Is the blue teapot dishwasher safe?")
        panel.get_by_label("Filter frames by text").fill("join")
        expect(panel.locator(".json")).to_have_count(1)
        panel.get_by_label("pretty JSON").uncheck()
        expect(panel.locator(".json")).to_have_count(0)
        expect(panel.locator("pre.text")).to_contain_text('{"type": "join"')
        copy = panel.get_by_role("button", name="Copy the frame")
        has = "async (text) => (await navigator.clipboard.readText()).includes(text)"
        copy.click()
        page.wait_for_function(has, arg='"token": "[redacted:')
        page.get_by_label("with secrets").check()
        copy.click()
        page.wait_for_function(has, arg='"token": "t-9"')

    def test_binary_frame(self) -> None:
        """Of a frame of bytes base64 is copied, with marks for its secrets unless wanted."""
        page = self.open("/?view=ws")
        panel = show(page, "room=17")
        copy = panel.locator(".frame", has_text="binary").get_by_label("Copy the frame")
        # What was copied before, elsewhere, is no base64.
        copied = """async (end) => {
            const text = await navigator.clipboard.readText();
            return text.startsWith("AAEC") && new RegExp(end).test(atob(text));
        }"""
        page.evaluate("navigator.clipboard.writeText('no base64')")
        copy.click()
        page.wait_for_function(copied, arg=r'/{"token": "\[redacted:\w{8}\]"}$')
        page.get_by_label("with secrets").check()
        copy.click()
        page.wait_for_function(copied, arg='/{"token": "t-9b"}$')


class ConnectionTests(BrowserTestCase):
    """Who is connected."""

    def test_all(self) -> None:
        """Agents with their traffic, workers with their tests, tests with their routes."""
        page = self.look("/?view=connections")
        agents = page.locator(".panel", has_text="Agents (2)")
        expect(agents.locator("tbody tr").first).to_contain_text("shop")
        expect(page.get_by_role("heading", name="Workers (2)")).to_be_visible()
        test = page.locator("details.test", has_text="buys a teapot")
        test.locator("summary").click()
        expect(test).to_contain_text("**/v1/charges · POST")
        test.get_by_role("link", name="Its requests").click()
        expect(rows(page)).to_have_count(2)

    def test_links(self) -> None:
        """An agent leads to its requests; the unfolded test stays so while the page polls."""
        made = busy_setup()
        with ProxyClients(made.proxy.url) as clients:
            worker = clients.worker("0")
            worker.route(worker.test("talks", "chat.spec.ts"), kind="websocket", urlGlob="**")
            page = self.open("/?view=connections", made.dashboard.url)
            test = page.locator("details.test", has_text="talks")
            test.locator("summary").click()
            expect(test).to_contain_text("WebSocket")
            mail = clients.agent("mail-worker")
            for number in range(2):
                mail.passes(request(f"https://mail.example/{number}"), response())
            mail.settled()
            ask_now(page)
            expect(page.locator("tr", has_text="mail-worker")).to_contain_text("2")
            expect(test).to_have_attribute("open", "")
            page.get_by_role("link", name="mail-worker").click()
            expect(rows(page)).to_have_count(2)


class OverviewTests(BrowserTestCase):
    """The whole at a glance."""

    def test_figures(self) -> None:
        """Failures, what went out unmocked, what tests decided: each figure leads to its list."""
        page = self.look("/?view=overview")
        figures = page.locator(".figure").all_inner_texts()
        self.assertEqual(
            [text.split("\n")[1] for text in figures][:2], ["failed", "went out unmocked"]
        )
        self.assertEqual(figures[1].split("\n")[0], "11")
        page.get_by_role("link", name="went out unmocked").click()
        expect(rows(page)).to_have_count(11)

    def test_failures_first(self) -> None:
        """Failures come first, with why, and lead to the entry."""
        page = self.look("/?view=overview")
        failures = page.locator("#failures")
        expect(failures).to_contain_text("ambiguous_route: Ambiguous backend mock routing")
        expect(failures).to_contain_text("ECONNREFUSED connect 10.0.0.9:443")
        expect(failures).not_to_contain_text("unreachable")
        expect(failures).to_contain_text("failed: TypeError: cannot read properties of undefined")
        expect(failures).not_to_contain_text("connectionrefused")
        failures.get_by_role("link", name="search.example").click()
        expect(page.locator(".detail-url")).to_contain_text("search.example")

    def test_grouped(self) -> None:
        """Failures of one URL with one cause are one line; what a test ordered is no failure."""
        made = busy_setup()
        with ProxyClients(made.proxy.url) as clients:
            worker, agent = clients.worker("0"), clients.agent("poller")
            test = worker.test("polls", "poll.spec.ts")
            worker.route(test, urlGlob="https://ordered.example/**")
            for number in range(3):
                url = f"https://polled.example/feed?at={number}"
                agent.passes(request(url), None, f"ECONNREFUSED connect {number}")
                ordered = request("https://ordered.example/")
                worker.answers(agent, ordered, action="fulfill", response=response(500))
            agent.settled()
            page = self.open("/?view=overview", made.dashboard.url)
            line = page.locator("#failures li", has_text="polled.example")
            expect(line).to_have_count(1)
            expect(line).to_contain_text("3 times")
            expect(page.locator("#failures")).not_to_contain_text("ordered.example")
            page.get_by_role("link", name="3 times").click()
            expect(rows(page)).to_have_count(3)

    def test_dropped(self) -> None:
        """The figure of the requests says how many older ones are gone."""
        made = forgetful_setup()
        with ProxyClients(made.proxy.url) as clients:
            agent = clients.agent("many")
            for number in range(LITTLE + 2):
                agent.passes(request(f"https://many.example/{number}"), response())
            agent.settled()
        gone = made.proxy.get("/api/history")["dropped"]
        self.assertGreaterEqual(gone, 2)
        page = self.open("/?view=overview", made.dashboard.url)
        expect(page.locator(".figures")).to_contain_text(
            f"{LITTLE}requests kept; {gone} older ones are gone"
        )

    def test_narrow(self) -> None:
        """On a telephone nothing of a page is cut off; filters fold, and leave with an entry."""
        small: ViewportSize = {"width": 400, "height": 800}
        for path in ("/?view=overview", "/", "/?view=ws", "/?view=connections"):
            page = self.open(path, viewport=small)
            wide = page.evaluate(
                "[document.body, ...document.querySelectorAll('.panel')]"
                ".every(each => each.scrollWidth <= each.clientWidth + 1)"
            )
            self.assertTrue(wide, path)
        page = self.open("/", viewport=small)
        expect(page.get_by_label("only failures")).to_be_hidden()
        top = page.locator(".grid").bounding_box()
        assert top is not None
        self.assertLess(top["y"], 180)
        page.get_by_role("button", name="Filters", exact=True).click()
        expect(page.get_by_label("only failures")).to_be_visible()
        show(page, "charges")
        expect(page.locator(".filters")).to_be_hidden()

    def test_tables(self) -> None:
        """Per host unmocked, per test and per host, those with failures first."""
        page = self.look("/?view=overview")
        passed = page.locator("#passed tbody tr")
        expect(passed).to_have_count(11)
        self.assertEqual(
            {text.split("\t")[0] for text in passed.all_inner_texts()[:2]},
            {"down.example", "stock-eu.example"},
        )
        expect(page.locator("#tests")).to_contain_text("tests/checkout.spec.ts")
        bar = page.locator("#hosts tr", has_text="api.pay.example").get_by_role("img")
        expect(bar).to_have_attribute("aria-label", "1 passthrough, 1 abort, 1 fulfill")
        page.locator("#passed").get_by_role("link", name="down.example").click()
        expect(rows(page)).to_have_count(1)
        expect(page.locator(".host-note")).to_have_text("host down.example")
