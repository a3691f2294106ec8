"""Spans of requests, from the records of the core to OTLP."""

from typing import Any

from msgspec import UNSET
from twisted.trial.unittest import SynchronousTestCase

from tests.support.builders import failure, request, response
from tests.telemetry.fakes import EPOCH_MS, MS, OWNER, Harness
from tests.telemetry.messages import attributes, span_of
from trafficmock import records
from trafficmock.telemetry import request_spans
from trafficmock.wire.payloads.serialized_matcher import SerializedMatcher, ShownRoute
from trafficmock.wire.payloads.serialized_response import SerializedError

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


def seen(request_id: str = "q1", url: str = "http://api.test/a", **more: Any) -> Any:
    method, headers = more.pop("method", "GET"), more.pop("headers", {})
    return records.RequestSeen(request_id, "shop", request(url, method, **headers), **more)


class RequestSpanTests(SynchronousTestCase):
    """Each request becomes one span of kind CLIENT."""

    def setUp(self) -> None:
        self.harness = Harness()

    def span(self, *told: Any) -> tuple[Any, dict[str, Any]]:
        """Let records come that end one request; return its span and attributes."""
        self.harness.record(*told)
        (message,) = self.harness.written()
        span = span_of(message)
        return span, attributes(span.attributes)

    def test_fulfilled(self) -> None:
        """A mock: names, times, and the attributes of the conventions and of the decision."""
        route = ShownRoute(SerializedMatcher(url_glob="**/a"), "tests/test_pay.py:7")
        owner = records.Owner("t1", "r1", "pays", "tests/test_pay.py", route)
        told = seen(method="POST"), records.RequestFulfilled("q1", owner, response(201))
        span, found = self.span(*told)
        self.assertEqual((span.name, span.kind), ("POST", 3))
        self.assertEqual(span.start_time_unix_nano, EPOCH_MS * MS)
        self.assertEqual(span.end_time_unix_nano, (EPOCH_MS + 1) * MS)
        self.assertEqual(span.status.code, 0)
        self.assertEqual(
            found,
            {
                "http.request.method": "POST",
                "http.response.status_code": 201,
                "server.address": "api.test",
                "server.port": 80,
                "url.full": "http://api.test/a",
                "test.case.name": "pays",
                "test.suite.name": "tests/test_pay.py",
                "trafficmock.client.id": "shop",
                "trafficmock.decision": "fulfill",
                "trafficmock.decision.duration": 0.001,
                "trafficmock.request.id": "q1",
                "trafficmock.route": "**/a",
                "trafficmock.route.id": "r1",
                "trafficmock.route.place": "tests/test_pay.py:7",
                "trafficmock.test.id": "t1",
            },
        )

    def test_parent(self) -> None:
        """The span of the application that ``traceparent`` names is the parent."""
        headers = {"traceparent": f"00-{TRACE}-{SPAN}-01"}
        span, _ = self.span(
            seen(headers=headers), records.RequestFulfilled("q1", OWNER, response())
        )
        self.assertEqual((span.trace_id.hex(), span.parent_span_id.hex()), (TRACE, SPAN))
        self.assertNotEqual(span.span_id.hex(), SPAN)

    def test_test_is_parent(self) -> None:
        """Without it, the span of the test is the parent."""
        self.harness.record(records.TestBegan("t1", "pays", "f.py", TRACE))
        span, _ = self.span(seen(), records.RequestFulfilled("q1", OWNER, response()))
        self.assertEqual((span.trace_id.hex(), span.parent_span_id.hex()), (TRACE, TRACE[16:]))

    def test_alias(self) -> None:
        """The trace of a request with a context is that of its test, whatever alias it has."""
        context = "c" * 32
        self.harness.record(records.TestBegan("t1", "pays", "f.py", context))
        carried = records.CarriedContext("t1", "pays", "f.py", late=False)
        headers = {"traceparent": f"00-{TRACE}-{SPAN}-01"}
        told = records.RequestFulfilled("q1", OWNER, response())
        span, _ = self.span(seen(headers=headers, carried=carried), told)
        self.assertEqual((span.trace_id.hex(), span.parent_span_id.hex()), (context, SPAN))

    def test_root(self) -> None:
        """A request of no test begins a trace."""
        reported = records.ResponseReported("q1", response(), None)
        span, found = self.span(seen(), records.RequestPassedThrough("q1"), reported)
        self.assertEqual((len(span.trace_id), span.parent_span_id), (16, b""))
        self.assertEqual(found["trafficmock.decision"], "passthrough")
        self.assertNotIn("test.case.name", found)

    def test_server_error(self) -> None:
        """A status from 400 on is an error of that type."""
        reported = records.ResponseReported("q1", response(503), None)
        span, found = self.span(seen(), records.RequestContinued("q1", OWNER, None), reported)
        self.assertEqual((span.status.code, found["error.type"]), (2, "503"))
        self.assertEqual(found["trafficmock.decision"], "continue")

    def test_upstream_error(self) -> None:
        """An error of the connection has its code as type, and its text."""
        reported = records.ResponseReported("q1", None, failure())
        span, found = self.span(seen(), records.RequestPassedThrough("q1"), reported)
        self.assertEqual(found["error.type"], "ECONNREFUSED")
        self.assertEqual((span.status.code, span.status.message), (2, "refused"))
        self.assertEqual(found["trafficmock.error"], "refused")

    def test_error_without_code(self) -> None:
        """An error without a code has the type that the conventions give for it."""
        error = SerializedError("Error", "odd", code=UNSET)
        reported = records.ResponseReported("q1", None, error)
        _, found = self.span(seen(), records.RequestPassedThrough("q1"), reported)
        self.assertEqual(found["error.type"], "_OTHER")

    def test_aborted(self) -> None:
        """An abort has its code as type."""
        aborted = records.RequestAborted("q1", OWNER, "connectionrefused", "abort")
        _, found = self.span(seen(), aborted)
        self.assertEqual(
            (found["trafficmock.decision"], found["error.type"]), ("abort", "connectionrefused")
        )

    def test_failed(self) -> None:
        """A request without a decision has the code and the text of the failure."""
        failed = records.RequestFailed("q1", None, "ambiguous", "Two tests match.", None)
        span, found = self.span(seen(), failed)
        self.assertEqual((found["error.type"], span.status.message), ("ambiguous", failed.message))

    def test_context(self) -> None:
        """The test of the context is named, also if a shared route of the worker decides."""
        carried = records.CarriedContext("t2", "browses", "g.py", late=True)
        told = records.RequestFulfilled("q1", OWNER, response())
        _, found = self.span(seen(carried=carried), told)
        self.assertEqual((found["test.case.name"], found["trafficmock.test.id"]), ("browses", "t2"))
        self.assertTrue(found["trafficmock.test.late"])

    def test_unknown_method(self) -> None:
        """An unknown method is ``_OTHER``, so that clients do not choose the names of spans."""
        told = records.RequestFulfilled("q1", OWNER, response())
        span, found = self.span(seen(method="BREW"), told)
        self.assertEqual((span.name, found["http.request.method"]), ("HTTP", "_OTHER"))
        self.assertEqual(found["http.request.method_original"], "BREW")

    def test_redacted(self) -> None:
        """The URL has no secrets."""
        told = records.RequestFulfilled("q1", OWNER, response())
        _, found = self.span(seen(url="https://api.test/a?key=secret"), told)
        self.assertEqual(found["url.full"], "https://api.test/a?key=…")
        self.assertEqual(found["server.port"], 443)

    def test_odd_urls(self) -> None:
        """A URL without a host, or with an invalid port, has no server."""
        for url in ("x", "http://h:99999/", "http://[/", "\ud800"):
            told = records.RequestFulfilled("q1", OWNER, response())
            _, found = self.span(seen(url=url), told)
            self.assertNotIn("server.port", found)

    def test_long_texts(self) -> None:
        """Texts may have a bound."""
        self.harness = Harness(longest=20)
        told = records.RequestFulfilled("q1", OWNER, response())
        _, found = self.span(seen(url="http://api.test/" + "a" * 5000), told)
        self.assertEqual(found["url.full"], "http://api.test/aaaa")

    def test_stream(self) -> None:
        """Pieces of a streamed mock are events, of which the first are kept."""
        began = records.RequestFulfilled("q1", OWNER, response(), body_pending=True)
        pieces = [records.StreamPieceSent("q1", size) for size in (3, 5, 7, 9, 11)]
        span, _ = self.span(seen(), began, *pieces, records.StreamEnded("q1", response(), None))
        self.assertEqual([event.name for event in span.events], ["piece"] * 3)
        sizes = [attributes(event.attributes)["trafficmock.size"] for event in span.events]
        self.assertEqual((sizes, span.dropped_events_count), ([3, 5, 7], 2))
        self.assertEqual(span.events[0].time_unix_nano, (EPOCH_MS + 2) * MS)

    def test_broken_stream(self) -> None:
        """A stream that breaks off is an error."""
        began = records.RequestFulfilled("q1", OWNER, response(), body_pending=True)
        ended = records.StreamEnded("q1", response(), "the client went away")
        span, found = self.span(seen(), began, ended)
        self.assertEqual((found["error.type"], span.status.code), ("broken_off", 2))

    def test_body_comes_later(self) -> None:
        """A request is over when the body of its response has come."""
        head = records.ResponseReported("q1", response(), None, body_pending=True)
        self.harness.record(seen(), records.RequestPassedThrough("q1"), head)
        self.assertEqual(self.harness.written(), [])
        span, _ = self.span(records.ResponseReported("q1", response(), None))
        self.assertEqual(span.name, "GET")

    def test_redirect(self) -> None:
        """A hop is a span of its own, and knows how many came before."""
        self.harness.record(seen(), records.RequestPassedThrough("q1"))
        hop = records.HopSeen("q2", "shop", request("http://b.test/"), "q1", "passthrough", None)
        self.harness.record(hop)
        span, found = self.span(records.ResponseReported("q2", response(), None))
        self.assertEqual(found["http.request.resend_count"], 1)
        self.assertEqual((found["server.address"], span.name), ("b.test", "GET"))

    def test_late_records(self) -> None:
        """A second decision and reports of unknown requests change nothing."""
        self.harness.record(
            records.RequestPassedThrough("q9"),
            records.ResponseReported("q9", response(), None),
            records.StreamPieceSent("q9", 3),
            records.StreamEnded("q9", response(), None),
        )
        fulfilled = records.RequestFulfilled("q1", OWNER, response(200))
        aborted = records.RequestAborted("q1", OWNER, "failed", "")
        _, found = self.span(seen(), fulfilled, aborted)
        self.assertEqual(found["trafficmock.decision"], "fulfill")

    def test_early_report(self) -> None:
        """A report before the decision is of no response that the application got."""
        early = records.ResponseReported("q1", response(503), None)
        self.harness.record(seen(), early)
        self.assertEqual(self.harness.written(), [])
        span, found = self.span(records.RequestFulfilled("q1", OWNER, response(201)))
        self.assertEqual(found["http.response.status_code"], 201)
        self.assertEqual((span.status.code, found["trafficmock.decision"]), (0, "fulfill"))
        self.harness.record(seen(), early, records.RequestPassedThrough("q1"))
        self.assertEqual(self.harness.written(), [])
        _, found = self.span(records.ResponseReported("q1", response(204), None))
        self.assertEqual(found["http.response.status_code"], 204)
        self.assertEqual(found["trafficmock.decision"], "passthrough")

    def test_bound(self) -> None:
        """The oldest request is exported as it is when too many are open."""
        self.patch(request_spans, "MOST_OPEN", 2)
        span, found = self.span(seen("q1"), seen("q2"), seen("q3"))
        self.assertEqual(found["trafficmock.request.id"], "q1")
        self.assertEqual(found["trafficmock.decision"], "pending")
        self.assertEqual(span.status.code, 0)
        decided = [records.RequestPassedThrough("q2"), records.RequestPassedThrough("q3")]
        self.harness.record(*decided, seen("q4"))
        self.assertEqual(self.harness.written(), [])
        _, found = self.span(records.RequestContinued("q4", OWNER, None))
        self.assertEqual(found["trafficmock.request.id"], "q2")
        self.assertEqual(found["trafficmock.decision"], "passthrough")

    def test_same_id(self) -> None:
        """A request with the id of an open one ends that one."""
        _, found = self.span(seen(url="http://one.test/"), seen(url="http://two.test/"))
        self.assertEqual(found["server.address"], "one.test")
