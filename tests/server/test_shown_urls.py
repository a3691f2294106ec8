"""Workers with the feature ``shown-urls`` get what they may print of each URL."""

import json
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tests.server.fakes import DriverHarness, FakeLink
from trafficmock.redaction.redactor import Redactor

URL = "http://u:p-1@api.test/users?token=t-1&shop=s-1&page=1"
SOCKET = "ws://api.test/live?token=t-1"
FEATURES = ["chain", "shown-urls"]


class ShownUrlTests(SynchronousTestCase):
    """Every message that has a URL."""

    def setUp(self) -> None:
        self.harness = DriverHarness()
        self.agent = self.harness.agent()

    def worker(self, **fields: Any) -> FakeLink:
        link = self.harness.hello("playwright", workerId="0", **fields)
        test = {"testId": "t", "title": "T", "file": "f", "workerId": "0"}
        self.harness.send_message(link, "test:register", **test)
        return link

    def route(self, link: FakeLink, kind: str = "http", **matcher: Any) -> None:
        fields = {"routeId": kind, "testId": "t", "matcher": matcher, "kind": kind}
        self.harness.send_message(link, "route:register", **fields)
        link.sent.clear()

    def shown(self, link: FakeLink) -> dict[str, str]:
        """Return the shown URLs by the type of the message."""
        return {each["type"]: each.get("shownUrl", "") for each in link.sent}

    def test_requests(self) -> None:
        """What is observed, asked about and handled."""
        link = self.worker(features=FEATURES)
        self.route(link, urlGlob="**", predicate=True)
        self.harness.request(self.agent, "1", URL)
        claim = {"requestId": "1", "testId": "t", "matches": [{"routeId": "http"}]}
        self.harness.send_message(link, "request:claim-result", **claim)
        found = self.shown(link)
        self.assertEqual(set(found), {"request:observed", "request:claim", "handler:run"})
        for text in found.values():
            self.assertRegex(
                text,
                r"^http://redacted-\w{8}:redacted-\w{8}@api\.test/users"
                r"\?token=\[redacted:\w{8}\]&shop=s-1&page=1$",
            )

    def test_sockets(self) -> None:
        """The same of WebSockets."""
        link = self.worker(features=FEATURES)
        self.route(link, "websocket", urlGlob="**", predicate=True)
        opened = {"socketId": "s", "url": SOCKET, "protocols": [], "clientId": "shop"}
        self.harness.send_message(self.agent, "ws:connection", **opened)
        claim = {"socketId": "s", "testId": "t", "matches": [{"routeId": "websocket"}]}
        self.harness.send_message(link, "ws:claim-result", **claim)
        found = self.shown(link)
        self.assertEqual(set(found), {"ws:claim", "ws:matched"})
        for text in found.values():
            self.assertRegex(text, r"^ws://api\.test/live\?token=\[redacted:\w{8}\]$")

    def test_added_words(self) -> None:
        """Each worker says what is secret besides; a word that is no field adds nothing."""
        for words, hidden in (
            (["query:shop"], "s-1"),
            (["off"], ""),
            (["no:field"], "t-1"),
            (["no:field", "regex:(", "query:shop"], "s-1"),
            (["off", "query:shop"], "s-1"),
        ):
            link = self.worker(features=FEATURES, redact=words)
            link.sent.clear()
            self.harness.request(self.agent, f"{words}", URL)
            text = self.shown(link)["request:observed"]
            self.assertEqual(bool(text), bool(hidden), words)
            self.assertNotIn(hidden or "never", text)
            self.harness.driver.link_closed(link)
        self.assertEqual(self.harness.driver.shown_urls.workers, {})

    def test_history(self) -> None:
        """What is found in the history; an answer without secrets has no list."""
        link, other = self.worker(features=FEATURES, redact=["query:shop"]), self.worker()
        self.harness.request(self.agent, "1", URL)
        self.harness.request(self.agent, "2", "http://api.test/users?page=1")
        for each, wanted in ((link, True), (other, False)):
            self.harness.send_message(each, "history:query", queryId="q")
            found = each.sent[-1]
            self.assertEqual("shownUrls" in found, wanted)
        self.harness.send_message(link, "history:query", queryId="q")
        found = link.sent[-1]
        none, marked = found["shownUrls"]
        self.assertEqual(none, "")
        self.assertRegex(
            marked, r"/users\?token=\[redacted:\w{8}\]&shop=\[redacted:\w{8}\]&page=1$"
        )
        self.harness.send_message(link, "history:query", queryId="q", onlyIds=True)
        found = link.sent[-1]
        self.assertNotIn("shownUrls", found)

    def test_texts(self) -> None:
        """The texts of the core, each for its worker."""
        for words, hidden, shown in (
            ([], ["t-1"], ["s-1"]),
            (["query:shop"], ["t-1", "s-1"], []),
            (["off"], [], ["t-1", "s-1"]),
        ):
            link = self.worker(features=FEATURES, redact=words)
            self.harness.request(self.agent, f"{words}", URL)
            asked = {"testId": "t", "unmet": [], "routes": {}, "decisions": {}}
            self.harness.send_message(link, "diagnosis:query", queryId="d", **asked)
            text = link.sent[-1]["text"]
            for each in hidden:
                self.assertNotIn(each, text)
            for each in shown:
                self.assertIn(each, text)
            self.harness.driver.link_closed(link)
        self.assertEqual(self.harness.driver.shown_urls.encoders, {})

    def test_once(self) -> None:
        """A URL is redacted once, for all its messages and workers."""
        read = self.patched_reads()
        self.setUp()
        for _ in range(2):
            self.route(self.worker(features=FEATURES), urlGlob="**", predicate=True)
        self.harness.request(self.agent, "1", URL)
        self.harness.request(self.agent, "2", URL)
        self.assertEqual(read, [URL])

    def patched_reads(self) -> list[str]:
        """Count the URLs that the service redacts."""
        urls: list[str] = []
        url = Redactor.url

        def counted(redactor: Redactor, text: str) -> str:
            urls.append(text)
            return url(redactor, text)

        self.patch(Redactor, "url", counted)
        return urls

    def test_others(self) -> None:
        """Neither a URL without secrets is repeated, nor told to workers without the feature."""
        link, other = self.worker(features=FEATURES), self.worker(features=["chain"])
        link.sent.clear()
        other.sent.clear()
        self.harness.request(self.agent, "1", "http://api.test/users?page=1")
        self.assertNotIn("shownUrl", json.dumps([link.sent, other.sent]))
        self.harness.request(self.agent, "2", URL)
        self.assertNotIn("shownUrl", json.dumps(other.sent))
        self.assertEqual(link.sent[-1]["request"]["url"], URL)
        self.assertIn("shownUrl", link.sent[-1])
