"""Where the context of a test goes from the forward proxy, and where it does not."""

from twisted.trial.unittest import SynchronousTestCase

from tests.proxy.harness import FakeTransport, ForwardProxyHarness
from tests.proxy.websocket.harness import OPEN
from trafficmock.matching.host_pattern import read_host_pattern
from trafficmock.proxy.proxy_settings import ProxySettings

CARRIERS = b"Baggage: a=b, trafficmock.test=ID1\r\nCookie: c=d; trafficmock_test=ID1\r\n"


def ask(url: bytes, method: bytes = b"GET") -> bytes:
    return b"%s %s HTTP/1.1\r\nHost: x\r\n%sContent-Length: 0\r\n\r\n" % (method, url, CARRIERS)


class LeavingTests(SynchronousTestCase):
    """Hosts under test get it, nobody else does."""

    def setUp(self) -> None:
        own_hosts = (read_host_pattern("*.mine.test"),)
        self.rig = ForwardProxyHarness(settings=ProxySettings(own_hosts=own_hosts))

    def sent(self, server: int = -1) -> bytes:
        return self.rig.servers[server].took()

    def assert_clean(self, data: bytes) -> None:
        self.assertNotIn(b"ID1", data)
        self.assertNotIn(b"trafficmock.test", data)
        self.assertNotIn(b"trafficmock_test", data)
        self.assertIn(b"Baggage: a=b\r\nCookie: c=d\r\n", data)

    def owned(self, data: bytes) -> FakeTransport:
        self.worker = self.rig.worker("http://**")
        return self.rig.ask(data)

    def test_others(self) -> None:
        """What leaves for a third party has neither member nor cookie, and all that is not ours."""
        self.rig.ask(ask(b"http://api.test/"))
        self.assert_clean(self.sent())

    def test_under_test(self) -> None:
        """What goes to a host under test is left as it is."""
        for host in (b"a.mine.test", b"localhost:3000", b"backend"):
            self.rig.ask(ask(b"http://%s/" % host))
            self.assertIn(CARRIERS, self.sent(), host)

    def test_unseen(self) -> None:
        """Neither tests nor the history see it, whoever it is for."""
        self.owned(ask(b"http://backend/"))
        (matched,) = [m for m in self.worker.sent if m["type"] == "request:matched"]
        headers = matched["request"]["headers"]
        self.assertEqual((headers["baggage"], headers["cookie"]), ("a=b", "c=d"))
        self.rig.decide(self.worker, "continue")
        self.sent()
        self.assertNotIn("ID1", str(self.rig.entries()))

    def test_overridden(self) -> None:
        """Headers that a test made of those it saw have it for hosts under test, and only there."""
        seen = {"headers": {"baggage": "a=b", "cookie": "c=d"}}
        for url, expected in (
            (b"http://backend/", b"baggage: trafficmock.test=ID1,a=b\r\ncookie: c=d\r\n"),
            (b"http://api.test/", b"baggage: a=b\r\ncookie: c=d\r\n"),
        ):
            self.setUp()
            self.owned(ask(url))
            self.rig.decide(self.worker, "continue", overrides=seen)
            self.assertIn(expected, self.sent())

    def test_other_url(self) -> None:
        """The host that the request goes to counts, not the one that it was meant for."""
        self.owned(ask(b"http://backend/"))
        self.rig.decide(self.worker, "continue", overrides={"url": "http://api.test/"})
        self.assert_clean(self.sent())

    def test_fetched(self) -> None:
        """route.fetch strips it at each hop that leaves."""
        self.owned(ask(b"http://backend/"))
        self.rig.decide(self.worker, "fetch", fetchId="f")
        self.assertIn(b"trafficmock.test=ID1", self.sent())
        self.rig.servers[-1].sends(
            b"HTTP/1.1 302 x\r\nLocation: http://api.test/\r\nContent-Length: 0\r\n\r\n"
        )
        sent = self.sent()
        self.assertIn(b"host: api.test\r\n", sent)
        self.assertNotIn(b"ID1", sent)

    def test_websocket(self) -> None:
        """The handshakes of WebSockets likewise, relayed or a test's."""
        opening = OPEN.replace(b"\r\n\r\n", b"\r\n%s\r\n" % CARRIERS)
        self.rig.ask(opening)
        self.assert_clean(self.sent())
        self.rig.ask(opening.replace(b"api.test", b"backend"))
        self.assertIn(CARRIERS, self.sent())

    def test_mixed_case(self) -> None:
        """Header names are taken in any case, and repeated lines each."""
        lines = b"BAGGAGE: trafficmock.test=ID1\r\nbaggage: x=1,trafficmock.test=ID1;p\r\n"
        self.rig.ask(b"GET http://api.test/ HTTP/1.1\r\nHost: x\r\n%s\r\n" % lines)
        sent = self.sent()
        self.assertNotIn(b"ID1", sent)
        self.assertIn(b"baggage: x=1\r\n", sent)
