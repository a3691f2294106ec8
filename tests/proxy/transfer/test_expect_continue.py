"""``Expect: 100-continue`` through the forward proxy: every decision, by every kind of server."""

from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tests.proxy.harness import ForwardProxyHarness, fulfilled

ASKING = (
    b"PUT http://api.test/x HTTP/1.1\r\nHost: api.test\r\nExpect: 100-continue\r\n"
    b"Content-Length: 10\r\n\r\n"
)
BODY = b"0123456789"
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
EARLY = {
    status: b"HTTP/1.1 %d No\r\nContent-Length: 0\r\n\r\n" % status for status in (417, 413, 307)
}
MADE = b"HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok"
SENT_ON: dict[str, dict[str, Any]] = {
    "continue": {},
    "with headers": {"overrides": {"headers": {"expect": "100-continue", "x-new": "1"}}},
    "with a body": {"overrides": {"bodyBase64": "YW5vdGhlcg=="}},
}


class UnaskedTests(SynchronousTestCase):
    """What no test wants is between client and server."""

    def test_continue(self) -> None:
        """The server's 100 reaches the client, and its body goes after that."""
        harness = ForwardProxyHarness()
        client = harness.ask(ASKING)
        (server,) = harness.servers
        self.assertIn(b"expect: 100-continue", server.took().lower())
        self.assertEqual(client.took(), b"")
        server.sends(CONTINUE)
        self.assertEqual(client.took(), CONTINUE)
        client.sends(BODY)
        self.assertEqual(server.took(), BODY)
        server.sends(MADE)
        self.assertTrue(client.took().startswith(b"HTTP/1.1 201 Created\r\n"))

    def test_early_answers(self) -> None:
        """An answer before the body arrives, without a 100."""
        for status, answer in EARLY.items():
            harness = ForwardProxyHarness()
            client = harness.ask(ASKING)
            harness.servers[0].sends(answer)
            self.assertTrue(client.took().startswith(b"HTTP/1.1 %d " % status))

    def test_not_waited(self) -> None:
        """A client that waits for nothing, so that the whole body is there, is asked for it too."""
        for status, answer in EARLY.items():
            harness = ForwardProxyHarness()
            client = harness.ask(ASKING + BODY)
            (server,) = harness.servers
            head, _, body = server.took().partition(b"\r\n\r\n")
            self.assertIn(b"expect: 100-continue", head.lower())
            self.assertEqual(body, BODY)
            server.sends(answer)
            self.assertTrue(client.took().startswith(b"HTTP/1.1 %d " % status))


class DecidedTests(SynchronousTestCase):
    """A test needs the body, so the proxy says 100, and nobody says it again."""

    def decided(self, action: str, **fields: Any) -> tuple[ForwardProxyHarness, Any]:
        harness = ForwardProxyHarness()
        worker = harness.worker()
        client = harness.ask(ASKING)
        self.assertEqual(client.took(), CONTINUE)
        client.sends(BODY)
        harness.decide(worker, action, **fields)
        return harness, client

    def test_sent_on(self) -> None:
        """The server gets the body without being asked, so its answer is the next that comes."""
        for name, fields in SENT_ON.items():
            for answer in (MADE, *EARLY.values()):
                harness, client = self.decided("continue", **fields)
                (server,) = harness.servers
                head, _, body = server.took().partition(b"\r\n\r\n")
                self.assertNotIn(b"expect", head.lower(), name)
                self.assertEqual(body, b"another" if name == "with a body" else BODY)
                server.sends(answer)
                self.assertEqual(client.took()[:13], answer[:13])

    def test_unwanted(self) -> None:
        """A 100 of a server that was not asked does not reach the client, other 1xx do."""
        harness, client = self.decided("continue")
        (server,) = harness.servers
        server.sends(CONTINUE)
        self.assertEqual(client.took(), b"")
        server.sends(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
        self.assertTrue(client.took().startswith(b"HTTP/1.1 103 "))
        server.sends(MADE)
        self.assertTrue(client.took().startswith(b"HTTP/1.1 201 "))

    def test_mocked(self) -> None:
        """A mock comes after the one 100; no server hears of the request."""
        harness, client = self.decided("fulfill", response=fulfilled("mock", 417))
        self.assertTrue(client.took().startswith(b"HTTP/1.1 417 "))
        self.assertEqual(harness.servers, [])

    def test_aborted(self) -> None:
        """A reset is a reset."""
        harness, client = self.decided("abort", errorCode="connectionreset")
        self.assertEqual((client.took(), harness.servers), (b"", []))
