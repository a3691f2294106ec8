"""HARs as programs write them, made by hand with the oddities of each, and replayed."""

from pathlib import Path
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tests.support.builders import request
from trafficmock.core.answers.response_rules import sendable_response
from trafficmock.core.har.har_lookup import HarLookup
from trafficmock.core.har.match_rules import HarQuestion
from trafficmock.core.http.nearest_entry import missing_entry
from trafficmock.matching import PatternCache
from trafficmock.testing.har.har_entries import har_entries
from trafficmock.testing.har.har_file import HarFile
from trafficmock.testing.session.arguments.url_matchers import make_matcher
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.answer import Fulfill
from trafficmock.wire.payloads.serialized_har import SerializedHar
from trafficmock.wire.payloads.serialized_response import SerializedResponse

PROGRAMS = Path(__file__).parents[2] / "data" / "har" / "programs"
FORM = {"content-type": "application/x-www-form-urlencoded"}


def lookup(program: str, **rules: Any) -> HarLookup:
    entries = har_entries(HarFile(PROGRAMS / f"{program}.har"), make_matcher("**/*"))
    return HarLookup.of(SerializedHar(program, entries, **rules))


class ProgramTests(SynchronousTestCase):
    """Whatever a real server has sent can be given again."""

    def given(
        self, program: str, method: str, url: str, sent: bytes = b"", **rules: Any
    ) -> SerializedResponse:
        har = lookup(program, **rules)
        question = HarQuestion.of(request(url, method, sent))
        found = har.find(question)
        self.assertIsNotNone(found, missing_entry(har, question, PatternCache()))
        assert found is not None and isinstance(found.answer, Fulfill)
        return sendable_response(found.answer.response)

    def content(self, *asked: Any, **rules: Any) -> bytes:
        return body.to_bytes(self.given(*asked, **rules).body_base64)

    def lines(self, *asked: Any) -> list[tuple[str, str]]:
        lines = self.given(*asked).headers_list
        assert isinstance(lines, list)
        return lines

    def test_charsets(self) -> None:
        """A text has the bytes of its charset: of the header, or of the document itself."""
        asked = ("firefox", "POST", "https://shop.test/cart", b"item=tea+pot&n=2")
        self.assertEqual(self.content(*asked), b"<p>caf\xe9 20\x80</p>")
        self.assertIn(("content-length", "15"), self.lines(*asked))
        soap = self.content("toolkit", "POST", "https://soap.test/ws", b"<a/>")
        self.assertEqual(soap, b'<?xml version="1.0" encoding="ISO-8859-1"?><f>d\xe9faut</f>')

    def test_heads(self) -> None:
        """Fields and phrases beyond latin-1 were UTF-8; pseudo-headers are no fields."""
        lines = self.lines("firefox", "POST", "https://shop.test/cart", b"item=tea+pot&n=2")
        self.assertIn(("x-city", "Z\xfcrich \u2013 West".encode().decode("latin-1")), lines)
        fault = self.given("toolkit", "POST", "https://soap.test/ws", b"<a/>")
        self.assertEqual(fault.status_text.encode("latin-1").decode(), "Erreur \u2013 interne")
        answer = ("proxyman", "POST", "https://h2.test/rpc", b'{"a":1}')
        self.assertEqual(self.given(*answer).status, 200)
        self.assertEqual(
            self.lines(*answer), [("content-type", "application/json"), ("content-length", "11")]
        )
        cookies = [value for _, value in self.lines("polly", "GET", "https://poll.test/me")[:2]]
        self.assertEqual(cookies, ["a=1; Path=/", "b=2"])

    def test_bodiless(self) -> None:
        """Answers to HEAD and with status 304 keep the length of the body that they do not have."""
        head = self.lines("safari", "HEAD", "https://img.test/a.gif")
        self.assertIn(("content-length", "78258"), head)
        self.assertIn(
            ("content-length", "512"), self.lines("fiddler", "GET", "http://old.test/app.js")
        )
        self.assertEqual(self.content("safari", "GET", "https://img.test/a.gif"), b"GIF8\x39a"[:6])

    def test_urls(self) -> None:
        """URLs are compared as URLs: default ports, case, empty paths, and what is encoded."""
        self.assertEqual(self.content("insomnia", "GET", "http://rest.test/"), b"root")
        self.assertEqual(
            self.content("charles", "GET", "https://api.test/v1/items?q=a"), b'{"items": []}'
        )
        own = self.content("scripted", "GET", "https://own.test/r%C3%A9sum%C3%A9%201")
        self.assertEqual(own, b"\xff\xef")

    def test_forms(self) -> None:
        """A form may be a list of its fields alone; its redirect is the application's to follow."""
        asked = ("k6", "POST", "https://k6.test/login", b"user=ada&city=Z%C3%BCrich")
        self.assertEqual(self.given(*asked).status, 302)
        self.assertIn(("set-cookie", "session=s1; Path=/"), self.lines(*asked))
        self.assertEqual(self.content(*asked, follow_redirects=True), b"home")
        har = lookup("k6")
        question = HarQuestion.of(request("https://k6.test/login", "POST", b"user=eve"))
        self.assertIsNone(har.find(question))

    def test_all(self) -> None:
        """There are ten programs, and each entry of theirs answers its own request."""
        programs = sorted(path.stem for path in PROGRAMS.glob("*.har"))
        self.assertEqual(len(programs), 10)
        for program in programs:
            har = lookup(program)
            for entry in HarFile(PROGRAMS / f"{program}.har").entries():
                asked = entry["request"]
                sent = (asked.get("postData") or {}).get("text", "").encode()
                question = HarQuestion.of(request(asked["url"], asked["method"], sent))
                self.assertIsNotNone(har.find(question), asked["url"])
