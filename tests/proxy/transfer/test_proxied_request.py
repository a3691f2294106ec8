"""A request through the forward proxy, by what was decided about it."""

from twisted.trial.unittest import SynchronousTestCase

from tests.proxy.harness import GET, ForwardProxyHarness, fulfilled, refused
from trafficmock.proxy.proxy_settings import ProxySettings

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
POST = b"POST http://api.test/x HTTP/1.1\r\nHost: api.test\r\nContent-Length: 10\r\n\r\n"


class PassthroughTests(SynchronousTestCase):
    """What no test wants goes to the server."""

    def test_there_and_back(self) -> None:
        """The request goes on in origin-form with ``via``, the answer comes back with it."""
        harness = ForwardProxyHarness()
        client = harness.ask(GET)
        self.assertEqual(
            harness.servers[0].took(),
            b"GET /x HTTP/1.1\r\nhost: api.test\r\nvia: 1.1 trafficmock\r\n\r\n",
        )
        harness.servers[0].sends(ANSWER)
        self.assertEqual(
            client.took(),
            b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nvia: 1.1 trafficmock\r\n\r\nhello",
        )
        entry = harness.entry()
        self.assertEqual((entry["action"], entry["clientId"]), ("passthrough", "proxy"))
        self.assertEqual(entry["outcome"]["response"]["bodyBase64"], "aGVsbG8=")
        self.assertEqual(
            [kind for kind, _ in harness.events()], ["observed", "passthrough", "response"]
        )

    def test_next_request(self) -> None:
        """Both connections serve the next request too."""
        harness = ForwardProxyHarness()
        client = harness.ask(GET)
        harness.servers[0].sends(ANSWER)
        client.sends(GET)
        harness.servers[0].sends(ANSWER)
        self.assertEqual((client.took().count(b"hello"), len(harness.servers)), (2, 1))

    def test_client_gone(self) -> None:
        """A client that leaves takes its request to the server along, and the history says so."""
        harness = ForwardProxyHarness()
        client = harness.ask(GET)
        client.lose()
        self.assertTrue(harness.servers[0].aborted)
        self.assertEqual(harness.entry()["outcome"], {"kind": "aborted", "errorCode": "aborted"})
        self.assertEqual(harness.events()[-1], ("abort", "client closed"))

    def test_streamed_upload(self) -> None:
        """A body goes on as it arrives, and its copy comes into the history."""
        harness = ForwardProxyHarness()
        client = harness.ask(POST)
        client.sends(b"01234")
        self.assertTrue(harness.servers[0].took().endswith(b"content-length: 10\r\n\r\n01234"))
        client.sends(b"56789")
        self.assertEqual(harness.servers[0].took(), b"56789")
        harness.servers[0].sends(ANSWER)
        self.assertEqual(harness.entry()["request"]["bodyBase64"], "MDEyMzQ1Njc4OQ==")


class OwnedTests(SynchronousTestCase):
    """What a test owns is decided by it."""

    def test_fulfill(self) -> None:
        """A mock is the answer, and no server hears of the request."""
        harness = ForwardProxyHarness()
        worker = harness.worker()
        client = harness.ask(GET)
        harness.decide(worker, "fulfill", response=fulfilled("mock", 201, **{"x-a": "1"}))
        self.assertEqual(
            client.took(), b"HTTP/1.1 201 OK\r\nx-a: 1\r\ncontent-length: 4\r\n\r\nmock"
        )
        self.assertEqual((harness.servers, harness.entry()["outcome"]["kind"]), ([], "mocked"))

    def test_whole_body(self) -> None:
        """The test gets the whole body though it arrives in pieces; 100 is sent for it."""
        harness = ForwardProxyHarness()
        worker = harness.worker()
        client = harness.ask(POST.replace(b"\r\n\r\n", b"\r\nExpect: 100-continue\r\n\r\n"))
        self.assertEqual(client.took(), b"HTTP/1.1 100 Continue\r\n\r\n")
        client.sends(b"01234")
        client.sends(b"56789")
        (matched,) = [m for m in worker.sent if m["type"] == "request:matched"]
        self.assertEqual(matched["request"]["bodyBase64"], "MDEyMzQ1Njc4OQ==")

    def test_unfinished_body(self) -> None:
        """An awaited body that does not come whole is a 502 that says how much came."""
        harness = ForwardProxyHarness()
        harness.worker()
        client = harness.ask(POST)
        client.sends(b"01234")
        harness.core.clock.advance(19.9)
        self.assertEqual(client.took(), b"")
        harness.core.clock.advance(0.2)
        answer = client.took()
        self.assertTrue(answer.startswith(b"HTTP/1.1 502 Bad Gateway\r\n"), answer)
        for words in (b"POST http://api.test/x", b"10 bytes are announced", b"5 bytes of its body"):
            self.assertIn(words, answer)

    def test_continue(self) -> None:
        """Overrides change what the server gets; what was expected is not asked twice."""
        harness = ForwardProxyHarness()
        worker = harness.worker()
        harness.ask(GET)
        harness.decide(
            worker,
            "continue",
            overrides={
                "url": "http://other.test/y",
                "method": "POST",
                "headers": {"x-b": "2"},
                "bodyBase64": "aGk=",
            },
        )
        self.assertEqual(harness.dialer.asked, ["http://other.test"])
        self.assertEqual(
            harness.servers[0].took(),
            b"POST /y HTTP/1.1\r\nhost: other.test\r\nx-b: 2\r\nvia: 1.1 trafficmock\r\n"
            b"content-length: 2\r\n\r\nhi",
        )

    def test_status_text(self) -> None:
        """A mock without a status text has the one of its status on the wire."""
        harness = ForwardProxyHarness()
        worker = harness.worker()
        client = harness.ask(GET)
        mock = {"status": 404, "statusText": "", "headers": {}, "bodyBase64": None}
        harness.decide(worker, "fulfill", response=mock)
        self.assertTrue(client.took().startswith(b"HTTP/1.1 404 Not Found\r\n"))
        self.assertEqual(harness.entry()["outcome"]["response"]["statusText"], "Not Found")

    def test_empty_status_text_of_a_server(self) -> None:
        """The status line of a server stays as it is."""
        harness = ForwardProxyHarness()
        client = harness.ask(GET)
        harness.servers[0].sends(b"HTTP/1.1 404 \r\ncontent-length: 0\r\n\r\n")
        self.assertTrue(client.took().startswith(b"HTTP/1.1 404 \r\n"))
        self.assertEqual(harness.entry()["outcome"]["response"]["statusText"], "")

    def test_abort(self) -> None:
        """Most codes are a 502 that names them; a reset is a reset."""
        for code, reset in (("failed", False), ("connectionreset", True), ("aborted", True)):
            harness = ForwardProxyHarness()
            worker = harness.worker()
            client = harness.ask(GET)
            harness.decide(worker, "abort", errorCode=code)
            self.assertEqual(client.aborted, reset, code)
            if not reset:
                self.assertIn(b'"error":"failed"', client.took())

    def test_timed_out(self) -> None:
        """A request that a test lets time out hangs for so long, and is then reset."""
        harness = ForwardProxyHarness(ProxySettings(abort_hold_seconds=30.0))
        worker = harness.worker()
        client = harness.ask(GET)
        harness.decide(worker, "abort", errorCode="timedout")
        harness.core.clock.advance(29)
        self.assertFalse(client.aborted)
        harness.core.clock.advance(1)
        self.assertTrue(client.aborted)

    def test_worker_lost(self) -> None:
        """A decision that can no longer come is a 502 with the protocol's code."""
        harness = ForwardProxyHarness()
        worker = harness.worker()
        client = harness.ask(GET)
        harness.core.driver.link_closed(worker)
        self.assertIn(b'"error":"disconnected"', client.took())

    def test_gone_while_decided(self) -> None:
        """A client that leaves before the decision is aborted in the history."""
        harness = ForwardProxyHarness()
        harness.worker()
        harness.ask(GET).lose()
        self.assertEqual(harness.entry()["outcome"], {"kind": "aborted", "errorCode": "aborted"})
        self.assertEqual(harness.events()[-1], ("abort", "client closed"))


class UpstreamFailureTests(SynchronousTestCase):
    """A server that fails is answered for."""

    def test_refused(self) -> None:
        """502 says who failed and why, also in ``via``; the connection lasts."""
        harness = ForwardProxyHarness()
        harness.dialer.error = refused()
        client = harness.ask(GET)
        answer = client.took()
        self.assertTrue(answer.startswith(b"HTTP/1.1 502 Bad Gateway\r\n"), answer)
        self.assertIn(b"via: 1.1 trafficmock (upstream_unreachable)\r\n", answer)
        self.assertIn(b"http://api.test: it refused the connection.", answer)
        self.assertEqual(harness.events()[-1][0], "upstream_error")
        self.assertFalse(client.disconnecting)

    def test_head_only(self) -> None:
        """The answer to HEAD has no body."""
        harness = ForwardProxyHarness()
        harness.dialer.error = refused()
        client = harness.ask(GET.replace(b"GET", b"HEAD", 1))
        self.assertTrue(client.took().endswith(b"\r\n\r\n"))

    def test_unsendable(self) -> None:
        """Invalid overrides end as 502 ``bad_override`` and in the history."""
        harness = ForwardProxyHarness()
        worker = harness.worker()
        client = harness.ask(GET)
        harness.decide(worker, "continue", overrides={"headers": {"bad name": "x"}})
        self.assertIn(b'"error":"bad_override"', client.took())
        self.assertEqual(harness.events()[-1][0], "upstream_error")

    def test_crashed(self) -> None:
        """A request that we cannot serve is cut rather than left hanging."""
        harness = ForwardProxyHarness()
        harness.worker()
        client = harness.ask(GET)
        (request,) = client.protocol._proxy_client.receivers.values()
        request.crashed()
        self.assertTrue(client.aborted)
        self.assertEqual(harness.events()[-1], ("abort", "internal error"))
