"""Texts that quote traffic, without a redactor and with one."""

import json

from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw
from twisted.trial.unittest import SynchronousTestCase

from tests.redaction.samples import KEY
from tests.redaction.test_redactor import NAMES, SECRETS
from trafficmock.core.har.har_lookup import HarLookup
from trafficmock.core.har.match_rules import HarQuestion
from trafficmock.core.http.nearest_entry import missing_entry
from trafficmock.matching import PatternCache
from trafficmock.matching.url_parts import shown_url
from trafficmock.redaction.redactor import Redactor
from trafficmock.texts.wording import (
    Valued,
    Wording,
    cut,
    free_text,
    joined,
    quoted,
    unredacted,
    url_text,
)
from trafficmock.wire.codec import MessageEncoder, encode
from trafficmock.wire.outbound import HelloError
from trafficmock.wire.payloads.serialized_har import SerializedHar

REDACTOR = Redactor.of(["query:shop", "header:x-customer"], KEY)
URL = "http://u:p@shop.test/a?token=s3cret&page=1#end"
MARKED = REDACTOR.url(URL)


def missing(recorded: str, asked: str) -> str:
    """Give the error for a request to a URL that is not that of the only entry of a HAR."""
    entry = {"request": {"method": "GET", "url": recorded}, "response": {}}
    lookup = HarLookup.of(SerializedHar("some.har", [Raw(json.dumps(entry).encode())]))
    return missing_entry(lookup, HarQuestion(asked, "GET", [], b""), PatternCache())


class WrittenTests(SynchronousTestCase):
    """What a redactor writes of a text, and what stands there without one."""

    def test_url(self) -> None:
        """A URL has marks, and without a redactor neither user, nor values, nor fragment."""
        text = Wording("GET ", url_text(URL), " failed")
        self.assertEqual(text, "GET http://...@shop.test/a?… failed")
        self.assertEqual(f"{text}", str(text))
        self.assertEqual(REDACTOR.written(text), f"GET {MARKED} failed")
        self.assertEqual(Redactor.of("off").written(text), f"GET {URL} failed")
        self.assertEqual(unredacted(text), f"GET {URL} failed")

    def test_forms(self) -> None:
        """Texts are joined, cut and quoted after their secrets were replaced."""
        for text, plain, written in (
            (free_text("token=s3cret"), "…", REDACTOR.text("token=s3cret")),
            (free_text(""), "", ""),
            (url_text("?page=1&b=2", 7), "?…", "?page=…"),
            (url_text("/it's?a=1", quoted=True), '"/it\'s?…"', '"/it\'s?a=1"'),
            (quoted(url_text("?a=1")), "'?…'", "'?a=1'"),
            (quoted("it's"), '"it\'s"', '"it\'s"'),
            (cut(Wording("abc", url_text("?a=1")), 5), "abc?…", "abc?…"),
            (joined(", ", [url_text("?a"), "b"]), "?…, b", "?a, b"),
            (joined(", ", []), "", ""),
            (Wording(url_text("?a"), "b").capitalized(), "?…b", "?ab"),
            (Wording("the ", url_text("?a")).capitalized(), "The ?…", "The ?a"),
            (free_text(Wording("shop.test ", url_text("?a"))), "…", "shop.test ?a"),
        ):
            with self.subTest(plain=plain, written=written):
                self.assertEqual(str(text), plain)
                self.assertEqual(REDACTOR.written(text), written)

    def test_values(self) -> None:
        """What stands at a place of a request is not shown if its name says that it is secret."""
        for path, written in ((["x-customer"], "header differs"), (["accept"], "header is a?b=1")):
            value = Wording(" is ", url_text("a?b=1"))
            text = Wording("header", Valued("header", path, value, " differs"))
            self.assertEqual(str(text), "header differs")
            self.assertEqual(REDACTOR.written(text), written)

    def test_messages(self) -> None:
        """A message is encoded with what its redactor writes, also one with lone surrogates."""
        written = MessageEncoder(REDACTOR.written).encode
        for url in (URL, f"{URL}\ud800"):
            message = HelloError("invalid_hello", Wording("no ", url_text(url)))
            self.assertEqual(json.loads(written(message))["message"], f"no {REDACTOR.url(url)}")
            self.assertEqual(json.loads(encode(message))["message"], "no http://...@shop.test/a?…")

    @given(SECRETS, NAMES)
    def test_secrets(self, secret: str, name: str) -> None:
        """Neither has the secrets of a URL."""
        url = f"https://u:{secret}@h.test/a?{name}={secret}&shop={secret}&page=1#token={secret}"
        for text in (
            url_text(url),
            shown_url(url, 1000),
            shown_url(f"no url {url}", 1000),
            missing(url, f"{url}&{name}={secret}"),
        ):
            self.assertNotIn(secret, text)
            self.assertNotIn(secret, REDACTOR.written(text))
        self.assertIn("page=1", REDACTOR.written(url_text(url)))

    @given(st.text())
    def test_any_text(self, text: str) -> None:
        """Any text is a URL here; equal texts are written equally."""
        self.assertEqual(REDACTOR.written(url_text(text)), REDACTOR.url(text))
        self.assertEqual(REDACTOR.written(text), text)
        self.assertEqual(unredacted(url_text(text)), text)

    def test_long_url(self) -> None:
        """Of a long URL only the beginning is kept, and no part of a word."""
        text = shown_url("http://shop.test/?a=" + "b" * 3000 + "&key=" + "c" * 3000, 2000)
        self.assertLess(len(unredacted(text)), 4100)
        self.assertTrue(unredacted(text).endswith("&key=…"))
        self.assertTrue(
            shown_url("http://shop.test/" + "a" * 5000, 100).endswith("/" + "a" * 82 + "…")
        )
