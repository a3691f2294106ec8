"""The pieces of the test side that only compute."""

import enum
import re
from datetime import timedelta
from functools import partial
from typing import Any
from unittest import mock

from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from twisted.trial.unittest import SynchronousTestCase

from tests.support.hypothesis_profiles import profile
from tests.testing.fakes import URL, request, response
from trafficmock.core.http.response_rules import sendable_response
from trafficmock.testing.adapters.proxy_address import websocket_url
from trafficmock.testing.errors import UsageError
from trafficmock.testing.har.har_lookup import HarCycleError, HarLookup, HarRequest
from trafficmock.testing.objects.request import Request
from trafficmock.testing.objects.response import Response
from trafficmock.testing.promise import Promise, all_of
from trafficmock.testing.session.arguments import headers as hd
from trafficmock.testing.session.arguments import request_overrides as ch
from trafficmock.testing.session.arguments.callables import check_handler
from trafficmock.testing.session.arguments.url_matchers import make_matcher
from trafficmock.testing.session.handlers.mock_response import File, Mock, build
from trafficmock.testing.session.observation.diagnosis import differing
from trafficmock.testing.session.observation.request_state import ResponseState
from trafficmock.testing.session.observation.traffic import ObservedTraffic
from trafficmock.testing.session.observation.waiting import milliseconds
from trafficmock.testing.session.ports import Adapter
from trafficmock.testing.session.worker_client import decode_for_worker
from trafficmock.wire import codec, outbound
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.serialized_matcher import SerializedRegex

TEXT = st.text(max_size=20)
PAIRS = st.lists(st.tuples(TEXT, TEXT), max_size=5).map(tuple)


class PromiseTests(SynchronousTestCase):
    """A value that is there later."""

    def test_settled_once(self) -> None:
        """The first value stays, and watchers hear it whenever they come."""
        promise: Promise[int] = Promise()
        values: list[int] = []
        promise.watch(lambda done: values.append(done.value))
        self.assertTrue(promise.resolve(1))
        self.assertFalse(promise.reject(ValueError()) or promise.resolve(2))
        promise.watch(lambda done: values.append(done.value))
        self.assertEqual(values, [1, 1])

    def test_all(self) -> None:
        """All of several waits for the last, and fails with the first error."""
        several: list[Promise[int]] = [Promise(), Promise(), Promise()]
        together = all_of(several)
        several[2].reject(ValueError("two"))
        several[1].reject(ValueError("one"))
        self.assertFalse(together.done)
        several[0].resolve(0)
        self.assertEqual(str(together.error), "one")
        self.assertTrue(all_of([]).done)

    def test_cancel(self) -> None:
        """Giving up is reported while it is open, and not later."""
        cancelled: list[int] = []
        promise: Promise[int] = Promise(on_cancel=lambda: cancelled.append(1))
        promise.cancel()
        promise.resolve(1)
        promise.cancel()
        self.assertEqual(cancelled, [1])


class MatcherTests(SynchronousTestCase):
    """What is sent to the proxy, and what is the same."""

    def test_on_the_wire(self) -> None:
        """Only what the proxy reads as we do is sent as such; the rest is a predicate."""
        for url, expected in (
            (r"/a\d$", SerializedRegex(r"/a\d$", "")),
            (re.compile("a", re.IGNORECASE | re.DOTALL), SerializedRegex("a", "is")),
            (re.compile(r"(?P<x>a)"), None),
            (re.compile("[]a]"), None),
            (re.compile("a", re.VERBOSE), None),
            (re.compile(r"a\Z"), None),
        ):
            pattern = re.compile(url) if isinstance(url, str) else url
            wire = make_matcher(pattern).wire
            if expected is None:
                self.assertEqual((bool(wire.predicate), bool(wire.url_regex)), (True, False), url)
            else:
                self.assertEqual(wire.url_regex, expected)

    def test_base_url(self) -> None:
        """Relative globs are resolved here and sent as absolute ones."""
        matcher = make_matcher("/api/*", base_url="http://h.test/x/")
        self.assertEqual(matcher.wire.url_glob, "http://h.test/api/*")
        self.assertTrue(matcher.matches_url("http://h.test/api/1"))
        alone = make_matcher("/api/*")
        self.assertTrue(alone.wire.predicate)
        self.assertFalse(alone.matches_url("http://h.test/api/1"))
        socket = make_matcher("/s", base_url="https://h.test", websocket=True)
        self.assertTrue(socket.matches_url("wss://h.test/s"))

    def test_refused(self) -> None:
        """What is no matcher is refused with a list of those that are."""

        async def coroutine(url: str) -> bool:
            return bool(url)

        for wrong in (5, coroutine, re.compile(b"x"), {"uri": "x"}):
            with self.assertRaises(UsageError):
                make_matcher(wrong)  # type: ignore[arg-type] # that is the point

    def test_same(self) -> None:
        """Matchers are the same when they were written alike."""
        self.assertTrue(make_matcher("**/a").same_as(make_matcher("**/a")))
        self.assertTrue(make_matcher(re.compile("a")).same_as(make_matcher(re.compile("a"))))
        ignoring = make_matcher(re.compile("a", re.IGNORECASE))
        self.assertFalse(make_matcher(re.compile("a")).same_as(ignoring))
        self.assertFalse(make_matcher("a").same_as(make_matcher(re.compile("a"))))
        one, other = (
            make_matcher("a", method=["GET", "PUT"]),
            make_matcher("a", method=["put", "get"]),
        )
        self.assertFalse(one.same_as(other))
        self.assertTrue(one.same_as(make_matcher({"url": "a", "method": ["get", "put"]})))


class HeaderTests(SynchronousTestCase):
    """Headers as pairs."""

    @profile(100)
    @given(PAIRS)
    def test_there_and_back(self, pairs: Any) -> None:
        """What goes onto the wire comes back, but for the case of names."""
        mapped, listed = hd.to_wire(hd.lenient(pairs))
        expected = tuple((name.lower(), value) for name, value in pairs)
        self.assertEqual(hd.from_wire(mapped, listed), expected)

    @profile(100)
    @given(PAIRS, PAIRS)
    def test_forbidden_stay(self, original: Any, changed: Any) -> None:
        """What a handler may not set is the original's, whatever it says."""
        names = ("cookie", "sec-x", "proxy-y", "host")
        changed = (*changed, *((name, "evil") for name in names))
        original = (*original, ("cookie", "a=1"))
        result = hd.for_continue(original, changed)
        self.assertNotIn("evil", [value for name, value in result if name in names])
        self.assertEqual(hd.get(result, "Cookie"), hd.get(original, "cookie"))

    def test_texts(self) -> None:
        """A text of an enumeration is that text; other values are written as Python does."""

        class Kind(str, enum.Enum):  # noqa: UP042 - whose str() is the name of a member
            JSON = "application/json"

        for read in (hd.lenient, hd.strict):
            self.assertEqual(read({"Accept": Kind.JSON}), (("accept", "application/json"),))
        self.assertEqual(
            hd.lenient([("A", 1), ("a", None), ("a", 2.5)]), (("a", "1"), ("a", "2.5"))
        )

    def test_method_overrides(self) -> None:
        """The header that overrides a method is forbidden for some methods only."""
        self.assertTrue(hd.is_forbidden("x-http-method", "get, TRACE"))
        self.assertFalse(hd.is_forbidden("x-http-method", "PATCH"))


class ChangeTests(SynchronousTestCase):
    """What handlers change adds up."""

    def merged(self, before: ch.Changes = ch.NO_CHANGES, **given: Any) -> ch.Changes:
        nothing = dict.fromkeys(("url", "method", "headers", "post_data"))
        return ch.merge(before, **{**nothing, **given})

    def test_bodies(self) -> None:
        """Text, bytes and objects are bodies; other falsy values change nothing."""
        for given_body, expected in (
            ("", b""),
            (b"x", b"x"),
            ({}, b"{}"),
            ([], b"[]"),
            (5, b"5"),
            (0, None),
            (False, None),
            (None, None),
        ):
            self.assertEqual(self.merged(post_data=given_body).body, expected, given_body)

    def test_nothing(self) -> None:
        """No change is no key on the wire."""
        self.assertIsNone(ch.for_continue((), self.merged(method="", post_data=0)))
        self.assertIsNone(ch.for_fetch((), self.merged()))

    def test_length(self) -> None:
        """A new body brings its length; an empty one removes it, and is null on the wire."""
        original = (("content-length", "5"), ("x", "1"))
        sent = ch.for_continue(original, self.merged(post_data="ab"))
        assert sent is not None
        self.assertEqual(sent.headers, {"content-length": "2", "x": "1"})
        sent = ch.for_continue(original, self.merged(post_data=""))
        assert sent is not None
        self.assertEqual((sent.headers, sent.body_base64), ({"x": "1"}, body.NULL))


class MockTests(SynchronousTestCase):
    """The response that ``fulfill`` makes from its arguments."""

    def test_statuses(self) -> None:
        """0 is 200; what is no status is refused."""
        self.assertEqual(build(Mock(status=0), "u").status, 200)
        for wrong in (600, -1, 2.5, 100, 199):
            with self.assertRaises(UsageError):
                build(Mock(status=wrong), "u")  # type: ignore[arg-type] # that is the point

    def test_status_texts(self) -> None:
        """The text is the one given, else the response's with its status, else the status's."""
        state, _ = ObservedTraffic().observe("r1", request(), "app")
        for text in ("Fine", ""):
            wire = structs.replace(response(), status_text=text)
            given = ResponseState(state, wire)
            self.assertEqual(build(Mock(response=given), "u").status_text, text or "OK")
            self.assertEqual(build(Mock(response=given, status=200), "u").status_text, text or "OK")
            self.assertEqual(build(Mock(response=given, status=404), "u").status_text, "Not Found")
            mock = Mock(response=given, status_text="So")
            self.assertEqual(build(mock, "u").status_text, "So")
        self.assertEqual(build(Mock(status=418), "u").status_text, "I'm a Teapot")
        self.assertEqual(build(Mock(status=299), "u").status_text, "")
        self.assertEqual(build(Mock(status_text="Très\tbien"), "u").status_text, "Très\tbien")

    @profile(100)
    @given(st.text(max_size=3) | st.binary(max_size=2) | st.integers())
    def test_any_status_text(self, text: Any) -> None:
        """What no status line can carry is refused; what is taken can be sent."""
        try:
            made = build(Mock(status_text=text), "u")
        except UsageError as error:
            self.assertIn("status_text must be text without control characters", str(error))
        else:
            self.assertIs(sendable_response(made), made)

    def test_lengths(self) -> None:
        """An explicit content-length is kept even if it is wrong."""
        made = build(Mock(headers={"Content-Length": "99"}, body="ab"), "u")
        self.assertEqual(made.headers, {"content-length": "99"})

    def test_repeats(self) -> None:
        """Repeated headers are sent in full beside the map."""
        made = build(Mock(headers=[("set-cookie", "a=1"), ("Set-Cookie", "b=2")]), "u")
        self.assertEqual(made.headers_list, [("set-cookie", "a=1"), ("set-cookie", "b=2")])

    def test_files(self) -> None:
        """Files of unknown kind are bytes."""
        made = build(Mock(file=File("x.unknown-kind", b"x")), "u")
        self.assertEqual(made.headers["content-type"], "application/octet-stream")


class TrafficTests(SynchronousTestCase):
    """Redirects are linked whichever message comes first."""

    def test_either_order(self) -> None:
        """The next request of the same client to the resolved Location is the hop."""
        for hop_first in (False, True):
            traffic = ObservedTraffic()
            first, _ = traffic.observe("r1", request("http://h.test/x/a"), "app")
            if not hop_first:
                traffic.respond(first, response(302, location="../b"))
            traffic.observe("r0", request("http://h.test/b"), "another")
            second, _ = traffic.observe("r2", request("http://h.test/b"), "app")
            if hop_first:
                _, hop = traffic.respond(first, response(302, location="../b"))
                self.assertIs(hop, second)
            self.assertIs(first.redirected_to, second)
            self.assertIs(second.redirected_from, first)
            self.assertIsNone(traffic.requests["r0"].redirected_from)

    def test_cut_body(self) -> None:
        """A body that the proxy did not keep whole cannot be read as if it were empty."""
        traffic = ObservedTraffic()
        state, _ = traffic.observe("r1", request(), "app")
        answer, _ = traffic.respond(state, structs.replace(response(), truncated=True))
        assert answer is not None
        with self.assertRaisesRegex(UsageError, "--history-body-bytes"):
            answer.read()
        cut = structs.replace(request(), truncated=True)
        state, _ = traffic.observe("r2", cut, "app")
        seen = Request(state, Adapter())
        for read in ("post_data", "post_data_buffer", "post_data_json"):
            with self.assertRaisesRegex(UsageError, f"the body of GET {URL} whole"):
                getattr(seen, read)
        state.changes = ch.Changes(body=b"changed")
        self.assertEqual(seen.post_data, "changed")

    def test_repeated_headers(self) -> None:
        """The values of a header that repeats are listed apart, whatever the name's case."""
        pairs = [("Set-Cookie", "a=1"), ("set-cookie", "b=2, c"), ("x-a", "1")]
        state, _ = ObservedTraffic().observe("r1", request(), "app")
        wire = structs.replace(response(), headers_list=pairs)
        seen = Response(ResponseState(state, wire), Adapter())
        self.assertEqual(seen.header_values("SET-COOKIE"), ["a=1", "b=2, c"])
        self.assertEqual(seen.header_values("x-none"), [])

    def test_same_request_once(self) -> None:
        """A request that is announced twice is one, and its first answer stays."""
        traffic = ObservedTraffic()
        state, new = traffic.observe("r1", request(), "app")
        self.assertTrue(new)
        self.assertEqual(traffic.observe("r1", request(), "app"), (state, False))
        self.assertIsNotNone(traffic.respond(state, response(201))[0])
        self.assertEqual(traffic.respond(state, response(202)), (None, None))


class TimeoutTests(SynchronousTestCase):
    """How long calls may wait."""

    def test_kinds(self) -> None:
        """Milliseconds are as given, durations are converted, ``None`` is 30 s, 0 stays 0."""
        read = [milliseconds(each) for each in (250, timedelta(seconds=1.5), None, 0)]
        self.assertEqual(read, [250, 1500, 30_000, 0])


class HarTests(SynchronousTestCase):
    """Looking things up in a HAR."""

    def test_boundaries(self) -> None:
        """Multipart bodies are compared without their boundaries."""
        recorded = "--AAA\r\nx\r\n--AAA--"
        entry = {
            "request": {
                "method": "POST",
                "url": "u",
                "headers": [{"name": "Content-Type", "value": "multipart/form-data; boundary=AAA"}],
                "postData": {"text": recorded},
            },
            "response": {"status": 200, "content": {"text": "hit"}},
        }
        lookup = HarLookup([entry], lambda _: b"")
        kind = (("content-type", 'multipart/form-data; boundary="BBB"'),)
        sent = recorded.replace("AAA", "BBB").encode()
        found = lookup.find(HarRequest("u", "POST", kind, sent))
        assert found is not None
        self.assertEqual(found.body, b"hit")
        self.assertIsNone(lookup.find(HarRequest("u", "POST", kind, sent + b"!")))

    def test_circle(self) -> None:
        """A circle of redirects is an error, not an endless loop."""
        response = {"status": 302, "headers": [{"name": "Location", "value": "http://h/"}]}
        entry = {"request": {"method": "GET", "url": "http://h/"}, "response": response}
        with self.assertRaises(HarCycleError):
            HarLookup([entry], lambda _: b"").find(HarRequest("http://h/", "GET", (), b""))


class CodecTests(SynchronousTestCase):
    """What the proxy sends."""

    @profile(200)
    @given(st.binary(max_size=60) | TEXT.map(str.encode))
    def test_any_bytes(self, payload: bytes) -> None:
        """No bytes raise; invalid ones give no message."""
        decode_for_worker(payload)

    @profile(200)
    @given(st.integers(0, 200), st.binary(max_size=3))
    def test_damaged(self, at: int, instead: bytes) -> None:
        """Damaged messages do not raise."""
        good = codec.encode(outbound.RequestObserved("r", request(content=b"abc", a="b"), "app"))
        decode_for_worker(good[:at] + instead + good[at + 1 :])

    def test_unknown(self) -> None:
        """Types and keys that we do not know are no harm; lone surrogates are replaced."""
        self.assertIsNone(decode_for_worker(b'{"type":"newer"}'))
        payload = b'{"type":"proxy:error","code":"c","message":"\\ud800","newer":1}'
        message = decode_for_worker(payload)
        assert isinstance(message, outbound.ProxyError)
        self.assertEqual(message.message, "\ufffd")


class ExplainTests(SynchronousTestCase):
    """Which part of a URL differs from a glob."""

    def test_parts(self) -> None:
        """Each part is named by itself; globs without a host are compared as a whole."""
        url = "http://h.test/a?x=1"
        for glob, expected in (
            ("https://h.test/a?x=1", ["scheme"]),
            ("http://g.test/a?x=1", ["host"]),
            ("http://h.test/b?x=2", ["path", "query"]),
            ("**/a", ["query"]),
            ("**/b", ["path"]),
        ):
            self.assertEqual(differing(glob, url), expected, glob)


class HandlerTests(SynchronousTestCase):
    """What may be a handler."""

    def check(self, handler: Any, most: int = 2) -> None:
        check_handler(handler, "(route, request)", most)

    def test_refused(self) -> None:
        """A function that cannot be called so is refused with its file and line."""

        def no_parameters() -> None: ...

        def three(_route: Any, _request: Any, _more: Any) -> None: ...

        for handler in (no_parameters, three, partial(no_parameters), lambda *, route: route):
            error = self.assertRaises(TypeError, self.check, handler)
            self.assertIsInstance(error, UsageError)
            self.assertRegex(
                str(error), r"handler .*\(test_parts\.py:\d+\) is called as a function"
            )
        self.assertRaises(TypeError, self.check, lambda route, request: (route, request), 1)
        self.assertRaises(UsageError, self.check, {"json": 1})

    def test_accepted(self) -> None:
        """Functions with defaults or ``*args``, methods, mocks, partials and builtins may be."""

        class Handler:
            def __call__(self, route: Any) -> None: ...

            async def method(self, route: Any, request: Any = None) -> None: ...

        seen: list[Any] = []
        for handler in (
            *(lambda *_: None, lambda _route, *, flag=1: flag, lambda _route, _request: None),
            *(Handler(), Handler().method, partial(lambda _flag, _route: None, 1)),
            *(mock.Mock(), mock.AsyncMock(), mock.create_autospec(lambda route: route)),
            *(seen.append, print, dict.fromkeys),
        ):
            self.check(handler)


class PlaceTests(SynchronousTestCase):
    """Where the proxy is."""

    def test_address(self) -> None:
        """The coordinator is at ``/ws`` of the proxy's host."""
        self.assertEqual(websocket_url("https://u:p@h:1/x?y#z"), "wss://u:p@h:1/ws")
        for wrong in ("h:1", "ftp://h", "http://"):
            with self.assertRaises(UsageError):
                websocket_url(wrong)
