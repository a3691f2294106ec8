"""Whose a request is: late ones, those of no test, and those that other tests' routes match too."""

from playwright.sync_api import expect

from tests.dashboard.fixtures.browser import BrowserTestCase, busy_setup, row, rows, show
from tests.dashboard.fixtures.clients import ProxyClients, request, response

OWN, ENDED = "0" * 31 + "1", "0" * 31 + "2"
FEATURES = ["context"]


class OwnerTests(BrowserTestCase):
    """Requests that carry the context of a test."""

    def test_owner(self) -> None:
        """Each is named, marked, filtered, counted and explained."""
        made = busy_setup()
        with ProxyClients(made.proxy.url) as clients:
            agent = clients.agent("isolated", features=FEATURES)
            worker = clients.worker("0", features=FEATURES)
            worker.test("reads news", "tests/news.spec.ts", context=OWN)
            other = worker.test("mocks news", "tests/mock.spec.ts")
            worker.route(other, urlGlob="https://news.example/**")
            ended = worker.test("is over", "tests/over.spec.ts", context=ENDED)
            worker.end(ended)
            agent.passes(request("https://news.example/a"), response(), context=OWN)
            agent.passes(request("https://quiet.example/"), response(), context=OWN)
            agent.passes(request("https://late.example/"), response(), context=ENDED)
            agent.passes(request("https://free.example/"), response())
            agent.settled()
            page = self.open("/?client=isolated", made.dashboard.url)
            expect(row(page, "quiet").locator(".col-test")).to_have_text(
                "reads news tests/news.spec.ts"
            )
            expect(row(page, "late.example").locator(".col-test")).to_have_text(
                "late · is over tests/over.spec.ts"
            )
            expect(row(page, "news.example").locator(".col-test")).to_contain_text(
                "other routes match · reads news"
            )
            owner = page.get_by_label("Owner")
            for choice, host in (("unowned", "free"), ("late", "late"), ("also", "news")):
                owner.select_option(choice)
                expect(rows(page)).to_have_count(1)
                expect(rows(page)).to_contain_text(f"{host}.example")
            panel = show(page, "news.example")
            expect(panel).to_contain_text("No route of its test matches")
            table = panel.get_by_role("table", name="Other tests whose routes match")
            expect(table).to_contain_text("mocks news")
            expect(table).to_contain_text("https://news.example/**")
            owner.select_option("late")
            expect(show(page, "late.example")).to_contain_text("Its test had ended")
            page.keyboard.press("1")
            page.get_by_role("link", name="late: their test had ended").click()
            expect(rows(page)).to_contain_text("late.example")
