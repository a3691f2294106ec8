"""Faults of servers, and their effect on the next request."""

from twisted.trial.unittest import SynchronousTestCase

from tests.proxy.harness import GET, ForwardProxyHarness
from trafficmock.proxy.upstream.upstream_connection import MOST_INTERIM

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"


class FaultTests(SynchronousTestCase):
    """A server that does not keep to HTTP is a 502, once."""

    def test_paused_at_the_end(self) -> None:
        """A connection whose last answer ended during a pause is read again for the next one."""
        harness = ForwardProxyHarness()
        client = harness.ask(GET)
        (server,) = harness.servers
        server.sends(ANSWER[:-2])
        client.producer.pauseProducing()
        self.assertTrue(server.paused)
        server.sends(ANSWER[-2:])
        self.assertFalse(server.paused)

    def test_malformed_is_not_asked_again(self) -> None:
        """Who answered, however badly, has seen the request: it is not sent a second time."""
        harness = ForwardProxyHarness()
        client = harness.ask(GET)
        harness.servers[0].sends(ANSWER)
        client.sends(GET)
        harness.servers[0].sends(b"junk\r\n\r\n")
        self.assertIn(b" 502 ", client.took())
        self.assertEqual(len(harness.servers), 1)

    def test_silence_is_asked_again(self) -> None:
        """Who closes a kept connection without a word may not have seen the request."""
        harness = ForwardProxyHarness()
        client = harness.ask(GET)
        harness.servers[0].sends(ANSWER)
        client.sends(GET)
        harness.servers[0].lose()
        harness.servers[1].sends(ANSWER)
        self.assertEqual(client.took().count(b"hello"), 2)

    def test_framing(self) -> None:
        """An answer whose length can be read in two ways is told as a 502, not as a reset."""
        harness = ForwardProxyHarness()
        client = harness.ask(GET)
        lines = b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
        harness.servers[0].sends(b"HTTP/1.1 200 OK\r\n" + lines)
        self.assertIn(b'"error":"upstream_malformed"', client.took())

    def test_interim_answers(self) -> None:
        """Interim answers have an end."""
        harness = ForwardProxyHarness()
        client = harness.ask(GET)
        harness.servers[0].sends(b"HTTP/1.1 103 Early Hints\r\n\r\n" * (MOST_INTERIM + 1))
        taken = client.took()
        self.assertEqual(taken.count(b" 103 "), MOST_INTERIM)
        self.assertIn(b" 502 ", taken)
