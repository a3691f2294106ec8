"""Limits by name: connections, and entries of a cache."""

import base64
import contextlib
import tracemalloc
from collections.abc import Callable
from typing import Any

from twisted.internet.task import Clock
from twisted.logger import capturedLogs
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.errors import TrafficMockError
from trafficmock.http import hosts
from trafficmock.http.bounded_cache import LONGEST_KEY, cached_by_text
from trafficmock.http.http_limits import QUIET_SECONDS, ConnectionCount, HttpLimits
from trafficmock.proxy import request_target
from trafficmock.proxy.downstream import proxy_credentials
from trafficmock.proxy.http1 import heads


class ConnectionCountTests(SynchronousTestCase):
    """Letting in and refusing."""

    def full(self, seconds: Callable[[], float]) -> ConnectionCount:
        count = ConnectionCount(2, seconds)
        self.assertTrue(count.enter())
        self.assertTrue(count.enter())
        return count

    def test_limit(self) -> None:
        """At the limit a connection is refused; when one ends, the next is let in."""
        count = self.full(Clock().seconds)
        self.assertFalse(count.enter())
        self.assertEqual(count.open, 2)
        count.leave()
        self.assertTrue(count.enter())

    def test_log(self) -> None:
        """Refusals are logged at once and then rarely, with how many there were and the option."""
        clock = Clock()
        clock.advance(1)
        count = self.full(clock.seconds)
        with capturedLogs() as events:
            for _ in range(5):
                count.enter()
            clock.advance(QUIET_SECONDS)
            count.enter()
        self.assertEqual([event["refused"] for event in events], [1, 5])
        self.assertIn("--max-connections", events[0]["log_format"])

    def test_none(self) -> None:
        """0 is no limit."""
        limits = HttpLimits(max_header_bytes=0, max_connections=0)
        self.assertGreater(limits.max_header_bytes, 2**40)
        self.assertGreater(limits.max_connections, 2**40)


CALLS: dict[str, Callable[[str], Any]] = {
    "Host": hosts.parse_authority,
    "Origin": lambda text: hosts.parse_origin(f"http://{text}"),
    "host name": hosts.is_loopback,
    "list of tokens": lambda text: heads.tokens(text.encode()),
    "header name": lambda text: heads.parse_request(b"GET / HTTP/1.1\r\n%s: x" % text.encode()),
    "authority": lambda text: request_target.absolute(b"http://%s/" % text.encode()),
    "path": lambda text: request_target.absolute(b"http://a.test/../%s" % text.encode()),
    "credentials": lambda text: proxy_credentials.client_id(
        b"Basic " + base64.b64encode(text.encode()), None
    ),
}


class CachedTests(SynchronousTestCase):
    """The decorator."""

    def test_short_and_long(self) -> None:
        """Results of short texts are remembered, results of long ones are made each time."""
        calls: list[str] = []

        @cached_by_text(maxsize=2)
        def length(text: str) -> int:
            calls.append(text)
            return len(text)

        for text in ("a", "b" * LONGEST_KEY, "c" * (LONGEST_KEY + 1)):
            self.assertEqual([length(text), length(text)], [len(text)] * 2)
        self.assertEqual(len(calls), 4)

    def test_oldest(self) -> None:
        """Above the most results, the oldest one is made again."""
        calls: list[str] = []

        @cached_by_text(maxsize=2)
        def upper(text: str) -> str:
            calls.append(text)
            return text.upper()

        for text in "abcba":
            self.assertEqual(upper(text), text.upper())
        self.assertEqual("".join(calls), "abca")

    def test_memory(self) -> None:
        """Long texts of clients leave nothing behind, whatever they are read as."""
        for name, call in CALLS.items():
            tracemalloc.start()
            try:
                before, _ = tracemalloc.get_traced_memory()
                for number in range(50):
                    with contextlib.suppress(TrafficMockError):
                        call(f"{number}" + "a" * 60_000)
                after, _ = tracemalloc.get_traced_memory()
            finally:
                tracemalloc.stop()
            self.assertLess(after - before, 200_000, name)
