"""What handlers change in a request adds up, and what of it is sent."""

import json

from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET
from twisted.trial.unittest import SynchronousTestCase

from tests.support.builders import request
from tests.support.hypothesis_profiles import profile
from trafficmock.core.http.request_changes import (
    NO_CHANGES,
    for_continue,
    for_fetch,
    has_scheme_of,
    is_forbidden,
    merged,
)
from trafficmock.wire.changed_request import changed_request
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.serialized_request import SerializedOverrides, SerializedRequest

TEXT = st.text(max_size=20)
PAIRS = st.lists(st.tuples(TEXT, TEXT), max_size=5)
URL = "http://h.test/a"


def asked(**headers: str) -> SerializedRequest:
    return SerializedRequest(
        URL, "POST", {name.replace("_", "-"): value for name, value in headers.items()}, body.NULL
    )


class MergedTests(SynchronousTestCase):
    """The changes of several handlers."""

    def test_parts(self) -> None:
        """A part that a later handler gives replaces the earlier one; others stay."""
        one = SerializedOverrides(url="http://h.test/b", headers={"x": "1"})
        two = SerializedOverrides(method="PUT", headers={"y": "2"}, body_base64=body.NULL)
        both = merged(merged(NO_CHANGES, one), two)
        self.assertEqual((both.url, both.method, both.headers), (one.url, "PUT", {"y": "2"}))
        self.assertEqual(both.body_base64, body.NULL)

    def test_together(self) -> None:
        """Headers as a list and as a map replace each other, and so do a body and its type."""
        pairs = [("x", "1"), ("x", "2")]
        as_list = SerializedOverrides(headers_list=pairs)
        as_map = SerializedOverrides(headers={"y": "2"})
        for first, then in ((as_list, as_map), (as_map, as_list)):
            both = merged(first, then)
            self.assertEqual((both.headers, both.headers_list), (then.headers, then.headers_list))
        form = SerializedOverrides(body_base64=body.from_bytes(b"a=1"), content_type="a/form")
        both = merged(merged(NO_CHANGES, form), SerializedOverrides(method="PUT"))
        self.assertEqual(both.content_type, "a/form")
        self.assertIs(merged(both, SerializedOverrides(body_base64=body.NULL)).content_type, UNSET)

    def test_nothing(self) -> None:
        """No change, and an empty URL or method, change nothing."""
        for nothing in (UNSET, SerializedOverrides(), SerializedOverrides(url="", method="")):
            self.assertIs(merged(NO_CHANGES, nothing), NO_CHANGES)
        self.assertIsNone(for_continue(request(), NO_CHANGES))
        self.assertIs(for_fetch(request(), NO_CHANGES), UNSET)

    def test_shown(self) -> None:
        """The next handler gets the request with the changes as they were given."""
        changes = SerializedOverrides(
            url="http://h.test/b", headers_list=[("Cookie", "b=2"), ("cookie", "c=3")]
        )
        shown = changed_request(asked(cookie="a=1"), changes)
        self.assertEqual((shown.url, shown.method), ("http://h.test/b", "POST"))
        self.assertEqual(shown.headers_list, [("cookie", "b=2"), ("cookie", "c=3")])


class SentTests(SynchronousTestCase):
    """The overrides that an agent gets."""

    @profile(100)
    @given(PAIRS, PAIRS)
    def test_forbidden_stay(
        self, original: list[tuple[str, str]], changed: list[tuple[str, str]]
    ) -> None:
        """Headers that a handler may not set are the request's, whatever it says."""
        names = ("cookie", "sec-x", "proxy-y", "host")
        sent = for_continue(
            SerializedRequest(URL, "GET", {}, body.NULL, [*original, ("Cookie", "a=1")]),
            SerializedOverrides(headers_list=[*changed, *((name, "evil") for name in names)]),
        )
        assert sent is not None and sent.headers is not UNSET
        self.assertNotIn("evil", [sent.headers.get(name) for name in names])
        self.assertIn("a=1", sent.headers["cookie"])

    def test_method_overrides(self) -> None:
        """The header that overrides a method is forbidden for some methods only."""
        self.assertTrue(is_forbidden("x-http-method", "get, TRACE"))
        self.assertFalse(is_forbidden("x-http-method", "PATCH"))

    def test_length(self) -> None:
        """A new body brings its length; an empty one removes it, and is null on the wire."""
        original = asked(content_length="5", x="1")
        new = SerializedOverrides(body_base64=body.from_bytes(b"ab"), content_type="text/plain")
        sent = for_continue(original, new)
        assert sent is not None
        self.assertEqual(sent.headers, {"content-length": "2", "x": "1"})
        self.assertIs(sent.content_type, UNSET)
        sent = for_continue(original, SerializedOverrides(body_base64=body.NULL))
        assert sent is not None
        self.assertEqual((sent.headers, sent.body_base64), ({"x": "1"}, body.NULL))

    def test_fetched_body(self) -> None:
        """The body of a fetch gets a content type; one of JSON makes a text JSON."""
        text = SerializedOverrides(body_base64=body.from_bytes(b"hi"), content_type="x/y")
        for original, kind, content in (
            (asked(), "x/y", b"hi"),
            (asked(accept="*/*"), "x/y", b"hi"),
            (asked(accept="*/*", content_type="a/b"), "a/b", b"hi"),
            (asked(content_type="application/json"), "application/json", b'"hi"'),
        ):
            sent = for_fetch(original, text)
            assert sent is not UNSET and sent.headers is not UNSET
            self.assertEqual(sent.headers["content-type"], kind)
            self.assertEqual(body.to_bytes(sent.body_base64), content)
            self.assertEqual(sent.headers["content-length"], str(len(content)))

    @profile(100)
    @given(st.binary(max_size=30))
    def test_json(self, content: bytes) -> None:
        """With the content type of JSON, any body is JSON or empty."""
        original = asked(content_type="application/json")
        sent = for_fetch(original, SerializedOverrides(body_base64=body.from_bytes(content)))
        assert sent is not UNSET
        result = body.to_bytes(sent.body_base64)
        if content:
            json.loads(result)
        else:
            self.assertEqual(result, b"")

    def test_schemes(self) -> None:
        """A new URL has the scheme of the request, in any case, or it is refused."""
        for url, expected in (
            ("http://other.test/", True),
            ("HTTP://other.test/", True),
            ("https://h.test/", False),
            ("file:///tmp/a", False),
            ("http://[", False),
            ("/a", False),
        ):
            self.assertEqual(has_scheme_of(URL, SerializedOverrides(url=url)), expected, url)
        self.assertTrue(has_scheme_of(URL, NO_CHANGES))
