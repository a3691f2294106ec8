"""The dashboard while its proxy goes, comes back, is another, or has nothing to tell."""

import signal
from contextlib import ExitStack

from playwright.sync_api import Page, expect

from tests.dashboard.fixtures.browser import (
    COMMAND,
    BrowserTestCase,
    ask_now,
    dashboard_setup,
    fixed_port,
    rows,
    shared_setup,
    show,
)
from tests.dashboard.fixtures.clients import ProxyClients, request, response
from tests.dashboard.fixtures.tab import heard_of_proxy
from tests.support.processes.proxy_process import running_proxy

POLL_MS = 2000
POLLS = 3
HOUR_MS = 3_600_000


def traffic(url: str, host: str) -> None:
    with ProxyClients(url) as clients:
        agent = clients.agent("shop")
        agent.passes(request(f"https://{host}/"), response())
        agent.settled()


class AwayTests(BrowserTestCase):
    """A proxy that is not always there."""

    def test_killed_and_restarted(self) -> None:
        """Killed, the proxy is said to be away and its traffic stays; restarted, it is new."""
        port = fixed_port()
        with ExitStack() as stack:
            proxy = stack.enter_context(running_proxy(*port))
            here = ("--proxy-url", proxy.url)
            dashboard = stack.enter_context(running_proxy(*here, command=COMMAND))
            traffic(proxy.url, "before.example")
            page = self.open(dashboard=dashboard.url)
            show(page, "before.example")
            proxy.process.send_signal(signal.SIGKILL)
            proxy.process.wait()
            ask_now(page)
            banner = page.locator("#banner")
            expect(banner).to_contain_text("The proxy is away since")
            expect(banner).to_contain_text(f"Nothing answers at {proxy.url}.")
            expect(page.locator(".pill")).to_have_text("proxy away")
            expect(rows(page)).to_have_count(1)
            again = stack.enter_context(running_proxy(*port))
            ask_now(page)
            expect(banner).to_contain_text("The proxy was restarted.")
            expect(page.locator(".pill")).to_have_text("live")
            expect(rows(page)).to_have_count(0)
            traffic(again.url, "after.example")
            ask_now(page)
            expect(rows(page)).to_have_count(1)
            expect(rows(page)).to_contain_text("after.example")
            banner.get_by_role("button", name="Dismiss").click()
            expect(banner).to_be_empty()

    def test_stopped_and_continued(self) -> None:
        """The same proxy that answers again is said to be back; nothing was lost."""
        page = self.open("/?q=teapot")
        expect(rows(page)).to_have_count(6)
        self.unreachable(page, reachable=False)
        ask_now(page)
        expect(page.locator("#banner")).to_contain_text("The proxy is away")
        self.unreachable(page, reachable=True)
        ask_now(page)
        expect(page.locator("#banner")).to_contain_text("The proxy is back.")
        expect(rows(page)).to_have_count(6)

    def unreachable(self, page: Page, *, reachable: bool) -> None:
        """Let the dashboard answer as it does while the proxy is away."""
        if reachable:
            page.unroute("**/state")
            return
        away = '{"error":"proxy_unavailable","message":"Nothing answers."}'
        page.route("**/state", lambda route: route.fulfill(status=502, body=away))

    def test_never_there(self) -> None:
        """Without a proxy the page says so at once, and finds it when it comes."""
        port = fixed_port()
        url = f"http://127.0.0.1:{port[1]}"
        with running_proxy("--proxy-url", url, command=COMMAND) as dashboard:
            page = self.open(dashboard=dashboard.url)
            expect(page.locator("#banner")).to_contain_text(f"Nothing answers at {url}.")
            with running_proxy(*port) as proxy:
                traffic(proxy.url, "new.example")
                ask_now(page)
                expect(page.locator(".pill")).to_have_text("live")
                expect(rows(page)).to_have_count(1)

    def test_records_nothing(self) -> None:
        """A proxy that records nothing is the reason for an empty list.

        And when the dashboard's own process ends, that is what the page says.
        """
        with dashboard_setup("--history-capture", "none") as made:
            page = self.open(dashboard=made.dashboard.url)
            expect(page.locator(".nothing")).to_contain_text("--history-capture none")
            made.dashboard.stop()
            ask_now(page)
            expect(page.locator("#banner")).to_contain_text("dashboard's own process")


class PollTests(BrowserTestCase):
    """What polling costs, by a clock that the test moves."""

    def ticking(self) -> Page:
        """Open a page whose time passes only when a test lets it."""
        page = self.apart().page
        page.clock.install(time=0)
        page.goto(shared_setup().dashboard.url)
        heard_of_proxy(page)
        page.clock.pause_at(HOUR_MS)
        return page

    def test_idle(self) -> None:
        """An idle poll is one question, and moves under 1 KB both ways together."""
        page = self.ticking()
        client = page.context.new_cdp_session(page)
        client.send("Network.enable")
        sent: list[float] = []
        received: list[float] = []
        client.on(
            "Network.requestWillBeSentExtraInfo",
            lambda event: sent.append(sum(len(k + v) + 4 for k, v in event["headers"].items())),
        )
        client.on(
            "Network.responseReceivedExtraInfo",
            lambda event: received.append(len(event["headersText"])),
        )
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        passed = 0
        while len(received) < POLLS and passed < HOUR_MS:
            page.clock.run_for(POLL_MS // 4)
            passed += POLL_MS // 4
        self.assertEqual({url.rpartition("/")[2] for url in asked}, {"state"})
        self.assertLessEqual(len(asked), 1 + passed // POLL_MS)
        for up, down in zip(sent, received, strict=False):
            self.assertGreater(down, 50)
            self.assertLess(up + down, 1000)

    def test_pause(self) -> None:
        """Paused, nothing is asked."""
        page = self.ticking()
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.get_by_role("button", name="Pause").click()
        expect(page.locator(".pill")).to_have_text("paused")
        page.clock.run_for(60_000)
        self.assertEqual(asked, [])
