"""Clients of the same name are told apart by their process, wherever clients are listed."""

from typing import Any

from playwright.sync_api import expect

from tests.dashboard.fixtures.browser import BrowserTestCase, busy_setup, reload, row, show
from tests.dashboard.fixtures.clients import ProxyClients, request, response

TIME = r"\d\d:\d\d:\d\d\.\d{3}"


class ProcessTests(BrowserTestCase):
    """Two applications called `shop`."""

    def test_same_name(self) -> None:
        """Process id, command and time of connection stand beside the name."""
        made = busy_setup()
        with ProxyClients(made.proxy.url) as clients:
            first = clients.agent("twin", pid=4121, command="node server.js")
            second = clients.agent("twin", pid=4188, command="node <b>api</b>.js\u202e")
            for agent in (first, second):
                agent.passes(request("https://a.example/"), response())
                agent.settled()
            page = self.open("/?view=connections", dashboard=made.dashboard.url)
            lines = page.locator(".panel", has_text="Agents (2)").locator("tbody tr")
            expect(lines).to_have_count(2)
            expect(lines.nth(0)).to_contain_text("pid 4121 · node server.js")
            expect(lines.nth(1)).to_contain_text("pid 4188 · node <b>api</b>.js\\u202e")
            for number in range(2):
                self.assertRegex(lines.nth(number).locator("td").nth(3).inner_text(), TIME)
                expect(lines.nth(number)).to_contain_text("2 by all of this name")
            page.keyboard.press("2")
            expect(page.get_by_label("Client").locator("option", has_text="twin")).to_contain_text(
                "twin · 2 connected: pid 4121 · node server.js; pid 4188"
            )
            expect(show(page, "twin")).to_contain_text("2 connected: pid 4121 · node server.js")

    def test_one(self) -> None:
        """Whoever says nothing of its process is named alone; a worker says it as well."""
        page = self.look("/?view=connections")
        mail = page.locator("tbody tr", has_text="mail-worker")
        self.assertEqual(mail.locator("td").nth(2).inner_text(), "—")
        expect(page.locator(".worker h3").first).to_contain_text(
            "pid 4190 · node playwright/worker.js · since"
        )
        page.keyboard.press("2")
        texts = page.get_by_label("Client").locator("option").all_text_contents()
        self.assertEqual(
            texts, ["All", "mail-worker", "shop · pid 4121 · node server.js --port 3000"]
        )
        expect(row(page, "mail.example")).to_be_visible()

    def test_kinds(self) -> None:
        """An attached Python process stands among the agents; HTTP_PROXY alone is said so."""
        page = self.open("/?view=overview")
        rows: list[dict[str, Any]] = [
            {"clientId": name, "connectionId": name, "kind": kind}
            for name, kind in (("web", "node"), ("api", "python"), ("php", "proxy"))
        ]
        rows[1] |= {"pid": 4711, "command": "gunicorn app"}
        page.route(
            "**/api/connections*",
            lambda route: route.fulfill(json={"nodeAgents": rows, "runnerWorkers": []}),
        )
        reload(page)
        page.keyboard.press("4")
        agents = page.locator(".panel", has_text="Agents (2)").locator("tbody tr")
        expect(agents.nth(1)).to_contain_text("apiPython preloadpid 4711 · gunicorn app")
        proxied = page.locator(".panel", has_text="Proxied clients (1)")
        expect(proxied).to_contain_text("phpHTTP_PROXY")
        del rows[:2]
        reload(page)
        expect(page.locator(".panel").first).to_contain_text(
            "clients below come through HTTP_PROXY"
        )

    def test_older_proxy(self) -> None:
        """A proxy that tells neither process nor time leaves both open."""
        page = self.open("/?view=overview")
        page.route(
            "**/api/connections*",
            lambda route: route.fulfill(
                json={
                    "nodeAgents": [{"clientId": "old", "connectionId": "c1"}],
                    "runnerWorkers": [],
                }
            ),
        )
        reload(page)
        page.keyboard.press("4")
        cells = page.locator("tbody tr", has_text="old").locator("td")
        expect(cells).to_have_text(["old", "—", "—", "—", "0", "—"])
