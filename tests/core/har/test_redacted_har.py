"""Requests that are answered from a HAR whose secrets were replaced by marks."""

import json
from typing import Any

from tests.core.har.test_har_replies import HarCase, entry
from tests.support.builders import URL
from trafficmock.redaction.redacted_documents import redacted_har
from trafficmock.redaction.redactor import Redactor


class RedactedTests(HarCase):
    """Any value of a redacted field fits; the rest has to be equal."""

    def records(self, *entries: dict[str, Any], **more: Any) -> None:
        """Register the HAR of these entries without their secrets."""
        har = redacted_har({"entries": list(entries)}, Redactor())
        self.assertIn("[redacted:", json.dumps(har))
        self.replays(*har["entries"], **more)

    def test_urls(self) -> None:
        """A parameter of the query and user information may have any value."""
        self.records(
            entry("http://h.test/a?token=t1&page=1", text="one"),
            entry("http://h.test/a?token=t1&page=2", text="two"),
            entry("http://u:p@h.test/b", text="b"),
            entry("http://h.test/hook/sk_live_12345678", text="hook"),
        )
        self.assertEqual(self.answer("http://h.test/a?token=other&page=2"), "two")
        self.assertEqual(self.answer("http://h.test/a?token=&page=1"), "one")
        self.assertEqual(self.answer("http://h.test/hook/sk_live_abcdefgh"), "hook")
        for other in ("a?token=t1&page=3", "a?token=t1&page=1&x=1", "a?page=1", "hook/a/b"):
            self.assertNotIn(self.answer(f"http://h.test/{other}"), ("one", "two", "hook"))

    def test_headers(self) -> None:
        """Redacted headers decide nothing; the others choose among several as ever."""
        self.records(
            entry(lines=[("authorization", "Bearer a"), ("accept", "text/html")], text="page"),
            entry(lines=[("authorization", "Bearer b"), ("accept", "text/plain")], text="text"),
        )
        self.assertEqual(self.answer(authorization="Bearer c", accept="text/plain"), "text")

    def test_bodies(self) -> None:
        """A redacted field of a body may have any value, also a number; the rest must be equal."""
        self.records(
            entry(method="POST", sent='{"user":"ada","password":"p1","n":1}', text="ada"),
            entry(method="POST", sent='{"user":"bob","password":"p2","n":1}', text="bob"),
            entry(method="POST", sent="user=a&password=b+c", text="form"),
            entry(method="POST", sent='{"pin":1234}', text="pin"),
        )
        for content, wanted in (
            (b'{"user":"bob","password":"x","n":1}', "bob"),
            (b'{"user":"ada","password":"x","n":1}', "ada"),
            (b"user=a&password=d%26e", "form"),
            (b'{"pin":99}', "pin"),
        ):
            self.assertEqual(self.answer(URL, "POST", content), wanted, content)
        missed = self.answer(URL, "POST", b'{"user":"ada","password":"x","n":2}')
        self.assertNotIn(missed, ("ada", "bob"))

    def test_pages(self) -> None:
        """An application that sends a mark of an earlier answer gets what was recorded for it."""
        pages = [
            entry("http://h.test/l?pageToken=t1", text="first"),
            entry("http://h.test/l?pageToken=t2", text="second"),
        ]
        redactor = Redactor()
        self.replays(*redacted_har({"entries": pages}, redactor)["entries"])
        mark = redactor.mark("t2").replace("[", "%5B").replace(":", "%3A").replace("]", "%5D")
        self.assertEqual(self.answer(f"http://h.test/l?pageToken={mark}"), "second")
        self.assertEqual(self.answer(f"http://h.test/l?pageToken={redactor.mark('t2')}"), "second")
        self.assertEqual(self.answer("http://h.test/l?pageToken=other"), "first")

    def test_redirects(self) -> None:
        """A redirect to a URL with a secret leads to its entry."""
        self.records(
            entry("http://h.test/in", location="/cb?code=c1", status=302),
            entry("http://h.test/cb?code=c1", text="in"),
            follow_redirects=True,
        )
        self.assertEqual(self.answer("http://h.test/in"), "in")
