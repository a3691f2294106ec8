"""What a browser proxy does to headers."""

from twisted.trial.unittest import SynchronousTestCase

from tests.proxy.browser_proxy.harness import CONTEXT, SPAN
from trafficmock.matching.host_pattern import HostPattern, read_host_pattern
from trafficmock.matching.origin_pattern import read_origin_pattern
from trafficmock.proxy.browser_proxy.context_stamp import ContextStamp
from trafficmock.proxy.http1.context_headers import trace_id, without_context
from trafficmock.proxy.http1.heads import RequestHead
from trafficmock.proxy.request_target import absolute

MEMBER = (b"baggage", f"trafficmock.test={CONTEXT}".encode())
TRACE = (b"traceparent", b"00-%s-%s-01" % (CONTEXT.encode(), SPAN))


class StampTests(SynchronousTestCase):
    """The application's origins get the context, no other does."""

    def stamped(self, url: str, *origins: str, own_hosts: tuple[HostPattern, ...] = ()) -> bool:
        """Tell whether a request for a URL gets it; it has that of another test."""
        patterns = tuple(map(read_origin_pattern, origins))
        stamp = ContextStamp(CONTEXT, patterns, own_hosts, new_span=lambda: SPAN)
        pairs = stamp(absolute(url.encode()).origin, [(b"baggage", b"trafficmock.test=B,a=b")])
        if pairs == [(b"baggage", b"a=b")]:
            return False
        self.assertEqual(pairs, [(MEMBER[0], MEMBER[1] + b",a=b"), TRACE])
        return True

    def test_by_itself(self) -> None:
        """Hosts under test are the application, and those of --own-host."""
        self.assertTrue(self.stamped("http://localhost:3000/"))
        self.assertTrue(self.stamped("http://app/"))
        self.assertFalse(self.stamped("http://third.test/"))
        self.assertTrue(
            self.stamped("http://third.test/", own_hosts=(read_host_pattern("*.test"),))
        )

    def test_called(self) -> None:
        """The origins of the application that are called are told, no others."""
        called: list[str] = []
        stamp = ContextStamp(CONTEXT, called=called.append)
        for url in ("http://localhost:3000/a", "http://third.test/", "https://app/"):
            stamp(absolute(url.encode()).origin, [])
        self.assertEqual(called, ["http://localhost:3000", "https://app"])

    def test_origins(self) -> None:
        """Origins that are given are all that is the application: scheme, host and port."""
        for url, expected in (
            ("http://shop.test/", True),
            ("https://shop.test/", False),
            ("http://shop.test:81/", False),
            ("http://API.shop.test:8000/x", True),
            ("http://localhost/", False),
            ("http://[::1]:3000/", True),
            ("http://[::1]:3001/", False),
        ):
            origins = "http://shop.test", "http://*.Shop.test:8000", "http://[::1]:3000"
            self.assertEqual(self.stamped(url, *origins), expected, url)

    def test_origins_and_hosts_under_test(self) -> None:
        """Both are the application, where the origin is only that of a base URL."""
        origins = map(read_origin_pattern, ("http://127.0.0.1:3000", "http://shop.test:8000"))
        own_hosts = (read_host_pattern("own.test:*"),)
        stamp = ContextStamp(CONTEXT, tuple(origins), own_hosts, hosts_under_test=True)
        for url, expected in (
            ("http://127.0.0.1:3000/", True),
            ("http://127.0.0.1:4000/", True),
            ("http://localhost:4000/", True),
            ("http://[::1]:4000/", True),
            ("http://own.test/", True),
            ("http://shop.test:8000/", True),
            ("http://shop.test:8001/", False),
            ("http://third.example/", False),
        ):
            self.assertEqual(stamp(absolute(url.encode()).origin, []) != [], expected, url)

    def test_untagged(self) -> None:
        """A host under test that the origins leave out is told; others are not."""
        told: list[str] = []
        origin = read_origin_pattern("http://127.0.0.1:3000")
        stamp = ContextStamp(CONTEXT, (origin,), untagged=told.append)
        for url in ("http://127.0.0.1:3000/", "http://localhost:4000/a", "http://third.example/"):
            stamp(absolute(url.encode()).origin, [])
        self.assertEqual(told, ["http://localhost:4000"])

    def test_trace(self) -> None:
        """A trace of the page's own stays, and ours is a valid one."""
        stamp = ContextStamp(CONTEXT)
        origin = absolute(b"http://localhost/").origin
        own = (b"Traceparent", b"00-%s-b7ad6b7169203331-01" % (b"3" * 32))
        self.assertEqual(stamp(origin, [own]), [own, MEMBER])
        (_, trace) = stamp(origin, [])
        head = RequestHead(1, [trace], dict([trace]), b"GET", b"/")
        self.assertEqual(trace_id(head), CONTEXT.encode())
        self.assertEqual(without_context([MEMBER]), [])

    def test_other_hosts(self) -> None:
        """No header for others has the id, also where a page took it from its server."""
        stamp = ContextStamp(CONTEXT)
        trace = (b"traceparent", b"00-%s-b7ad6b7169203331-01" % CONTEXT.encode())
        ((name, value),) = stamp(absolute(b"http://third.test/").origin, [trace, MEMBER])
        self.assertEqual(name, b"traceparent")
        self.assertNotIn(CONTEXT.encode(), value)
        head = RequestHead(1, [], {name: value}, b"GET", b"/")
        self.assertIsNotNone(trace_id(head))
