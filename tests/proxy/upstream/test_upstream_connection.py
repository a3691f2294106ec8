"""A connection to a server, and the faults of servers."""

from typing import Any

from attrs import define, field
from hypothesis import given
from hypothesis import strategies as st
from twisted.internet.error import ConnectionLost
from twisted.trial.unittest import SynchronousTestCase

from tests.proxy.harness import GET, FakeTransport, ForwardProxyHarness
from trafficmock.proxy.http1.framing import Framing
from trafficmock.proxy.http1.heads import BadMessageError, Pairs, ResponseHead
from trafficmock.proxy.upstream.upstream_connection import (
    MOST_INTERIM,
    STREAM_BYTES,
    UpstreamConnection,
    widen,
)


@define(eq=False)
class RecordingReceiver:
    """Keeps what it is told."""

    events: list[Any] = field(factory=list)

    def interim(self, head: ResponseHead) -> None:
        self.events.append(head.status)

    def response_head(self, head: ResponseHead, body: Framing) -> None:
        self.events.append((head.status, body.kind.name))

    def response_data(self, data: bytes) -> None:
        self.events.append(data)

    def response_end(self, trailers: Pairs) -> None:  # noqa: ARG002 - the protocol's
        self.events.append("end")

    def response_pause(self) -> None:
        self.events.append("pause")

    def upstream_lost(self, reason: BaseException, *, answered: bool) -> None:
        self.events.append((type(reason), answered))

    def server_ready(self) -> None:
        self.events.append("ready")

    def server_busy(self) -> None:
        self.events.append("busy")


@define(eq=False)
class Server:
    """A connection, and the server at its end."""

    receiver: RecordingReceiver = field(factory=RecordingReceiver)
    handshaken: list[UpstreamConnection] = field(factory=list)
    ended: list[BaseException] = field(factory=list)
    transport: FakeTransport = field(factory=FakeTransport)
    connection: UpstreamConnection = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.connection = UpstreamConnection(
            max_header_bytes=1000,
            handshaken=self.handshaken.append,
            ended=lambda _, error: self.ended.append(error),
        )
        self.transport.protocol = self.connection
        self.connection.makeConnection(self.transport)

    def ask(self, *, complete: bool = True, fin_is_end: bool = False) -> None:
        self.connection.begin(
            self.receiver, b"GET", b"GET", complete=complete, fin_is_end=fin_is_end
        )


class AnswerTests(SynchronousTestCase):
    """Answers, piece by piece."""

    def test_pieces(self) -> None:
        """Interim answers, the head, pieces of the body and the end, in order."""
        server = Server()
        server.ask()
        server.transport.sends(b"HTTP/1.1 100 x\r\n\r\nHTTP/1.1 200 OK\r\nContent-")
        server.transport.sends(b"Length: 4\r\n\r\nab")
        server.transport.sends(b"cd")
        expected = [100, "pause", (200, "LENGTH"), b"ab", "pause", b"cd", "end"]
        self.assertEqual(server.receiver.events, expected)
        self.assertTrue(server.connection.reusable)

    def test_not_reusable(self) -> None:
        """A connection is not used again when either side is not done with it."""
        for answer in (
            b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
            b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nextra",
        ):
            server = Server()
            server.ask()
            server.transport.sends(answer)
            self.assertFalse(server.connection.reusable, answer)

    def test_end_is_body(self) -> None:
        """A body without a length ends with the connection, but not with a broken one."""
        for reason, last in ((None, "end"), (ConnectionLost(), (ConnectionLost, True))):
            server = Server()
            server.ask()
            server.transport.sends(b"HTTP/1.1 200 OK\r\n\r\nab")
            server.transport.lose(reason)
            self.assertEqual(server.receiver.events[-1], last)

    def test_end_without_end_of_tls(self) -> None:
        """Below TLS, a FIN may be the end of a body without a length; a reset is not."""
        lost = (ConnectionLost, True)
        for fin_is_end, was_closed, length, last in (
            (True, True, b"", "end"),
            (True, False, b"", lost),
            (False, True, b"", lost),
            (True, True, b"Content-Length: 9\r\n", lost),
        ):
            server = Server()
            server.ask(fin_is_end=fin_is_end)
            server.transport.sends(b"HTTP/1.1 200 OK\r\n%s\r\nab" % length)
            # TLS gives one reason for both.
            server.connection.was_closed = was_closed
            server.transport.lose(ConnectionLost())
            self.assertEqual(server.receiver.events[-1], last)

    def test_malformed(self) -> None:
        """What is not HTTP, is unasked, or has no end is a failure that says so."""
        for message in (
            b"hello\r\n\r\n",
            b"HTTP/1.1 101 x\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nA: " + b"b" * 1000,
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
        ):
            server = Server()
            server.ask()
            server.transport.sends(message)
            self.assertEqual(server.receiver.events[-1][0], BadMessageError, message)
            self.assertTrue(server.transport.aborted)

    def test_unasked(self) -> None:
        """A server that speaks when nothing was asked is cut off."""
        server = Server()
        server.transport.sends(b"HTTP/1.1 408 Timeout\r\n\r\n")
        self.assertTrue(server.transport.aborted)
        self.assertEqual(len(server.ended), 1)

    @given(st.lists(st.binary(max_size=40), max_size=4))
    def test_any_input(self, pieces: list[bytes]) -> None:
        """No server raises anything."""
        server = Server()
        server.ask()
        for piece in [b"HTTP/1.1 200 OK\r\n", *pieces]:
            if server.transport.protocol is not None:
                server.transport.sends(piece)


class RequestTests(SynchronousTestCase):
    """Requests."""

    def test_tls(self) -> None:
        """With TLS it can be used after the handshake."""
        server = Server()
        self.assertEqual(server.handshaken, [])
        server.connection.handshakeCompleted()
        self.assertEqual(server.handshaken, [server.connection])

    def test_body(self) -> None:
        """A body that goes on is produced at the server's pace, until it is complete."""
        server = Server()
        server.ask(complete=False)
        server.transport.producer.pauseProducing()
        server.transport.producer.resumeProducing()
        server.connection.send(b"x", complete=True)
        self.assertEqual(server.receiver.events, ["busy", "ready"])
        self.assertIsNone(server.transport.producer)

    def test_cancel(self) -> None:
        """A request that is given up cuts the connection, and nobody is told."""
        server = Server()
        server.ask(complete=False)
        server.connection.cancel()
        self.assertEqual((server.transport.aborted, server.receiver.events), (True, []))

    def test_wide(self) -> None:
        """The transport below all layers lets more pass at a time."""
        outer, inner = FakeTransport(), FakeTransport()
        outer.transport = inner
        widen(outer)
        self.assertEqual(inner.bufferSize, STREAM_BYTES)


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
        lines = b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n"
        harness.servers[0].sends(b"HTTP/1.1 200 OK\r\n" + lines)
        self.assertIn(b'"error":"upstream_malformed"', client.took())

    def test_chunks_and_length(self) -> None:
        """The length is not forwarded, and the next request goes by another connection."""
        for method in (b"GET", b"HEAD"):
            harness = ForwardProxyHarness()
            client = harness.ask(GET.replace(b"GET", method))
            lines = b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"
            body = b"" if method == b"HEAD" else b"0\r\n\r\n"
            harness.servers[0].sends(b"HTTP/1.1 200 OK\r\n" + lines + body)
            self.assertEqual(b"content-length" in client.took().lower(), method == b"HEAD")
            client.sends(GET)
            self.assertEqual(len(harness.servers), 2)

    def test_bare_line_feeds(self) -> None:
        """An answer may end its lines by LF alone; it is written with CR LF, whatever arrives."""
        for size in (1, 2, 3, 100):
            harness = ForwardProxyHarness()
            client = harness.ask(GET)
            data = b"HTTP/1.1 200 OK\nA : b\n\r\nrest"
            for at in range(0, len(data), size):
                harness.servers[0].sends(data[at : at + size])
            harness.servers[0].lose()
            text = client.took()
            self.assertIn(b"HTTP/1.1 200 OK\r\nA: b\r\n", text)
            self.assertTrue(text.endswith(b"0\r\n\r\n"))
            self.assertNotIn(b"\n", text.replace(b"\r\n", b""))

    def test_interim_answers(self) -> None:
        """Interim answers have an end."""
        harness = ForwardProxyHarness()
        client = harness.ask(GET)
        harness.servers[0].sends(b"HTTP/1.1 103 Early Hints\r\n\r\n" * (MOST_INTERIM + 1))
        taken = client.took()
        self.assertEqual(taken.count(b" 103 "), MOST_INTERIM)
        self.assertIn(b" 502 ", taken)
