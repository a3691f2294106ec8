"""The dashboard while its proxy goes, comes back, is another, or has nothing to tell."""

import signal
from contextlib import ExitStack

from playwright.sync_api import Page, expect

from tests.dashboard.browser import COMMAND, BrowserTestCase, fixed_port, rows, show
from tests.dashboard.clients import ProxyClients, request, response
from tests.support.proxy_process import running_proxy


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
            banner = page.locator("#banner")
            expect(banner).to_contain_text("The proxy is away since")
            expect(banner).to_contain_text(f"Nothing answers at {proxy.url}.")
            expect(page.locator(".pill")).to_have_text("proxy away")
            expect(rows(page)).to_have_count(1)
            again = stack.enter_context(running_proxy(*port))
            expect(banner).to_contain_text("The proxy was restarted.")
            expect(page.locator(".pill")).to_have_text("live")
            expect(rows(page)).to_have_count(0)
            traffic(again.url, "after.example")
            expect(rows(page)).to_have_count(1)
            expect(rows(page)).to_contain_text("after.example")
            banner.get_by_role("button", name="Dismiss").click()
            expect(banner).to_be_empty()

    def test_stopped_and_continued(self) -> None:
        """The same proxy that answers again is said to be back; nothing was lost."""
        with (
            running_proxy() as proxy,
            running_proxy("--proxy-url", proxy.url, command=COMMAND) as dashboard,
        ):
            traffic(proxy.url, "kept.example")
            page = self.open(dashboard=dashboard.url)
            self.unreachable(page, reachable=False)
            expect(page.locator("#banner")).to_contain_text("The proxy is away")
            self.unreachable(page, reachable=True)
            expect(page.locator("#banner")).to_contain_text("The proxy is back.")
            expect(rows(page)).to_have_count(1)

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
                expect(page.locator(".pill")).to_have_text("live")
                expect(rows(page)).to_have_count(1)

    def test_dashboard_gone(self) -> None:
        """When the dashboard's own process ends, that is what the page says."""
        with (
            running_proxy() as proxy,
            running_proxy("--proxy-url", proxy.url, command=COMMAND) as dashboard,
        ):
            page = self.open(dashboard=dashboard.url)
            dashboard.stop()
            expect(page.locator("#banner")).to_contain_text("dashboard's own process")

    def test_records_nothing(self) -> None:
        """A proxy that records nothing is the reason for an empty list."""
        with (
            running_proxy("--history-capture", "none") as proxy,
            running_proxy("--proxy-url", proxy.url, command=COMMAND) as dashboard,
        ):
            page = self.open(dashboard=dashboard.url)
            expect(page.locator(".nothing")).to_contain_text("--history-capture none")


class PollTests(BrowserTestCase):
    """What polling costs."""

    def test_idle(self) -> None:
        """An idle poll is one question, and moves under 1 KB both ways together."""
        page = self.open()
        page.wait_for_timeout(2500)
        client = page.context.new_cdp_session(page)
        client.send("Network.enable")
        asked: dict[str, str] = {}
        moved: dict[str, float] = {}
        client.on(
            "Network.requestWillBeSentExtraInfo",
            lambda event: moved.update(
                {event["requestId"]: sum(len(k + v) + 4 for k, v in event["headers"].items())}
            ),
        )
        client.on(
            "Network.requestWillBeSent",
            lambda event: asked.update({event["requestId"]: event["request"]["url"]}),
        )
        answered: dict[str, float] = {}
        client.on(
            "Network.loadingFinished",
            lambda event: answered.update({event["requestId"]: event["encodedDataLength"]}),
        )
        page.wait_for_timeout(5000)
        self.assertIn(len(asked), (2, 3))
        self.assertEqual({url.rpartition("/")[2] for url in asked.values()}, {"state"})
        for request_id, size in answered.items():
            self.assertLess(size + moved[request_id], 1000)

    def test_pause(self) -> None:
        """Paused, nothing is asked."""
        page = self.open()
        page.get_by_role("button", name="Pause").click()
        page.wait_for_timeout(500)
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.wait_for_timeout(3000)
        self.assertEqual(asked, [])

    def test_changes_only(self) -> None:
        """When one of many rows is new, only that one travels."""
        with (
            running_proxy() as proxy,
            running_proxy("--proxy-url", proxy.url, command=COMMAND) as dashboard,
            ProxyClients(proxy.url) as clients,
        ):
            agent = clients.agent("shop")
            for number in range(300):
                agent.passes(request(f"https://h.example/{number}"), response())
            agent.settled()
            page = self.open(dashboard=dashboard.url)
            expect(page.locator(".result")).to_have_text("300 shown")
            with page.expect_response("**/api/history?*") as answering:
                agent.passes(request("https://new.example/"), response())
            self.assertIn("&since=", answering.value.url)
            self.assertLess(len(answering.value.body()), 1500)
            expect(page.locator(".result")).to_have_text("301 shown")
