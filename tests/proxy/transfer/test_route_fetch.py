"""What tests fetch."""

import base64
import gzip
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tests.proxy.harness import ForwardProxyHarness, refused
from tests.server.fakes import FakeLink
from trafficmock.proxy.proxy_settings import ProxySettings

POST = (
    b"POST http://api.test/x HTTP/1.1\r\nHost: api.test\r\nAuthorization: a\r\n"
    b"Cookie: s=1\r\nContent-Type: t\r\nContent-Length: 2\r\n\r\nhi"
)
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class FetchTests(SynchronousTestCase):
    """``route.fetch``, carried out for the test."""

    def setUp(self) -> None:
        self.harness = ForwardProxyHarness()
        self.worker: FakeLink = self.harness.worker()
        self.client = self.harness.ask(POST)

    def fetch(self, **fields: Any) -> None:
        self.harness.decide(self.worker, "fetch", fetchId="f", **fields)

    def done(self) -> dict[str, Any]:
        (done,) = [m for m in self.worker.sent if m["type"] == "fetch:done"]
        return done

    def test_whole(self) -> None:
        """The request as it came is asked, and the answer handed over decoded."""
        self.fetch()
        sent = self.harness.servers[0].took()
        self.assertTrue(sent.startswith(b"POST /x HTTP/1.1\r\n"), sent)
        self.assertIn(b"Accept-Encoding: gzip, deflate\r\n", sent)
        self.assertTrue(sent.endswith(b"\r\n\r\nhi"))
        coded = gzip.compress(b"plain")
        head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(
            coded
        )
        self.harness.servers[0].sends(head + coded)
        response = self.done()["response"]
        self.assertEqual(base64.b64decode(response["bodyBase64"]), b"plain")
        self.assertNotIn("content-encoding", response["headers"])
        self.assertEqual(self.client.took(), b"")

    def test_around_the_answer(self) -> None:
        """Informational responses are no part of what is fetched, trailers are."""
        self.fetch()
        self.harness.servers[0].sends(
            b"HTTP/1.1 102 Processing\r\n\r\n"
            b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n"
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n"
            b"4\r\nbody\r\n0\r\nX-Sum: 7\r\n\r\n"
        )
        response = self.done()["response"]
        self.assertEqual(
            (response["status"], base64.b64decode(response["bodyBase64"])), (200, b"body")
        )
        self.assertEqual(response["trailers"], [["X-Sum", "7"]])
        self.assertEqual({"link", "x-sum"} & set(response["headers"]), set())
        self.assertEqual(self.client.took(), b"")

    def test_overrides(self) -> None:
        """What the test changed is asked instead."""
        self.fetch(overrides={"url": "http://b.test/y", "method": "PUT", "bodyBase64": None})
        self.assertEqual(self.harness.dialer.asked, ["http://b.test"])
        self.assertTrue(self.harness.servers[0].took().startswith(b"PUT /y HTTP/1.1\r\n"))

    def test_redirects(self) -> None:
        """They are followed as clients do, to another server without credentials."""
        self.fetch()
        self.harness.servers[0].sends(
            b"HTTP/1.1 302 x\r\nLocation: http://b.test/z\r\nContent-Length: 0\r\n\r\n"
        )
        sent = self.harness.servers[1].took()
        self.assertTrue(sent.startswith(b"GET /z HTTP/1.1\r\nhost: b.test\r\n"), sent)
        for gone in (b"uthorization", b"ookie", b"Content-Type", b"hi"):
            self.assertNotIn(gone, sent)
        self.harness.servers[1].sends(OK)
        self.assertEqual(self.done()["response"]["url"], "http://b.test/z")

    def test_same_origin(self) -> None:
        """A redirect within the origin keeps the credentials."""
        self.fetch()
        self.harness.servers[0].sends(
            b"HTTP/1.1 307 x\r\nLocation: /z\r\nContent-Length: 0\r\n\r\n"
        )
        sent = self.harness.servers[1].took()
        self.assertIn(b"Authorization: a\r\nCookie: s=1\r\n", sent)

    def test_invalid_location(self) -> None:
        """A redirect to what is no URL is an error that says so, and no reset to try again."""
        self.fetch(maxRetries=2)
        self.harness.servers[0].sends(
            b"HTTP/1.1 302 x\r\nLocation: http://[\r\nContent-Length: 0\r\n\r\n"
        )
        error = self.done()["error"]
        self.assertEqual(error["code"], "ERR_INVALID_URL")
        self.assertIn("'http://['", error["message"])

    def test_most_redirects(self) -> None:
        """0 hands over the redirect itself; more than allowed is an error."""
        again = b"HTTP/1.1 307 x\r\nLocation: /z\r\nContent-Length: 0\r\n\r\n"
        self.fetch(maxRedirects=0)
        self.harness.servers[0].sends(again)
        self.assertEqual(self.done()["response"]["status"], 307)

    def test_too_many_redirects(self) -> None:
        """The error has the text that clients of the protocol know."""
        again = b"HTTP/1.1 307 x\r\nLocation: /z\r\nContent-Length: 0\r\n\r\n"
        self.fetch(maxRedirects=1)
        self.harness.servers[0].sends(again)
        self.harness.servers[1].sends(again)
        self.assertIn("Max redirect count exceeded", self.done()["error"]["message"])

    def test_retries(self) -> None:
        """Resets are tried again, a quarter of a second later and then twice that."""
        self.fetch(maxRetries=2)
        self.harness.servers[0].lose()
        self.harness.core.clock.advance(0.25)
        self.harness.servers[1].lose()
        self.harness.core.clock.advance(0.5)
        self.harness.servers[2].sends(OK)
        self.assertTrue(self.done()["ok"])

    def test_no_reset(self) -> None:
        """An error that is no reset is not tried again, nor told as one."""
        self.harness.dialer.error = ValueError("not to be had")
        self.fetch(maxRetries=2)
        error = self.done()["error"]
        self.assertNotIn("code", error)
        self.assertIn("ValueError: not to be had", error["message"])

    def test_no_cookies(self) -> None:
        """A cookie of an answer goes to the test and nowhere else: not to the next hop either."""
        again = b"HTTP/1.1 307 x\r\nLocation: /z\r\nSet-Cookie: a=b\r\nContent-Length: 0\r\n\r\n"
        self.fetch()
        self.harness.servers[0].sends(again)
        self.assertNotIn(b"a=b", self.harness.servers[1].took())
        self.harness.servers[1].sends(OK.replace(b"\r\n\r\n", b"\r\nSet-Cookie: c=d\r\n\r\n"))
        self.assertEqual(self.done()["response"]["headers"]["set-cookie"], "c=d")

    def test_kept_content(self) -> None:
        """A 307 repeats method and body (Fetch standard, HTTP-redirect fetch)."""
        self.fetch()
        self.harness.servers[0].sends(
            b"HTTP/1.1 307 x\r\nLocation: /z\r\nContent-Length: 0\r\n\r\n"
        )
        sent = self.harness.servers[1].took()
        self.assertTrue(sent.startswith(b"POST /z "), sent)
        self.assertTrue(sent.endswith(b"\r\n\r\nhi"), sent)

    def test_failed(self) -> None:
        """What fails is told to the test; the request still waits for it."""
        self.harness.dialer.error = refused()
        self.fetch()
        done = self.done()
        self.assertEqual((done["ok"], done["error"]["code"]), (False, "ECONNREFUSED"))
        self.assertEqual(self.client.took(), b"")

    def test_slow(self) -> None:
        """A server that does not answer in time is an error."""
        self.fetch()
        self.harness.core.clock.advance(60)
        self.harness.core.clock.advance(60)
        self.assertTrue(self.harness.servers[0].aborted)
        self.assertEqual(self.done()["error"]["code"], "ETIMEDOUT")

    def test_long_answer(self) -> None:
        """An answer that has begun may take its time."""
        self.harness = ForwardProxyHarness(settings=ProxySettings(response_seconds=1.0))
        self.worker = self.harness.worker()
        self.harness.ask(POST)
        self.fetch()
        self.harness.servers[0].sends(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no")
        self.harness.core.clock.pump([0.5] * 4)
        self.harness.servers[0].sends(b"k")
        self.assertTrue(self.done()["ok"])

    def test_client_gone(self) -> None:
        """Nobody needs the answer when the client is gone."""
        self.fetch()
        self.client.lose()
        self.assertTrue(self.harness.servers[0].aborted)
        self.assertFalse(self.done()["ok"])
