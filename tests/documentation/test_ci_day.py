"""What a newcomer asks after a job has failed, answered from its artifacts alone."""

import json
import re
from datetime import datetime
from itertools import chain
from typing import Any

from playwright.sync_api import Page, expect

from tests.dashboard.fixtures.browser import BrowserTestCase, row, rows, show
from tests.documentation.ci_day import FILES, INI, SECRETS
from tests.documentation.test_ci_installed import InstalledTestCase

CHARGES = "test_billing.py::test_charges"
MAIL = "test_billing.py::test_mail"
PRICE = "has a price in euro"


class DayTests(BrowserTestCase, InstalledTestCase):
    """The job of the page, on a day when tests fail; of its machine only the artifacts are left."""

    def setUp(self) -> None:
        super().setUp()
        InstalledTestCase.setUp(self)
        for name, text in FILES.items():
            (self.project / name).write_text(text)
        with (self.project / "pytest.ini").open("a") as ini:
            ini.write(INI)

    def test_questions(self) -> None:
        """``run.json``, the HARs and the page have the answers, and no secret."""
        run = self.job()
        self.assertEqual([step.status for step in run.steps], [0, 1, 1], run.output)
        self.directory = self.machine.artifacts / "report"
        self.document = self.report()
        self.tests = {test["title"]: test for test in self.document["tests"]}
        self.assertEqual([*self.tests], [CHARGES, MAIL, PRICE], run.output)
        page = self.apart().page
        page.goto((self.directory / "index.html").as_uri())
        self.which_request_left(page)
        self.what_was_received(page)
        self.which_token(page)
        self.what_was_refused(page)
        for path in self.directory.rglob("*"):
            content = path.read_bytes() if path.is_file() else b""
            self.assertEqual([each for each in SECRETS if each.encode() in content], [], path)

    def which_request_left(self, page: Page) -> None:
        owned = chain.from_iterable(test["requests"] for test in self.tests.values())
        entries = [*owned, *self.document["unowned"]["requests"]]
        left = [each["request"]["url"] for each in entries if each["action"] == "passthrough"]
        self.assertEqual(left, ["http://audit.example:8500/log"])
        totals = self.document["totals"]["requests"]
        self.assertEqual(totals["decisions"]["passthrough"], 1)
        self.assertEqual(totals["hosts"]["audit.example:8500"], {"passthrough": 1})
        page.get_by_role("link", name="1 of them went out unmocked: audit.example:8500 (1)").click()
        expect(rows(page)).to_have_count(1)
        expect(show(page, "audit.example", "Response")).to_contain_text("noted 1")
        self.back(page)

    def what_was_received(self, page: Page) -> None:
        test = self.tests[CHARGES]
        found = re.search(r"declined at (\d+)", test["error"])
        assert found is not None
        at = int(found[1])
        last = max(
            (each for each in test["requests"] if each["timestamp"] <= at),
            key=lambda each: each["timestamp"],
        )
        self.assertEqual(last["outcome"]["response"]["status"], 402)
        har = json.loads((self.directory / test["har"]).read_text())
        said = max(
            (each for each in har["log"]["entries"] if _milliseconds(each) <= at),
            key=_milliseconds,
        )
        self.assertEqual(
            json.loads(said["response"]["content"]["text"]), {"code": "insufficient_funds"}
        )
        panel = page.locator(".tested", has_text=CHARGES)
        panel.get_by_role("link", name="4 requests").click()
        shown = page.evaluate("(at) => new Date(at).toTimeString().slice(0, 8)", last["timestamp"])
        expect(row(page, "402")).to_contain_text(shown)
        expect(show(page, "402", "Response")).to_contain_text("insufficient_funds")
        self.back(page)
        (answer,) = self.tests[PRICE]["requests"]
        self.assertEqual(answer["request"]["url"], "https://prices.example/items/cup")
        panel = page.locator(".tested", has_text=PRICE)
        panel.get_by_role("link", name="1 request", exact=True).click()
        expect(show(page, "prices.example", "Response")).to_contain_text("12 USD")
        self.back(page)

    def which_token(self, page: Page) -> None:
        sent = [_token(each) for each in self.tests[CHARGES]["requests"]]
        ada, bob = sent[0], sent[1]
        self.assertRegex(ada, r"^Bearer \[redacted:[0-9a-f]{8}\]$")
        self.assertEqual(sent, [ada, bob, "", ada])
        self.assertNotEqual(ada, bob)
        har = json.loads((self.directory / self.tests[CHARGES]["har"]).read_text())
        names = [
            {header["name"].lower(): header["value"] for header in each["request"]["headers"]}
            for each in har["log"]["entries"]
        ]
        self.assertEqual([each.get("authorization", "") for each in names], sent)
        page.goto(f"{page.url.split('#')[0]}#view=http&deep=1&q={ada.split('[')[1][:-1]}")
        page.reload()
        expect(rows(page)).to_have_count(2)
        expect(show(page, "402", "Request")).to_contain_text(ada)
        self.back(page)

    def what_was_refused(self, page: Page) -> None:
        self.assertIn("https://mail.example/send is not mocked", self.tests[MAIL]["error"])
        panel = page.locator(".tested", has_text=MAIL)
        expect(panel).to_contain_text("https://mail.example/send is not mocked")
        (unowned,) = self.document["unowned"]["requests"]
        (refused,) = self.document["refused"]
        for url in (unowned["request"]["url"], refused["url"]):
            self.assertEqual(url, "https://telemetry.example/started")
        expect(page.locator(".figures")).to_contain_text("1refused by strict mode, of no test")
        page.get_by_role("link", name="1 that no test owned").click()
        expect(rows(page)).to_have_count(1)
        expect(show(page, "telemetry.example")).to_contain_text("billing")
        self.back(page)

    def back(self, page: Page) -> None:
        """Show the tests again."""
        page.goto(f"{page.url.split('#')[0]}")
        page.reload()
        expect(page.locator(".figures")).to_be_visible()


def _milliseconds(entry: dict[str, Any]) -> float:
    """Return when a request of a HAR began, in epoch milliseconds."""
    return datetime.fromisoformat(entry["startedDateTime"]).timestamp() * 1000


def _token(entry: dict[str, Any]) -> str:
    token: str = entry["request"]["headers"].get("authorization", "")
    return token
