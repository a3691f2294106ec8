"""The whole list as one HAR file."""

import json
import re
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, Route, expect

from tests.dashboard.fixtures.browser import BrowserTestCase, busy_setup
from tests.dashboard.fixtures.clients import ProxyClients, request, response


def save(page: Page) -> tuple[str, dict[str, Any]]:
    """Save the list; give the file's name and the HAR."""
    with page.expect_download() as saving:
        page.get_by_role("button", name="Save as HAR").click()
    download = saving.value
    return download.suggested_filename, json.loads(Path(download.path()).read_text("utf-8"))


class HarTests(BrowserTestCase):
    """*Save as HAR*."""

    def test_filtered(self) -> None:
        """It has what the filters let through, oldest first, and says what it has not."""
        page = self.look("/?q=pay.example")
        name, har = save(page)
        self.assertRegex(name, r"^trafficmock-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ\.har$")
        self.assertEqual(har["log"]["version"], "1.2")
        self.assertEqual(har["log"]["creator"]["name"], "trafficmock")
        urls = [entry["request"]["url"] for entry in har["log"]["entries"]]
        self.assertEqual(
            urls,
            ["https://api.pay.example/v1/rates?base=EUR", "https://api.pay.example/v1/charges"],
        )
        expect(page.get_by_text("Saved 2 entries; left out: 1 without a response.")).to_be_visible()
        page.get_by_label("only failures").check()
        expect(page.get_by_text("Saved 2 entries")).to_be_hidden()

    def test_same_as_the_proxy(self) -> None:
        """Each entry is that of the proxy's own HAR, bodies and all, in any order of the list."""
        page = self.look("/?action=fulfill,continue")
        page.get_by_role("button", name="Host", exact=True).click()
        _, har = save(page)
        for entry in har["log"]["entries"]:
            path = page.evaluate(
                """async (url) => {
                  const { entries } = await (await fetch("/api/history?fields=summary")).json();
                  return `/api/history/${entries.find((one) => one.request.url === url).id}/har`;
                }""",
                entry["request"]["url"],
            )
            single = page.evaluate("async (path) => (await fetch(path)).json()", path)
            self.assertEqual([entry], single["log"]["entries"])
        self.assertEqual(len(har["log"]["entries"]), 2)

    def test_nothing(self) -> None:
        """Where nothing has a response there is no file, and it says why."""
        page = self.look("/?action=abort")
        page.get_by_role("button", name="Save as HAR").click()
        expect(page.get_by_text("Nothing to save; left out: 2 without a response.")).to_be_visible()

    def test_gone(self) -> None:
        """What the proxy dropped meanwhile is counted; a proxy that is away is said to be."""
        page = self.open("/?q=pay.example")
        answers = [(404, "not_found", ""), (409, "har_unavailable", "")]

        def lacking(route: Route) -> None:
            status, code, message = answers.pop()
            route.fulfill(status=status, json={"error": code, "message": message})

        page.route("**/har", lacking)
        page.get_by_role("button", name="Save as HAR").click()
        expect(
            page.get_by_text(
                "Nothing to save; left out: 2 without a response, 1 that the proxy does not have"
            )
        ).to_be_visible()
        answers[:] = [(502, "proxy_unavailable", "Nothing answers at x.")] * 2
        page.get_by_role("button", name="Save as HAR").click()
        expect(page.get_by_text("Nothing was saved: Nothing answers at x.")).to_be_visible()

    def test_progress(self) -> None:
        """A long list shows how far it is, four requests at a time, and can be cancelled."""
        made = busy_setup()
        with ProxyClients(made.proxy.url) as clients:
            agent = clients.agent("many")
            for number in range(30):
                agent.passes(request(f"https://a.example/{number}"), response(200, "x"))
            agent.settled()
            page = self.open("/?client=many", made.dashboard.url)
            expect(page.locator(".result")).to_have_text(re.compile("^30 "))
            held: list[Route] = []
            under_way = [0]

            def hold(route: Route) -> None:
                under_way[0] += 1
                if under_way[0] > 8:
                    held.append(route)
                else:
                    route.continue_()

            page.route("**/har", hold)
            page.get_by_role("button", name="Save as HAR").click()
            progress = page.get_by_role("progressbar", name="Requests collected")
            expect(progress).to_have_attribute("value", "8")
            expect(progress).to_have_attribute("max", "30")
            expect(progress).to_have_attribute("title", "8 of 30")
            page.get_by_role("button", name="Cancel").click()
            expect(page.get_by_text("Cancelled; nothing was saved.")).to_be_visible()
            expect(progress).to_be_hidden()
            self.assertLessEqual(len(held), 4)
            page.unroute("**/har")
            _, har = save(page)
            urls = [entry["request"]["url"] for entry in har["log"]["entries"]]
            self.assertEqual(urls, [f"https://a.example/{number}" for number in range(30)])
