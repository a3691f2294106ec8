"""The page of a report, opened from the disk: everything is in it, and nothing of it runs."""

import re
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.dashboard.browser.test_access import COLOURS, RULES, WHOLE, violations
from tests.dashboard.fixtures.browser import BrowserTestCase, row, show
from tests.report.har_samples import HAR, REAL
from tests.report.sample_run import HOSTILE, sample_run, write_page
from trafficmock.redaction.redacted_documents import redacted_record
from trafficmock.redaction.redactor import Redactor
from trafficmock.report.har_reader import har_document, read_har
from trafficmock.report.saved_page import saved_page

PHONE = {"width": 400, "height": 800}


class ReportTests(BrowserTestCase):
    """What a team opens after a job."""

    def report(self) -> Page:
        """Open the page of the sample run."""
        page = self.apart().page
        page.goto(write_page(Path(self.mktemp())))
        expect(page.locator(".pill")).to_have_text("report")
        return page

    def test_tests(self) -> None:
        """The first view has the failed tests, their routes and errors, and what is missing."""
        page = self.report()
        panel = page.locator("#test-t1")
        expect(panel).to_contain_text("tests/test_checkout.py:12")
        # Who reads it may be in another zone than the run.
        expect(panel).to_contain_text(re.compile(r" \d\d:\d\d:\d\d\.\d{3} UTC"))
        error, output = panel.locator(".error-text").all()
        expect(error).to_contain_text("assert 'Paid' == 'Declined'")
        expect(output).to_contain_text("declined: x")
        self.assertTrue(output.evaluate("(box) => box.scrollWidth <= box.clientWidth"))
        heading = panel.get_by_role("heading", name="output of shop during this test")
        expect(heading).to_be_visible()
        expect(panel.locator("tbody tr").nth(1)).to_contain_text("tests/test_checkout.py:15")
        expect(page.locator(".notice-bad")).to_contain_text("Worker gw1 of pytest did not end")
        expect(page.locator("#test-t2")).to_contain_text("the proxy was gone")
        expect(page.locator(".figures")).to_contain_text("4of them went out unmocked")
        expect(page.locator("main")).to_contain_text("telemetry.example")
        self.assertEqual(page.title(), "Tests · trafficmock")

    def test_without_hars(self) -> None:
        """A part that is empty leaves no text on the page."""
        path = Path(f"{self.mktemp()}.html").absolute()
        path.write_text(saved_page(sample_run() | {"hars": []}))
        page = self.apart().page
        page.goto(path.as_uri())
        left = (
            "(heading) => [...heading.parentElement.childNodes]"
            ".map((node) => node.data).filter(Boolean)"
        )
        heading = page.get_by_role("heading", name="Tests", exact=True)
        self.assertEqual(heading.evaluate(left), [])

    def test_traffic(self) -> None:
        """Its requests, bodies, WebSockets and searches are those of the dashboard."""
        page = self.report()
        page.locator("#test-t1").get_by_role("link", name="1 request", exact=True).click()
        self.assertIn("#view=http&test=t1", page.url)
        response = show(page, "payments.example", "Response")
        expect(response).to_contain_text("declined")
        page.go_back()
        page.go_back()
        page.get_by_role("link", name="1 request of no test meanwhile").click()
        expect(row(page, "stock.example")).to_contain_text("ECONNREFUSED")
        page.keyboard.press("4")
        expect(show(page, "push.example")).to_contain_text("sold out")
        page.goto(page.url.split("#")[0] + "#view=http&q=4200&deep=1")
        page.reload()
        expect(row(page, "payments.example")).to_be_visible()

    def test_other_link(self) -> None:
        """A view is also found where the link is written for the dashboard."""
        page = self.report()
        page.goto(page.url.split("#")[0] + "?view=overview")
        expect(page.locator("h1")).to_have_text("Overview")
        page.keyboard.press("3")
        expect(row(page, "stock.example")).to_be_visible()

    def test_hostile(self) -> None:
        """Recorded text is text, whatever is in it, and the policy lets nothing else run."""
        page = self.report()
        shown = page.locator("#test-t2 .error-text")
        expect(shown).to_have_text(HOSTILE.replace("\u202e", "⟨U+202E⟩"))
        self.assertNotEqual(page.title(), "evil")
        page.evaluate(
            "document.body.append(Object.assign(document.createElement('script'),"
            " { textContent: 'document.title = 1' }))"
        )
        self.assertEqual(page.title(), "Tests · trafficmock")
        self.complaints.clear()  # the policy's

    def test_access(self) -> None:
        """It is usable by everybody, in light and dark, also on a phone."""
        page = self.report()
        for size in (None, PHONE):
            if size:
                page.set_viewport_size(size)  # type: ignore[arg-type] # a literal
            self.assertEqual(violations(page, WHOLE, RULES), [])
            page.emulate_media(color_scheme="dark")
            self.assertEqual(violations(page, WHOLE, COLOURS), [])
            page.emulate_media(color_scheme="light")
        self.assertEqual(page.evaluate("document.documentElement.scrollWidth"), 400)
        page.keyboard.press("3")
        before = "(cells) => cells.map((each) => getComputedStyle(each, '::before').content)"
        expect(page.locator("[role=row] .col-path").first).to_be_visible()
        hosts = page.locator("[role=row] .col-path[data-host]").evaluate_all(before)
        self.assertIn('"payments.example"', hosts)

    def test_har(self) -> None:
        """A HAR is shown likewise, without tests; its entries do not say who decided."""
        path = Path(f"{self.mktemp()}.html").absolute()
        path.write_text(saved_page(har_document(HAR, "a.har", lambda _: b"")))
        page = self.apart().page
        page.goto(path.as_uri())
        expect(page.locator(".pill")).to_have_text("HAR")
        expect(page.locator(".top")).to_contain_text("a.har")
        detail = show(page, "gone.test")
        expect(detail).to_contain_text("It is an entry of a HAR")
        expect(detail).to_contain_text("net::ERR_CONNECTION_REFUSED")
        page.keyboard.press("3")
        expect(show(page, "h.test/ws")).to_contain_text("hello")

    def test_real_hars(self) -> None:
        """So are those of Chromium and mitmproxy, with marks, as ``trafficmock show`` does."""
        for name, har in REAL.items():
            path = Path(f"{self.mktemp()}.html").absolute()
            path.write_text(saved_page(redacted_record(read_har(har), Redactor())))
            page = self.apart().page
            page.goto(path.as_uri())
            expect(page.locator(".top")).to_contain_text(f"{name}.har")
            expect(show(page, "items", "Response").locator(".json")).to_contain_text("teapot")
            expect(show(page, "items", "Request")).to_contain_text("Bearer [redacted:")
            expect(show(page, "pixel", "Response").locator("figcaption")).to_have_text("1 \u00d7 1")
            expect(show(page, "gone", "Overview")).to_contain_text("Upstream failed: ")
