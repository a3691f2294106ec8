"""The forward proxy's connections as an ``IAgent``."""

import gzip
from typing import Any

import treq
from hypothesis import given
from hypothesis import strategies as st
from treq.client import HTTPClient
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase
from twisted.web.http_headers import Headers
from twisted.web.iweb import IAgent, IBodyProducer, IResponse
from zope.interface.verify import verifyObject

from tests.proxy.harness import OURS, ForwardProxyHarness
from trafficmock.http.exact_url import ExactUrl
from trafficmock.proxy.http1.heads import parse_response
from trafficmock.proxy.transfer.body_arrival import BodyArrival
from trafficmock.proxy.transfer.upstream_agent import (
    BytesBody,
    UpstreamAgent,
    UpstreamResponse,
)
from trafficmock.proxy.upstream_errors import UpstreamError

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class AgentTests(SynchronousTestCase):
    """What treq sends through it, and what comes back."""

    def setUp(self) -> None:
        self.harness = ForwardProxyHarness()
        self.clock: Any = self.harness.core.clock
        self.agent = UpstreamAgent(self.harness.resources, OURS, 10)
        self.client = HTTPClient(self.agent, data_to_body_producer=BytesBody)

    def ask(
        self, url: str = "http://api.test/x", method: str = "GET", **more: Any
    ) -> Deferred[Any]:
        return self.client.request(
            method,
            ExactUrl(url),
            reactor=self.clock,
            allow_redirects=False,
            unbuffered=True,
            **more,
        )

    def sent(self) -> bytes:
        sent: bytes = self.harness.servers[-1].took()
        return sent

    def test_interfaces(self) -> None:
        """They are what Twisted's users of agents expect."""
        head = parse_response(b"HTTP/1.1 200 OK")
        verifyObject(IAgent, self.agent)
        verifyObject(IBodyProducer, BytesBody(b""))
        verifyObject(IResponse, UpstreamResponse(head, BodyArrival(Clock())))

    def test_exact(self) -> None:
        """Hosts that hyperlink refuses and targets that it rewrites go out as they are."""
        for url, line, host in (
            ("http://my_service/x?", b"GET /x? ", b"my_service"),
            ("http://[::1]:81/a|b?c|d", b"GET /a|b?c|d ", b"[::1]:81"),
            ("http://r1---sn.x/a/../%7e", b"GET /a/../%7e ", b"r1---sn.x"),
        ):
            self.ask(url)
            sent = self.sent()
            self.assertTrue(sent.startswith(line), sent)
            self.assertIn(b"host: %s\r\n" % host, sent)

    @given(st.text("abc%/?=&+;:@|'~._-", max_size=30))
    def test_any_path(self, path: str) -> None:
        """Whatever stands in a target arrives unchanged."""
        harness = ForwardProxyHarness()
        client = HTTPClient(UpstreamAgent(harness.resources, OURS, 0))
        clock: Any = harness.core.clock
        client.request("GET", ExactUrl(f"http://api.test/{path}"), reactor=clock)
        line = harness.servers[0].took().partition(b"\r\n")[0]
        self.assertEqual(line, f"GET /{path} HTTP/1.1".encode())

    def test_all_of_the_server(self) -> None:
        """OPTIONS about a whole server has no path."""
        self.ask("http://api.test", "OPTIONS")
        self.assertTrue(self.sent().startswith(b"OPTIONS * HTTP/1.1\r\n"))

    def test_body(self) -> None:
        """A body has its length."""
        self.ask(method="POST", data=b"hi", headers=Headers({b"X-A": [b"1", b"2"]}))
        sent = self.sent()
        for part in (b"content-length: 2\r\n", b"X-A: 1\r\n", b"X-A: 2\r\n", b"\r\n\r\nhi"):
            self.assertIn(part, sent)

    def test_response(self) -> None:
        """The response has its body, and its connection is kept for the next request."""
        asked = self.ask()
        self.harness.servers[0].sends(OK)
        response = self.successResultOf(asked)
        self.assertEqual((response.code, response.phrase), (200, b"OK"))
        self.assertEqual(self.successResultOf(treq.content(response)), b"ok")
        self.assertEqual(len(self.harness.resources.pool._kept), 1)

    def test_not_decoded(self) -> None:
        """A coded body stays as it is: treq would inflate it to any size."""
        asked, coded = self.ask(), gzip.compress(b"")[:10]
        self.harness.servers[0].sends(
            b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 10\r\n\r\n" + coded
        )
        response = self.successResultOf(asked)
        self.assertEqual(self.successResultOf(treq.content(response)), coded)
        self.assertEqual(response.original.head.fields[b"content-encoding"], b"gzip")

    def test_too_large(self) -> None:
        """A body beyond the limit is an error, and its connection is cut."""
        asked = self.ask()
        self.harness.servers[0].sends(b"HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n12345678901")
        self.assertEqual(self.failureResultOf(asked, UpstreamError).value.errno, "EFBIG")
        self.assertTrue(self.harness.servers[0].aborted)

    def test_cancelled(self) -> None:
        """Cancelling cuts the connection."""
        asked = self.ask()
        asked.cancel()
        self.failureResultOf(asked)
        self.assertTrue(self.harness.servers[0].aborted)

    def test_ourselves(self) -> None:
        """A server that is this very proxy is not asked."""
        self.harness.dialer.peer = OURS
        self.assertEqual(self.failureResultOf(self.ask(), UpstreamError).value.errno, "ELOOP")
