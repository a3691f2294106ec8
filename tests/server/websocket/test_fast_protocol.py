"""The short way for whole messages keeps all promises of the long one."""

from twisted.internet.testing import StringTransport

from tests.server.websocket import test_autobahn_protocol as stock
from tests.server.websocket.harness import PING, TEXT, ConnectionHarness, frame
from trafficmock.server.websocket.data_frames import text_frame
from trafficmock.server.websocket.fast_protocol import FastProtocol


class TunedConnectionTests(stock.ConnectionTests):
    """All that a link promises, over the tuned path, and what only that does."""

    protocol_class = FastProtocol

    def test_written_at_once(self) -> None:
        """An answer is with the kernel before the reactor goes on."""
        harness = self.open(lambda link, payload: link.send(text_frame(payload)))
        harness.receive(frame(b"a") + frame(b"b"))
        self.assertEqual(harness.socket.writes, [b"\x81\x01a\x81\x01b"])
        self.assertNotIn(harness.transport, harness.reactor.getWriters())

    def test_autobahn_left_out(self) -> None:
        """Whole messages do not pass through Autobahn."""
        harness = self.open()
        self.patch(harness.protocol, "_dataReceived", self.fail)
        data = frame(bytes(100_000)) + frame(b"x")
        harness.receive(data[:10])
        harness.receive(data[10:])
        self.assertEqual(harness.handler.messages, [bytes(100_000), b"x"])

    def test_back_from_autobahn(self) -> None:
        """A header that Autobahn would wait for is ours again."""
        harness = self.open()
        harness.receive(frame(b"", opcode=PING) + frame(b"next")[:1])
        self.patch(harness.protocol, "_dataReceived", self.fail)
        harness.receive(frame(b"next")[1:])
        self.assertEqual(harness.handler.messages, [b"next"])

    def test_large_reads(self) -> None:
        """Within a large message more is read at a time."""
        harness = self.open()
        usual = harness.transport.bufferSize
        data = frame(bytes(1_000_000))
        harness.receive(data[:60_000])
        self.assertGreater(harness.transport.bufferSize, usual)
        harness.receive(data[60_000:])
        self.assertEqual(harness.transport.bufferSize, usual)

    def test_broken_socket(self) -> None:
        """A socket that cannot be written to is left to the transport to find out."""
        harness = self.open(lambda link, payload: link.send(text_frame(payload)))
        harness.socket.broken = True
        harness.receive(frame(b"a"))
        harness.turn()
        self.assertEqual((harness.handler.events, harness.timers()), (["opened", "closed"], 0))

    def test_other_transports(self) -> None:
        """A transport that is not a plain connection, as under TLS, is not written past."""
        harness = ConnectionHarness(FastProtocol)
        for transport in (StringTransport(), harness.transport):
            harness.protocol.transport = transport
            harness.transport.TLS = True
            self.assertIsNone(harness.protocol._direct_write())

    def test_bytes_of_others_first(self) -> None:
        """What an earlier answer left in the transport goes out before ours."""
        harness = ConnectionHarness(FastProtocol)
        harness.transport.write(b"earlier")
        answer = harness.open()
        self.assertTrue(answer.startswith(b"earlierHTTP/1.1 101"))
        harness.link.send(text_frame(b"x"))
        self.assertEqual(harness.frames(), [(TEXT, b"x")])
