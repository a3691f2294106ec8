"""The short way for whole messages keeps all promises of the long one."""

from twisted.internet.testing import StringTransport

from tests.server.websocket import test_autobahn_protocol as stock
from tests.server.websocket.harness import PING, TEXT, ConnectionHarness, frame
from trafficmock.server.websocket.fast_protocol import FastProtocol


class TunedConnectionTests(stock.ConnectionTests):
    """All that a link promises, over the tuned path, and what only that does."""

    protocol_class = FastProtocol

    def test_written_at_once(self) -> None:
        """An answer is with the kernel before the reactor goes on."""
        rig = self.open(lambda link, payload: link.send(payload))
        rig.receive(frame(b"a") + frame(b"b"))
        self.assertEqual(rig.socket.writes, [b"\x81\x01a\x81\x01b"])
        self.assertNotIn(rig.transport, rig.reactor.getWriters())

    def test_autobahn_left_out(self) -> None:
        """Whole messages do not pass through Autobahn."""
        rig = self.open()
        self.patch(rig.protocol, "_dataReceived", self.fail)
        data = frame(bytes(100_000)) + frame(b"x")
        rig.receive(data[:10])
        rig.receive(data[10:])
        self.assertEqual(rig.handler.messages, [bytes(100_000), b"x"])

    def test_back_from_autobahn(self) -> None:
        """A header that Autobahn would wait for is ours again."""
        rig = self.open()
        rig.receive(frame(b"", opcode=PING) + frame(b"next")[:1])
        self.patch(rig.protocol, "_dataReceived", self.fail)
        rig.receive(frame(b"next")[1:])
        self.assertEqual(rig.handler.messages, [b"next"])

    def test_large_reads(self) -> None:
        """Within a large message more is read at a time."""
        rig = self.open()
        usual = rig.transport.bufferSize
        data = frame(bytes(1_000_000))
        rig.receive(data[:60_000])
        self.assertGreater(rig.transport.bufferSize, usual)
        rig.receive(data[60_000:])
        self.assertEqual(rig.transport.bufferSize, usual)

    def test_broken_socket(self) -> None:
        """A socket that cannot be written to is left to the transport to find out."""
        rig = self.open(lambda link, payload: link.send(payload))
        rig.socket.broken = True
        rig.receive(frame(b"a"))
        rig.turn()
        self.assertEqual((rig.handler.events, rig.timers()), (["opened", "closed"], 0))

    def test_other_transports(self) -> None:
        """A transport that is not a plain connection, as under TLS, is not written past."""
        rig = ConnectionHarness(FastProtocol)
        for transport in (StringTransport(), rig.transport):
            rig.protocol.transport = transport
            rig.transport.TLS = True
            self.assertIsNone(rig.protocol._direct_write())

    def test_bytes_of_others_first(self) -> None:
        """What an earlier answer left in the transport goes out before ours."""
        rig = ConnectionHarness(FastProtocol)
        rig.transport.write(b"earlier")
        answer = rig.open()
        self.assertTrue(answer.startswith(b"earlierHTTP/1.1 101"))
        rig.link.send(b"x")
        self.assertEqual(rig.frames(), [(TEXT, b"x")])
