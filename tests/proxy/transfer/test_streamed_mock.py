"""A mock whose body comes in pieces, at a client of the forward proxy."""

from typing import Any

from msgspec import structs
from twisted.trial.unittest import SynchronousTestCase

from tests.proxy.harness import FakeTransport, ForwardProxyHarness
from trafficmock.proxy.proxy_clients import ProxyClient
from trafficmock.wire import outbound
from trafficmock.wire.inbound import StreamAbort, StreamAck, StreamClosed, StreamData, StreamEnd
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.serialized_response import SerializedResponse

GET = b"GET http://api.test/x HTTP/1.%d\r\nHost: api.test\r\n\r\n"
HEAD = SerializedResponse(200, "OK", {"content-type": "text/plain"}, body.NULL)


class StreamedMockTests(SynchronousTestCase):
    """The coordinator's messages are delivered to the request; its own messages are kept."""

    def setUp(self) -> None:
        self.harness = ForwardProxyHarness()
        self.told: list[Any] = []

    def begin(self, minor: int = 1, **fields: Any) -> FakeTransport:
        """Let a client ask, and begin the answer."""
        worker = self.harness.worker()
        transport = self.harness.ask(GET % minor)
        (matched,) = [each for each in worker.sent if each["type"] == "request:matched"]
        self.request_id = matched["requestId"]
        clients = self.harness.proxy.resources.proxy_clients
        assert clients is not None
        self.client: ProxyClient = clients.enter("proxy")
        self.patch(ProxyClient, "send", lambda _, message: self.told.append(message))
        self.client.deliver(
            outbound.DecisionFulfill(self.request_id, structs.replace(HEAD, **fields), stream=True)
        )
        return transport

    def piece(self, seq: int, content: bytes = b"data") -> None:
        self.client.deliver(StreamData(self.request_id, seq, content))

    def test_chunks(self) -> None:
        """Each piece is a chunk; the connection serves the next request."""
        transport = self.begin()
        head = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ntransfer-encoding: chunked\r\n\r\n"
        self.assertEqual(transport.took(), head)
        self.piece(1)
        self.assertEqual(transport.took(), b"4\r\ndata\r\n")
        self.client.deliver(StreamEnd(self.request_id, 2))
        self.assertEqual(transport.took(), b"0\r\n\r\n")
        self.assertEqual(self.told, [StreamAck(self.request_id, 1), StreamAck(self.request_id, 2)])
        self.assertEqual((transport.producer, transport.disconnecting), (None, False))

    def test_trailers(self) -> None:
        """Trailers of the head follow the last chunk."""
        transport = self.begin(trailers=[("X-Sum", "7")])
        self.assertIn(b"\r\ntrailer: X-Sum\r\n", transport.took())
        self.client.deliver(StreamEnd(self.request_id, 1))
        self.assertEqual(transport.took(), b"0\r\nX-Sum: 7\r\n\r\n")

    def test_http_1_0(self) -> None:
        """HTTP/1.0 has no chunks: the body ends with the connection."""
        transport = self.begin(0)
        self.assertIn(b"connection: close\r\n", transport.took())
        self.piece(1)
        self.assertEqual(transport.took(), b"data")
        self.client.deliver(StreamEnd(self.request_id, 2))
        self.assertEqual((transport.took(), transport.disconnecting), (b"", True))

    def test_slow_client(self) -> None:
        """A piece that a full connection has taken is acknowledged when it takes more."""
        transport = self.begin()
        transport.producer.pauseProducing()
        self.piece(1)
        self.piece(2)
        self.assertEqual(self.told, [])
        transport.producer.resumeProducing()
        self.assertEqual(self.told, [StreamAck(self.request_id, 2)])

    def test_abort(self) -> None:
        """A reset aborts the connection."""
        transport = self.begin()
        transport.took()
        self.client.deliver(StreamAbort(self.request_id, 1, "connectionreset"))
        self.assertEqual((transport.took(), transport.aborted), (b"", True))

    def test_broken_off(self) -> None:
        """Codes that are no reset close the connection within the body."""
        transport = self.begin()
        transport.took()
        self.client.deliver(StreamAbort(self.request_id, 1, "failed"))
        self.assertEqual((transport.took(), transport.aborted), (b"", False))
        self.assertTrue(transport.disconnecting)

    def test_client_gone(self) -> None:
        """The coordinator is told once, and later pieces are dropped."""
        transport = self.begin()
        transport.lose()
        self.piece(1)
        self.assertEqual(self.told, [StreamClosed(self.request_id)])
