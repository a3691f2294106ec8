"""What a row says of a request that got no response, and of the tests that wanted it."""

import time

from playwright.sync_api import Page, expect

from tests.dashboard.fixtures.browser import BrowserTestCase, busy_setup, row, show
from tests.dashboard.fixtures.clients import ProxyClients, request, response


def next_millisecond() -> None:
    """Let the next timestamp be another one."""
    now = time.time_ns() // 1_000_000
    while time.time_ns() // 1_000_000 == now:
        pass


def cell(page: Page, text: str, column: str) -> str:
    """Read a cell of the first row with this text."""
    return row(page, text).locator(f".col-{column}").text_content() or ""


class CodeTests(BrowserTestCase):
    """The status of what has none."""

    def test_codes(self) -> None:
        """The column says the error code of aborts, errors and failed passthroughs."""
        page = self.look()
        for text, code in [
            ("fraud", "connectionrefused"),
            ("search.example", "ambiguous_route"),
            ("odd.example", "failed"),
            ("down.example", "ECONNREFUSED"),
            ("www.example.org", "200"),
        ]:
            expect(row(page, text).locator(".col-status")).to_have_text(code)

    def test_filter(self) -> None:
        """The filter finds the code of a failed passthrough."""
        page = self.look("/?q=econnrefused")
        expect(row(page, "down.example")).to_be_visible()

    def test_upstream_error(self) -> None:
        """The first part of an entry says why upstream failed."""
        page = self.look()
        panel = show(page, "down.example")
        expect(panel).to_contain_text("Upstream failed: ECONNREFUSED connect 10.0.0.9:443")
        expect(panel).to_contain_text("none: ECONNREFUSED")
        expect(show(page, "fraud")).to_contain_text("none: connectionrefused")

    def test_no_code(self) -> None:
        """A failure that names no code is `unreachable`."""
        made = busy_setup()
        with ProxyClients(made.proxy.url) as clients:
            agent = clients.agent("shop")
            for error in ("socket hang up", "getaddrinfo EAI_AGAIN api.example", "an ERROR"):
                agent.passes(request(f"https://{len(error)}.example/"), None, error)
            agent.settled()
            page = self.open(dashboard=made.dashboard.url)
            self.assertEqual(cell(page, "14.example", "status"), "unreachable")
            self.assertEqual(cell(page, "33.example", "status"), "EAI_AGAIN")
            self.assertEqual(cell(page, "8.example", "status"), "unreachable")


class TestColumnTests(BrowserTestCase):
    """The tests of a row."""

    def test_ambiguous(self) -> None:
        """A row that two tests wanted names both."""
        page = self.look()
        expect(row(page, "search.example").locator(".col-test bdi").first).to_have_text(
            "finds teapots by colour | filters by price"
        )

    def test_name_first(self) -> None:
        """The name comes first, without the file that pytest's node ids begin with."""
        made = busy_setup()
        with ProxyClients(made.proxy.url) as clients:
            agent, worker = clients.agent("shop"), clients.worker("0")
            file = "tests/test_checkout.py"
            test = worker.test(f"{file}::TestCard::test_pays[visa]", file)
            worker.route(test, urlGlob="**")
            asked = request("https://visa.example/")
            worker.answers(agent, asked, action="fulfill", response=response())
            agent.settled()
            page = self.open(dashboard=made.dashboard.url)
            self.assertEqual(
                cell(page, "visa.example", "test"), f"TestCard::test_pays[visa] {file}"
            )
            choice = page.locator("label", has_text="Test").locator("option")
            expect(choice.filter(has_text="[visa]")).to_have_text("TestCard::test_pays[visa]")

    def test_runs(self) -> None:
        """Runs of one test are told apart by their time, in the overview and in the filter."""
        made = busy_setup()
        with ProxyClients(made.proxy.url) as clients:
            agent, worker = clients.agent("shop"), clients.worker("0")
            for _ in range(2):
                test = worker.test("buys a teapot", "tests/buy.spec.ts")
                route = worker.route(test, urlGlob="**")
                asked = request("https://pay.example/")
                worker.answers(agent, asked, action="fulfill", response=response())
                worker.unroute(route)
                next_millisecond()
            agent.settled()
            page = self.open("/?view=overview", dashboard=made.dashboard.url)
            lines = page.locator("#tests tbody tr", has_text="buy.spec.ts")
            expect(lines).to_have_count(2)
            notes = lines.locator(".size").all_text_contents()
            self.assertRegex(notes[0], r"^tests/buy\.spec\.ts · run of \d\d:\d\d:\d\d\.\d{3}$")
            self.assertGreater(notes[0], notes[1])
            page.keyboard.press("2")
            found = page.locator("label", has_text="Test").locator("option")
            options = found.filter(has_text="buys a teapot").all_text_contents()
            self.assertEqual(len(set(options)), 2)
            self.assertRegex(options[0], r"^\d\d:\d\d:\d\d\.\d{3} buys a teapot$")
