"""Strict mode on the pages: who is strict, and what was refused."""

import re

from playwright.sync_api import expect

from tests.dashboard.fixtures.browser import BrowserTestCase, busy_setup, reload, show
from tests.dashboard.fixtures.clients import ProxyClients, request

CONTEXT = "57" * 16
URL = "https://unmocked.strict.example/v1/charges"


class StrictTests(BrowserTestCase):
    """A strict test, and a service that says it is strict."""

    def test_refused(self) -> None:
        """A refused request is a failure with the whole text; its test shows that it is strict."""
        made = busy_setup()
        with ProxyClients(made.proxy.url) as clients:
            worker = clients.worker("strict", features=["context", "strict", "subscribe"])
            test = worker.test(
                "pays", "pay_test.py", context=CONTEXT, strict={"allow": ["auth.strict.example"]}
            )
            worker.route(test, urlGlob="**/v1/charge")
            agent = clients.agent("strict-shop", features=["context", "strict"])
            asked = agent.start(request(URL, "POST"), context=CONTEXT)
            self.assertEqual(agent.decided(asked)["code"], "unmatched_request")
            page = self.open("/?view=overview", dashboard=made.dashboard.url)
            failure = page.locator("#failures li", has_text=URL)
            expect(failure).to_contain_text(
                'Nearest: route "**/v1/charge": '
                "path differs ('/v1/charges', not '**/v1/charge'). "
                "Add a route, or allow unmocked.strict.example."
            )
            page.keyboard.press("4")
            line = page.locator(".worker", has_text="worker-strict").locator(".test")
            expect(line).to_contain_text("strict: allows auth.strict.example")
            page.keyboard.press("2")
            detail = show(page, "unmocked.strict.example")
            expect(detail).to_contain_text("No route wanted it, so strict mode refused it")
            expect(detail).to_contain_text("Add a route, or allow the host or URL.")

    def test_service(self) -> None:
        """The service, the run of a worker and one whose worker is lost say what they allow."""
        page = self.open("/?view=overview")
        page.route(
            "**/api/connections*",
            lambda route: route.fulfill(
                json={
                    "nodeAgents": [],
                    "runnerWorkers": [
                        {
                            "clientId": "run",
                            "connectionId": "c1",
                            "testCount": 0,
                            "routeCount": 0,
                            "strict": {"allow": []},
                        }
                    ],
                    "strict": {"allow": ["a.test", "b.test\u202e"]},
                    "lostRuns": [{"allow": ["c.test\u202e"], "until": 1_700_000_000_000}],
                }
            ),
        )
        reload(page)
        page.keyboard.press("4")
        service, lost = page.locator("p.strict").all()
        expect(service).to_have_text("The service is strict: allows a.test, b.test⟨U+202E⟩")
        expect(lost).to_have_text(
            re.compile(
                r"^Strict about what no test owns until 2023-11-1[45] \d\d:\d\d:\d\d\.000 UTC, "
                r"of a run whose worker is gone: allows c\.test⟨U\+202E⟩$"
            )
        )
        expect(page.locator(".worker")).to_contain_text(
            "strict about what no test owns: allows nothing"
        )
