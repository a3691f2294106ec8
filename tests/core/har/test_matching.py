"""Requests that are compared with a HAR by chosen parts, and entries that answer in their order."""

import json
from typing import Any

from msgspec import UNSET, Raw

from tests.core.har.test_har_replies import HarCase, entry
from tests.support.builders import URL
from trafficmock.core.effects import Send
from trafficmock.core.har import har_lookup
from trafficmock.core.har.har_parts import HarEntry, read_entry
from trafficmock.redaction.redacted_documents import redacted_har
from trafficmock.redaction.redactor import Redactor
from trafficmock.wire import outbound

PAGES = "http://h.test/pages"
FORM = {"content-type": "application/x-www-form-urlencoded"}
NESTED = {"user": "ada", "meta": {"at": 1, "id": "x"}, "items": [{"id": 1, "n": 2}]}


def posted(document: Any, text: str, url: str = URL) -> dict[str, Any]:
    """Make the entry of a request with a JSON body."""
    return entry(url, "POST", sent=json.dumps(document), text=text)


class PartTests(HarCase):
    """``match_on``."""

    def test_parts_of_urls(self) -> None:
        """Each part of a URL may count alone; parameters have no order, but values of one have."""
        recorded = entry("http://old.test:81/a?x=1&y=2&x=3", text="hit")
        for parts, asked, is_hit in (
            (["path", "query"], "https://new.test/a?y=2&x=1&x=3", True),
            (["path", "query"], "https://new.test/a?y=2&x=3&x=1", False),
            (["path", "query"], "https://new.test/b?x=1&y=2&x=3", False),
            (["path"], "https://new.test/a", True),
            (["scheme", "path"], "https://new.test/a", False),
            (["scheme", "path"], "http://new.test/a", True),
            (["host", "path"], "http://new.test/a", False),
            (["host", "path"], "http://old.test/a", True),
            (["port"], "http://old.test/a", False),
            (["port"], "http://x.test:81/b", True),
            (["url"], "http://old.test:81/a?x=1&y=2&x=3", True),
            (["url"], "http://old.test:81/a?y=2&x=1&x=3", False),
        ):
            with self.subTest(f"{parts} {asked}"):
                self.setUp()
                self.replays(recorded, match_on=parts)
                said = self.answer(asked, "PUT")
                self.assertEqual(said == "hit", is_hit, said)

    def test_method(self) -> None:
        """It counts only if it is named; one part alone is enough."""
        self.replays(entry(method="GET", text="hit"), match_on=["method"])
        self.assertEqual(self.answer("http://other.test/"), "hit")
        self.assertIn("method differs ('PUT')", self.answer(URL, "PUT"))

    def test_body(self) -> None:
        """Chosen, it counts with every method, also if only one of both has one."""
        self.replays(entry(method="PUT", sent="one", text="1"), match_on=["url", "body"])
        self.assertEqual(self.answer(URL, "PUT", b"one"), "1")
        self.assertIn("has 3 bytes, wanted 3", self.answer(URL, "PUT", b"two"))
        self.assertIn("has 0 bytes, wanted 3", self.answer(URL, "GET"))

    def test_json(self) -> None:
        """JSON is compared by its values; what is none by its bytes."""
        self.replays(
            posted(NESTED, "json"),
            entry(method="POST", sent="plain", text="plain"),
            entry(method="POST", text="none"),
            match_on=["method", "url", "json"],
        )
        sent = json.dumps(dict(reversed(NESTED.items())), indent=3).encode()
        self.assertEqual(self.answer(URL, "POST", sent), "json")
        self.assertEqual(self.answer(URL, "POST", b"plain"), "plain")
        self.assertEqual(self.answer(URL, "POST"), "none")
        for wrong in (b"{}", b"[]", b"plains", b'{"a":', sent.replace(b"1", b"true")):
            self.assertIn("no such request", self.answer(URL, "POST", wrong))

    def test_form(self) -> None:
        """The fields of a form have no order; another content type is compared by its bytes."""
        lines = [*FORM.items()]
        self.replays(
            entry(method="POST", sent="a=1&b=%20", lines=lines, text="form"),
            entry(method="POST", sent="a=1", text="bytes"),
            match_on=["form"],
        )
        self.assertEqual(self.answer(URL, "POST", b"b=+&a=1", **FORM), "form")
        self.assertEqual(self.answer(URL, "POST", b"a=1"), "bytes")
        self.assertIn('form.a is "2"', self.answer(URL, "POST", b"b=+&a=2", **FORM))

    def test_headers(self) -> None:
        """One header, or all but those of the connection."""
        lines = [("Accept", "text/html"), ("X-Tenant", "a"), ("User-Agent", "old/1")]
        recorded = entry(lines=lines, text="hit")
        for parts, sent, is_hit in (
            (["header:X-Tenant"], {"x-tenant": "a"}, True),
            (["header:x-tenant"], {"x-tenant": "b"}, False),
            (["header:x-tenant"], {}, False),
            (["header:user-agent"], {"user-agent": "new/2"}, False),
            (["headers"], {"accept": "text/html", "x-tenant": "a", "user-agent": "new/2"}, True),
            (["headers"], {"accept": "text/html", "x-tenant": "a", "traceparent": "00-1"}, True),
            (["headers"], {"accept": "text/html", "x-tenant": "a", "x-more": "1"}, False),
            (["headers"], {"accept": "text/html"}, False),
        ):
            with self.subTest(f"{parts} {sent}"):
                self.setUp()
                self.replays(recorded, match_on=["url", *parts])
                said = self.answer(URL, "GET", b"", **sent)
                self.assertEqual(said == "hit", is_hit, said)

    def test_refused(self) -> None:
        """A word that is no part, or no field, refuses the route, and says what is one."""
        for more, said in (
            ({"match_on": ["uri"]}, "or header:NAME, not on 'uri'"),
            ({"match_on": ["header:"]}, "not on 'header:'"),
            ({"match_on": []}, "on one part at least"),
            ({"ignore": ["id"]}, "ignore: 'id' is none of header:NAME, query:NAME"),
            ({"ignore": ["regex:a"]}, "ignore: 'regex:a' is none of"),
            ({"ignore": ["json:a..b"]}, "ignore: 'a..b' is no path in JSON"),
        ):
            with self.subTest(said):
                self.setUp()
                (refused,) = self.replays(entry(), **more)
                assert isinstance(refused, Send)
                assert isinstance(refused.message, outbound.ProxyError)
                self.assertIn(said, refused.message.message)


class IgnoreTests(HarCase):
    """``ignore``."""

    def test_query(self) -> None:
        """A parameter that is ignored may differ, lack or be there alone, by any rule."""
        url = f"{PAGES}?nonce=1&page=2"
        for parts in (UNSET, ["method", "url"], ["path", "query"]):
            with self.subTest(parts):
                self.setUp()
                self.replays(entry(url, text="2"), match_on=parts, ignore=["query:nonce"])
                for asked in (url, f"{PAGES}?page=2", f"{PAGES}?page=2&non%63e=7&nonce"):
                    self.assertEqual(self.answer(asked), "2", asked)
                self.assertIn('query.page is "3", wanted "2"', self.answer(f"{PAGES}?page=3"))

    def test_all_of_a_query(self) -> None:
        """Without what is ignored there is no query left."""
        self.replays(entry(PAGES, text="hit"), ignore=["query:a"])
        self.assertEqual(self.answer(f"{PAGES}?a=1"), "hit")

    def test_json(self) -> None:
        """A path names one place, a star one step, two stars any number; the rest must be equal."""
        for parts in (UNSET, ["method", "json"], ["url", "body"]):
            for path in ("meta.at", "meta.*", "**.at", "$.meta", "meta.**"):
                with self.subTest(f"{parts} {path}"):
                    self.setUp()
                    self.replays(posted(NESTED, "hit"), match_on=parts, ignore=[f"json:{path}"])
                    later = json.dumps({**NESTED, "meta": {"at": [5], "id": "x"}}).encode()
                    self.assertEqual(self.answer(URL, "POST", later), "hit")
                    other = later.replace(b"ada", b"bob")
                    self.assertIn(
                        'json.user is "bob", wanted "ada"', self.answer(URL, "POST", other)
                    )

    def test_items(self) -> None:
        """So in lists: each item's, or that of one."""
        later = {**NESTED, "items": [{"id": 7, "n": 2}]}
        for path, is_hit in (("items[*].id", True), ("items[0].id", True), ("items[1].id", False)):
            with self.subTest(path):
                self.setUp()
                self.replays(posted(NESTED, "hit"), ignore=[f"json:{path}"])
                said = self.answer(URL, "POST", json.dumps(later).encode())
                self.assertEqual(said == "hit", is_hit, said)

    def test_form_and_header(self) -> None:
        """A field of a form and a header."""
        lines = [*FORM.items(), ("x-request-id", "1")]
        self.replays(
            entry(method="POST", sent="at=1&a=1", lines=lines, text="hit"),
            match_on=["url", "body", "headers"],
            ignore=["form:at", "header:X-Request-Id"],
        )
        sent = {**FORM, "x-request-id": "2"}
        self.assertEqual(self.answer(URL, "POST", b"a=1&at=2", **sent), "hit")


class RedactedTests(HarCase):
    """A HAR without secrets is matched by the same parts."""

    def records(self, *entries: dict[str, Any], **more: Any) -> None:
        har = redacted_har({"entries": list(entries)}, Redactor())
        self.assertIn("[redacted:", json.dumps(har))
        self.replays(*har["entries"], **more)

    def test_json(self) -> None:
        """Any value stands for a mark, a number too, in whatever order; the rest must be equal."""
        self.records(
            posted({"user": "ada", "password": "p1", "pin": 12, "at": 1}, "ada"),
            posted({"user": "bob", "password": "p2", "pin": 34, "at": 2}, "bob"),
            match_on=["method", "url", "json"],
            ignore=["json:at"],
        )
        sent = {"pin": 99, "at": "later", "password": "other", "user": "bob"}
        self.assertEqual(self.answer(URL, "POST", json.dumps(sent).encode()), "bob")
        del sent["pin"]
        missed = self.answer(URL, "POST", json.dumps(sent).encode())
        self.assertIn("json.pin is missing, wanted any value", missed)
        self.assertNotIn("other", missed)

    def test_urls(self) -> None:
        """So in a query without an order, beside a parameter that is ignored, and in a path."""
        self.records(
            entry(f"{PAGES}?token=t1&page=1&nonce=1", text="1"),
            entry(f"{PAGES}?token=t1&page=2&nonce=2", text="2"),
            match_on=["path", "query"],
            ignore=["query:nonce"],
        )
        self.assertEqual(self.answer(f"{PAGES}?page=2&token=t2"), "2")
        missed = self.answer(f"{PAGES}?page=3&token=sekret")
        self.assertIn('query.page is "3", wanted "', missed)
        self.assertNotIn("sekret", missed)

    def test_default(self) -> None:
        """With the default parts, a parameter that is ignored may stand beside a mark."""
        self.records(entry(f"{PAGES}?token=t1&nonce=1", text="hit"), ignore=["query:nonce"])
        self.assertEqual(self.answer(f"{PAGES}?nonce=9&token=t2"), "hit")

    def test_headers(self) -> None:
        """And in a header."""
        self.records(
            entry(lines=[("authorization", "Bearer a"), ("accept", "x")], text="hit"),
            match_on=["headers"],
        )
        self.assertEqual(self.answer(authorization="Bearer b", accept="x"), "hit")
        missed = self.answer(authorization="Bearer b", accept="y")
        self.assertIn('header accept is "y", wanted "x"', missed)


class SequenceTests(HarCase):
    """``in_order``."""

    def test_in_order(self) -> None:
        """Each entry answers one request, in their order; then there is none."""
        self.replays(
            entry(text="1", lines=[("x", "2")]),
            entry(PAGES, text="page"),
            entry(text="2", lines=[("x", "1")]),
            in_order=True,
        )
        self.assertEqual(self.answer(x="1"), "1")
        self.assertEqual(self.answer(x="1"), "2")
        self.assertEqual(
            self.answer(),
            "failed: some.har has no further such request: its entries 1, 3 answered earlier "
            "ones, and each answers once",
        )
        self.assertEqual(self.answer(PAGES), "page")
        self.assertIn("its entry 2 answered", self.answer(PAGES))

    def test_redirects(self) -> None:
        """A redirect and its end are used together."""
        self.replays(
            entry(status=302, location="/pages"),
            entry(PAGES, text="first"),
            entry(status=302, location="/pages"),
            entry(PAGES, text="second"),
            in_order=True,
            follow_redirects=True,
        )
        self.assertEqual([self.answer() for _ in range(2)], ["first", "second"])

    def test_failures(self) -> None:
        """A failure that was recorded is one of them."""
        self.replays(entry(status=-1), entry(text="then"), in_order=True)
        self.assertIn("failed", self.answer())
        self.assertEqual(self.answer(), "then")

    def test_fallback(self) -> None:
        """Used up, the request goes to the next handler, if it is to."""
        self.replays(entry(text="once"), in_order=True, not_found="fallback")
        self.assertEqual([self.answer(), self.answer()], ["once", "continued"])

    def test_with_parts(self) -> None:
        """What is used up is judged by the parts."""
        self.replays(
            posted({"n": 1, "at": 1}, "a"),
            posted({"n": 1, "at": 2}, "b"),
            match_on=["json"],
            ignore=["json:at"],
            in_order=True,
        )
        sent = json.dumps({"at": 3, "n": 1}).encode()
        self.assertEqual([self.answer(URL, "POST", sent) for _ in range(2)], ["a", "b"])

    def test_told(self) -> None:
        """The owner is told the entries that were used, redirects too, with and without it."""
        entries = (entry(PAGES, status=301, location=URL), None, entry(), entry(status=0))
        for in_order in (False, True):
            with self.subTest(in_order):
                self.setUp()
                self.replays(*entries, in_order=in_order, follow_redirects=True)
                self.assertEqual(self.told(self.sends(PAGES)).entries, [1, 3])
                self.assertEqual(self.told(self.sends(URL)).entries, [4 if in_order else 3])
                self.assertIs(self.told(self.sends("http://h.test/no")).entries, UNSET)


class NearestTests(HarCase):
    """The nearest entry, and what differs."""

    def test_fields(self) -> None:
        """Each field that differs is named, the first five, with both values."""
        self.replays(
            posted({"far": 1, "off": 2}, ""), posted(NESTED, ""), match_on=["method", "url", "json"]
        )
        sent = {"user": "ada", "meta": {"at": 2}, "items": [{"id": 1, "n": 2, "x": 0}, 3]}
        said = self.answer(URL, "POST", json.dumps(sent).encode())
        self.assertEqual(
            said,
            f"failed: some.har has no such request. Nearest: entry 2 (POST {URL}): "
            'json.meta.at is 2, wanted 1; json.meta.id is missing, wanted "x"; '
            'json.items is [{"id": 1, "n": 2, "x": 0}, 3], wanted 1 items; '
            "json.items[0].x is 0, wanted none",
        )
        many = {f"f{number}": number for number in range(9)}
        self.assertIn(" 6 more", self.answer(URL, "POST", json.dumps(many).encode()))

    def test_default_rule(self) -> None:
        """The body of a POST is read as JSON for the message; the same JSON differs in bytes."""
        self.replays(posted({"n": 1}, ""))
        self.assertIn("): json.n is 2, wanted 1", self.answer(URL, "POST", b'{"n": 2}'))
        self.assertIn("differ from byte 5", self.answer(URL, "POST", b'{"n":1}'))

    def test_work(self) -> None:
        """An entry, which may have many megabytes, is not read where entries have no order."""
        read = []

        def counting(raw: Raw) -> HarEntry:
            read.append(raw)
            return read_entry(raw)

        self.patch(har_lookup, "read_entry", counting)
        self.replays(posted({"n": 1}, ""))
        self.answer(URL, "POST", b'{"n": 2}')
        self.assertEqual(len(read), 3, "to find it, to see why not, and to name it")

    def test_order_of_a_query(self) -> None:
        """The same parameters in another order differ in the query."""
        self.replays(entry(f"{PAGES}?a=1&b=2"))
        self.assertIn("query differs ('?b=2&a=1')", self.answer(f"{PAGES}?b=2&a=1"))

    def test_missing_parameter(self) -> None:
        """A parameter that lacks is said once, with its value; one value of two by their number."""
        self.replays(entry(f"{PAGES}?a=1&b=2&b=2"))
        self.assertTrue(self.answer(f"{PAGES}?b=2&b=2").endswith('query.a is missing, wanted "1"'))
        self.assertIn("query.b is", self.answer(f"{PAGES}?a=1&b=2"))

    def test_far_away(self) -> None:
        """Of a long HAR, an entry of the same path is found, wherever it is."""
        entries = [entry(f"http://h.test/{number}") for number in range(1000)]
        self.replays(*entries)
        said = self.answer("http://h.test/998?x=1")
        self.assertIn('entry 999 (GET http://h.test/998): query.x is "1", wanted none', said)

    def test_secrets(self) -> None:
        """Values of secret names, and keys of known form, are not shown."""
        self.replays(posted({"token": "sekret-1", "note": "x"}, ""))
        sent = {"token": "sekret-2", "note": "sk_live_1234567890"}
        said = self.answer(f"{URL}?code=sekret-3", "POST", json.dumps(sent).encode())
        self.assertIn("json.token differs", said)
        for secret in ("sekret", "sk_live"):
            self.assertNotIn(secret, said)

    def test_wild_letters(self) -> None:
        """Letters of globs in a recorded URL stand for themselves."""
        self.replays(entry("http://h.test/a*{b,c}[d]"))
        said = self.answer("http://h.test/other")
        self.assertIn("path differs ('/other')", said)
        self.replays(entry("http://h.test/a*{b,c}[d]?x=1"), match_on=["url"])

    def test_bad_entries(self) -> None:
        """An entry that cannot be read is not the nearest."""
        self.replays(entry(PAGES, status="x"), entry(PAGES, sent="x"))
        self.assertIn("entry 2", self.answer(f"{PAGES}?a=1"))
