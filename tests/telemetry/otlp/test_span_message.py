"""The parts of spans; tests of whole spans are beside, by the records that they are made of."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.support.builders import failure, request, response
from tests.telemetry.fakes import OWNER, Harness
from tests.telemetry.messages import attributes, span_of
from trafficmock import records
from trafficmock.telemetry.otlp import span_message
from trafficmock.telemetry.otlp.span_message import origins_of, server_of, shown_matcher
from trafficmock.wire.payloads.serialized_matcher import (
    SerializedMatcher,
    SerializedRegex,
    ShownRoute,
)


class PartTests(SynchronousTestCase):
    """Servers, routes and statuses."""

    def test_servers(self) -> None:
        """Host and port of an origin, with the default of its scheme."""
        self.assertEqual(server_of("https://A.test"), ("a.test", 443))
        self.assertEqual(server_of("ws://[::1]:9"), ("::1", 9))
        self.assertEqual(server_of("mailto:x"), ("", 0))

    @given(st.text())
    def test_any_server(self, origin: str) -> None:
        """No text is an error."""
        server_of(origin)

    @given(st.lists(st.text("ab/:", max_size=14) | st.sampled_from(["http://a", "http://a/b"])))
    def test_origins(self, urls: list[str]) -> None:
        """Each URL is cut after the first slash behind its host, whatever others come before."""
        expected = [url[: url.find("/", 8) + 1] or url for url in urls]
        self.assertEqual(origins_of(urls), expected)

    def test_many_origins(self) -> None:
        """The sizes that are tried have a bound."""
        urls = [f"http://{'h' * size}/{size}" for size in (*range(1, 30), *range(1, 30))]
        self.assertEqual(origins_of(urls), [url[: url.rfind("/") + 1] for url in urls])

    def test_routes(self) -> None:
        """What a route matches, in one line."""
        for matcher, shown in (
            (SerializedMatcher(url_glob="**/a"), "**/a"),
            (SerializedMatcher(url_regex=SerializedRegex("a+", "i")), "/a+/i"),
            (SerializedMatcher(predicate=True), "a predicate"),
            (SerializedMatcher(methods=["GET"]), "**"),
        ):
            self.assertEqual(shown_matcher(ShownRoute(matcher)), shown)


class WriterTests(SynchronousTestCase):
    """Spans of any requests, with caches of a bounded size."""

    def setUp(self) -> None:
        self.harness = Harness()

    def found(self, url: str, method: str, client: str, name: str) -> dict[str, Any]:
        harness = self.harness
        seen = records.RequestSeen(name, client, request(url, method))
        harness.record(seen, records.RequestFulfilled(name, OWNER, response()))
        (message,) = harness.written()
        return attributes(span_of(message).attributes)

    @given(st.text(min_size=1), st.text(min_size=1), st.text(), st.text())
    def test_any_texts(self, url: str, method: str, client: str, name: str) -> None:
        """Any texts of a client are written, as UTF-8."""
        found = self.found(url, method, client, name)
        self.assertEqual(found["url.full"], url.encode(errors="replace").decode())
        self.assertEqual(found["trafficmock.request.id"], name.encode(errors="replace").decode())

    def test_together(self) -> None:
        """A span that is written among others, of other kinds, is as if it were written alone."""
        late = records.CarriedContext("t2", "browses", "g.py", late=True)
        carried = records.CarriedContext("t1", "pays", OWNER.file, late=False)
        parent = f"00-{'1' * 32}-{'2' * 16}-01"
        fulfilled = [response(201), response(404)]
        told: list[list[Any]] = [
            [records.RequestSeen("a", "shop", request("http://a.test/secret"))],
            [records.RequestSeen("b" * 200, "shöp", request("http://b.test/ö", "BREW"))],
            [records.RequestSeen("c", "shop", request("x", traceparent=parent), carried=carried)],
            [records.RequestSeen("d", "shop", request(traceparent=parent), carried=late)],
            [records.RequestSeen("e", "shop", request("http://a.test/" + "e" * 300))],
        ]
        for number, each in enumerate(told):
            name = each[0].request_id
            each.append(records.RequestFulfilled(name, OWNER, fulfilled[number % 2]))
        reported = records.ResponseReported("f", None, failure())
        told += [
            [
                records.RequestSeen("f", "shop", request()),
                records.RequestPassedThrough("f"),
                reported,
            ],
            [records.RequestSeen("g", "shop", request())],
        ]

        def written(*groups: Any) -> list[bytes]:
            harness = Harness(batch=99)
            harness.record(records.TestBegan("t1", "pays", "f.py", "3" * 32))
            for group in groups:
                harness.record(*group)
            harness.exporter.parts[0].end_all(harness.now())
            return harness.written()

        alone = [message for group in told for message in written(group)]
        self.assertEqual((written(*told), len(alone)), (alone, len(told)))

    def test_caches(self) -> None:
        """What clients choose does not fill the memory."""
        self.patch(span_message, "_MOST_CACHED", 3)
        harness = self.harness
        for number in range(9):
            url = f"http://h{number}.test/{'x' * number}"
            found = self.found(url, f"M{number}", f"c{number}", "q" * (number + 1))
            self.assertEqual(found["server.address"], f"h{number}.test")
            self.assertEqual(found["url.full"], url)
        writer = harness.exporter.writer
        for cache in (writer._commons, writer._owners, writer._heads):
            self.assertLessEqual(len(cache), 3)
