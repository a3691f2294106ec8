"""The detail of a request in a browser: every part of it, and what its buttons copy."""

import http.client
import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import expect

from tests.dashboard.fixtures.browser import (
    LITTLE,
    BrowserTestCase,
    ask_now,
    busy_setup,
    clipboard,
    forgetful_setup,
    reload,
    row,
    shared_setup,
    show,
)
from tests.dashboard.fixtures.clients import ProxyClients, request, response
from tests.dashboard.fixtures.traffic import RECEIPT
from trafficmock.testing import sync


class PartTests(BrowserTestCase):
    """The tabs."""

    def test_owner(self) -> None:
        """The test that decided is named with its file, and its requests are a click away."""
        page = self.look()
        panel = show(page, "charges")
        expect(panel.get_by_role("heading", name="A test answered it")).to_be_visible()
        expect(panel).to_contain_text("buys a teapot with a card")
        expect(panel).to_contain_text("tests/checkout.spec.ts")
        expect(panel).to_contain_text("Route**/v1/charges · POSTtests/checkout.spec.ts:12")
        expect(panel).not_to_contain_text("route-0")
        panel.get_by_role("link", name="all of this test").click()
        expect(page.locator(".grid-body .col-host")).to_have_text(
            ["stock.example", "api.pay.example"]
        )

    def test_ambiguous(self) -> None:
        """Two tests that wanted the same are listed with their routes, and what to do."""
        page = self.look()
        panel = show(page, "search.example")
        expect(panel).to_contain_text("More than one test wanted it, so none got it")
        claimants = panel.get_by_role("table", name="Who wanted it")
        cells = claimants.locator("tbody tr").all_inner_texts()
        self.assertIn("https://search.example/** · GET", cells[0])
        self.assertIn("filters by price\ttests/search.spec.ts\t1\t", cells[1])
        self.assertIn(r"/search\.example/v\d/i", cells[1])
        advice = "Give each test's application its own client id"
        self.assertEqual(panel.inner_text().count(advice), 1)

    def test_reasons(self) -> None:
        """Passthrough, abort, a handler that threw and a lost upstream are each explained."""
        page = self.look()
        for text, message in [
            ("www.example.org", "No test wanted it: it went to the real network"),
            ("fraud", "A test made it fail: connectionrefused"),
            ("odd.example", "TypeError: cannot read properties of undefined"),
            ("stock.example", "A test let it go on, changed"),
        ]:
            expect(show(page, text)).to_contain_text(message)
        expect(show(page, "fraud")).not_to_contain_text("because of an error")
        expect(show(page, "down.example", "Response")).to_contain_text(
            "upstream failed. ECONNREFUSED"
        )
        expect(show(page, "fraud", "Response")).to_contain_text("the test made the request fail")

    def test_json(self) -> None:
        """JSON is a tree that folds, with the digits of numbers as they were sent."""
        page = self.look()
        panel = show(page, "charges", "Response")
        expect(panel.locator(".json")).to_contain_text("12345678901234567890")
        fold = panel.get_by_role("button", name="address")
        expect(fold).to_have_attribute("aria-expanded", "true")
        fold.click()
        expect(panel.locator(".json")).not_to_contain_text("London", use_inner_text=True)
        panel.get_by_role("button", name="Fold all").nth(1).click()
        expect(panel.locator(".json")).not_to_contain_text("object", use_inner_text=True)
        panel.get_by_role("button", name="Unfold all").click()
        expect(panel.locator(".json")).to_contain_text("London", use_inner_text=True)
        panel.get_by_role("button", name="Text", exact=True).click()
        expect(panel.locator("pre.text")).to_have_text(json.dumps(RECEIPT))

    def test_form_and_query(self) -> None:
        """Forms and queries are tables of decoded pairs."""
        page = self.look()
        panel = show(page, "mail.example", "Request")
        expect(panel.locator(".body")).to_contain_text("ada@example.org")
        expect(panel.locator(".body")).to_contain_text("On its way!")
        panel = show(page, "metrics", "Request")
        expect(panel.locator("tr").first).to_have_text("v2")

    def test_binary(self) -> None:
        """Bytes that are no text are shown in hex, with their size."""
        panel = show(self.look(), "metrics", "Request")
        expect(panel.locator("pre.hex")).to_contain_text("00000000  00 01 02 62 69 6e 61 72  79 ff")
        expect(panel.locator(".body-bar")).to_contain_text("90 B")

    def test_picture(self) -> None:
        """A picture is drawn, with its measures."""
        panel = show(self.look(), "cdn.example", "Response")
        expect(panel.locator("figcaption")).to_have_text("96 \u00d7 64")
        self.assertGreater(panel.locator("img").evaluate("image => image.naturalWidth"), 0)

    def test_events_stream(self) -> None:
        """A stream of events is text, and HTML is its source."""
        page = self.look()
        panel = show(page, "stream.example", "Response")
        expect(panel.locator("pre.text")).to_contain_text('event: price\ndata: {"teapot": 42}')
        panel = show(page, "www.example.org", "Response")
        expect(panel.locator("pre.text")).to_contain_text("<script>alert(1)</script>")

    def test_changes(self) -> None:
        """What continue changed is a diff of method, URL, headers and body."""
        panel = show(self.look(), "stock.example", "Changes")
        for kind, lines in {
            "gone": ["PUT", "x-tenant: live", "cookie: s=1"],
            "new": ["POST", "x-tenant: test", "x-dry-run: 1", '"dryRun": true'],
            "same": ["content-type: application/json", '"reserve": 1,'],
        }.items():
            for line in lines:
                found = panel.locator(f".diff-{kind} bdi").filter(has_text=line)
                expect(found.first).to_be_visible()

    def test_timeline(self) -> None:
        """The timeline is a picture with words for those who do not see it, and a table."""
        panel = show(self.look(), "stock.example", "Timeline")
        picture = panel.get_by_role("img")
        self.assertRegex(
            picture.get_attribute("aria-label") or "",
            r"From the request to the last event: \d+ ms; the application asked, "
            r"the test let it go on, a response came",
        )
        expect(panel.locator("tbody tr")).to_have_count(3)

    def test_redirects(self) -> None:
        """A chain of redirects can be walked in both directions, and Back goes back."""
        page = self.look()
        panel = show(page, "short.example", "Redirects")
        hops = panel.get_by_role("link")
        expect(hops).to_have_text(
            [
                "302GEThttps://short.example/t/4F2",
                "301GEThttps://shop.example/teapot",
                "200GEThttps://www.shop.example/en/teapot",
            ]
        )
        hops.nth(2).click()
        expect(page.locator(".detail-url")).to_have_text("https://www.shop.example/en/teapot")
        expect(panel.locator("[aria-current=step]")).to_contain_text("en/teapot")
        page.go_back()
        expect(page.locator(".detail-url")).to_have_text("https://short.example/t/4F2")

    def test_open(self) -> None:
        """An answer that a test still writes is open, in the list and in its detail."""
        proxy, url = busy_setup().proxy.url, "http://tokens.example/chat"
        with sync.mocks(proxy) as mocks:
            chat = mocks.stream(url, content_type="text/event-stream")
            connection = http.client.HTTPConnection(urlsplit(proxy).netloc)
            self.addCleanup(connection.close)
            connection.request("GET", url)
            answer = connection.getresponse()
            chat.sse("first")
            page = self.open(dashboard=busy_setup().dashboard.url)
            cell = row(page, "tokens.example").locator(".col-duration")
            expect(cell).to_have_text("open")
            panel = show(page, "tokens.example", "Timeline")
            expect(page.locator(".detail-head .size")).to_have_text("open")
            expect(panel.locator("tbody tr").last).to_contain_text("the test sent a part")
            chat.sse("next")
            repeated = re.compile(r"the test answered, the test sent a part \(2 times\)$")
            expect(panel.get_by_role("img")).to_have_attribute("aria-label", repeated)
            chat.end()
            self.assertEqual(answer.read(), b"data: first\n\ndata: next\n\n")
            page.keyboard.press("Escape")
            ask_now(page)
            expect(cell).to_have_text(re.compile("^[0-9.]+ m?s$"))

    def test_unfolded(self) -> None:
        """What is unfolded of a request stays so when its response comes."""
        made = forgetful_setup()
        with ProxyClients(made.proxy.url) as clients:
            agent = clients.agent("shop")
            text = "x" * 200_000
            sent = agent.start(request("https://long.example/", "POST", body=text))
            agent.decided(sent)
            page = self.open(dashboard=made.dashboard.url)
            panel = show(page, "long.example", "Request")
            panel.get_by_role("button", name="Show more").click()
            expect(panel.locator("pre.text")).to_have_count(2)
            agent.report(sent, response())
            agent.settled()
            ask_now(page)
            expect(page.locator(".detail-status")).to_have_text("200")
            expect(panel.locator("pre.text")).to_have_count(2)
            page.get_by_role("tab", name="Response").click()
            expect(panel).to_contain_text("200")
            page.get_by_role("tab", name="Overview").click()
            expect(panel).to_contain_text(re.compile(r":\d\d\.\d{3} UTC"))

    def test_given_up(self) -> None:
        """A request that the application gave up is not said to be failed by a test."""
        made = forgetful_setup()
        with ProxyClients(made.proxy.url) as clients:
            agent = clients.agent("shop")
            worker = clients.worker("0")
            worker.route(worker.test("waits", "f.ts"), urlGlob="https://late.example/**")
            sent = agent.start(request("https://late.example/"))
            worker.client.until("request:matched", requestId=sent)
            agent.client.send("request:cancel", requestId=sent, reason="it was tired")
            agent.settled()
            page = self.open(dashboard=made.dashboard.url)
            expect(show(page, "late.example")).to_contain_text("The application gave it up")
            expect(show(page, "late.example", "Response")).not_to_contain_text("the test")
            expect(show(page, "late.example", "Timeline")).to_contain_text("it was made to fail")

    def test_fault(self) -> None:
        """A fault of the test is told where the answer is; it is no failure of a handler."""
        proxy, url = busy_setup().proxy.url, "http://faults.example/reset"
        with sync.mocks(proxy) as mocks:
            mocks.mock(url, fault="connection_reset")
            connection = http.client.HTTPConnection(urlsplit(proxy).netloc)
            self.addCleanup(connection.close)
            connection.request("GET", url)
            self.assertRaises(ConnectionError, connection.getresponse)
            page = self.open(dashboard=busy_setup().dashboard.url)
            panel = show(page, "faults.example")
            expect(panel).to_contain_text("A test made it fail: connectionreset")
            expect(panel).to_contain_text("The answer broke off: the fault connection_reset")
            expect(panel).not_to_contain_text("because of an error")

    def test_broken(self) -> None:
        """An answer whose fault comes within it is no 200 in the list, but broken."""
        proxy, url = busy_setup().proxy.url, "http://broken.example/empty"
        with sync.mocks(proxy) as mocks:
            mocks.mock(url, body="ten bytes.", fault="empty_response")
            connection = http.client.HTTPConnection(urlsplit(proxy).netloc)
            self.addCleanup(connection.close)
            connection.request("GET", url)
            self.assertRaises(http.client.HTTPException, connection.getresponse)
            page = self.open(dashboard=busy_setup().dashboard.url)
            expect(row(page, "broken.example").locator(".col-status")).to_have_text("broken")
            panel = show(page, "broken.example")
            expect(panel).to_contain_text("The answer broke off: the fault empty_response")

    def test_incomplete(self) -> None:
        """A body that is cut, gone, or still arriving is said to be, with its whole size."""
        page = self.open()
        proxy = shared_setup().proxy
        (charge,) = proxy.get("/api/history?fields=summary&q=charges&action=fulfill")["entries"]
        cases: list[tuple[dict[str, Any], str]] = [
            ({"truncated": True, "bodySize": 5_000_000}, "beginning is kept: 316 B of 5.0 MB"),
            ({"truncated": True, "bodyBase64": None}, "The body is not kept"),
            ({"bodyPending": True, "bodyBase64": None}, "The body is still arriving."),
        ]
        answers = []
        for mark, _ in cases:
            entry = proxy.get(f"/api/history/{charge['id']}")
            entry["entry"]["outcome"]["response"] |= mark
            answers.append(entry)
        page.route("**/api/history/req-*", lambda route: route.fulfill(json=answers.pop(0)))
        for _, said in cases:
            panel = show(page, "charges", "Response")
            expect(panel.locator(".note")).to_contain_text(said)
            page.keyboard.press("Escape")


class DeedTests(BrowserTestCase):
    """The buttons."""

    def test_copies(self) -> None:
        """Each copy button says what it copied, and copies just that."""
        page = self.look()
        show(page, "charges")
        for name, begin in [
            ("cURL", "curl https://api.pay.example/v1/charges \\\n"),
            ("fetch", 'await fetch("https://api.pay.example/v1/charges", {\n  method: "POST"'),
            ("route for JavaScript", "await backendMocks.route({ url: "),
            ("route for Python", 'trafficmock.route(\n    "https://api.pay.example/v1/charges"'),
        ]:
            page.get_by_role("button", name=f"Copy as {name}").click()
            expect(page.locator("#said")).to_have_text(f"Copied: {name}")
            self.assertTrue(clipboard(page).startswith(begin), name)
        panel = show(page, "charges", "Request")
        panel.get_by_role("button", name="Copy headers").click()
        expect(page.locator("#said")).to_have_text("Copied: request headers")
        self.assertRegex(clipboard(page), r"authorization: Bearer \[redacted:\w+\]")
        line = panel.locator("tr", has_text="authorization")
        line.hover()
        line.get_by_role("button").click()
        expect(page.locator("#said")).to_have_text("Copied: authorization")
        self.assertRegex(clipboard(page), r"^Bearer \[redacted:\w+\]$")
        panel.get_by_role("button", name="Copy body").click()
        expect(page.locator("#said")).to_have_text("Copied: request body")
        self.assertEqual(json.loads(clipboard(page))["amount"], 4200)
        panel.get_by_role("button", name="Copy the URL").click()
        expect(page.locator("#said")).to_have_text("Copied: URL")

    def test_secrets(self) -> None:
        """Copies and files have marks for secrets; a switch that no page remembers is for all."""
        page = self.open()
        panel = show(page, "charges", "Request")
        expect(panel.locator("tr", has_text="authorization")).to_contain_text("Bearer sk_test_51")
        curl = page.get_by_role("button", name="Copy as cURL")
        curl.click()
        self.assertIn("Bearer [redacted:", clipboard(page))
        self.assertNotIn("sk_test_51", clipboard(page))
        with page.expect_download() as saving:
            page.get_by_role("link", name="HAR").click()
        self.assertNotIn("sk_test_51", Path(saving.value.path()).read_text(encoding="utf-8"))
        page.get_by_label("with secrets").check()
        panel.get_by_role("button", name="Copy headers").click()
        expect(page.locator("#said")).to_have_text("Copied: request headers")
        self.assertIn("authorization: Bearer sk_test_51", clipboard(page))
        curl.click()
        expect(page.locator("#said")).to_have_text("Copied: cURL")
        self.assertIn("Bearer sk_test_51", clipboard(page))
        with page.expect_download() as saving:
            page.get_by_role("link", name="HAR").click()
        self.assertIn("sk_test_51", Path(saving.value.path()).read_text(encoding="utf-8"))
        reload(page)
        show(page, "charges")
        expect(page.get_by_label("with secrets")).not_to_be_checked()

    def test_files(self) -> None:
        """HAR and body are saved as files; without a response there is no HAR."""
        page = self.look()
        show(page, "charges")
        with page.expect_download() as saving:
            page.get_by_role("link", name="HAR").click()
        saved = saving.value
        self.assertRegex(saved.suggested_filename, r"^trafficmock-req-\d+\.har$")
        har = json.loads(Path(saved.path()).read_text(encoding="utf-8"))
        self.assertEqual(har["log"]["entries"][0]["response"]["status"], 201)
        panel = show(page, "metrics", "Request")
        with page.expect_download() as saving:
            panel.get_by_role("button", name="Save").click()
        self.assertEqual(Path(saving.value.path()).read_bytes(), b"\0\1\2binary\xff" * 9)
        show(page, "fraud")
        expect(page.get_by_role("link", name="HAR")).to_have_count(0)

    def test_close(self) -> None:
        """The entry closes by its button, and the list has the focus and the row."""
        page = self.look()
        show(page, "charges")
        page.get_by_role("button", name="Close the entry").click()
        expect(page.locator(".detail-pane")).to_be_hidden()
        expect(page.locator(".grid")).to_be_focused()
        expect(row(page, "charges")).to_have_attribute("aria-selected", "true")

    def test_unknown(self) -> None:
        """An entry that is not there is said not to be."""
        page = self.open("/?id=nobody")
        expect(page.locator(".detail-pane")).to_contain_text("does not have this entry any more")


class ForgottenTests(BrowserTestCase):
    """An entry that goes while it is read."""

    def test_forgotten(self) -> None:
        """When the history has no room for the open entry any more, it stays and says so."""
        made = forgetful_setup()
        with ProxyClients(made.proxy.url) as clients:
            agent = clients.agent("shop")
            agent.passes(request("https://old.example/"), response())
            agent.settled()
            page = self.open(dashboard=made.dashboard.url)
            panel = show(page, "old.example")
            note = page.locator(".detail-pane .gone")
            expect(note).to_be_empty()
            for number in range(LITTLE):
                agent.passes(request(f"https://new.example/{number}"), response())
            agent.settled()
            ask_now(page)
            expect(note).to_contain_text("does not have this entry any more")
            expect(panel).to_contain_text("shop")
            expect(note).to_be_in_viewport()
            page.get_by_role("button", name="Copy as cURL").click()
            said = "Nothing was copied: The proxy does not have this entry any more."
            expect(page.locator("#said")).to_have_text(said)
            row(page, "new.example").click()
            expect(note).to_be_empty()
