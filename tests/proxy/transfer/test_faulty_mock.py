"""A mock that breaks, at a client of the forward proxy."""

from typing import get_args

from twisted.trial.unittest import SynchronousTestCase

from tests.proxy.harness import FakeTransport, ForwardProxyHarness
from trafficmock.proxy.http1.heads import parse_request
from trafficmock.proxy.transfer.faulty_mock import bytes_before
from trafficmock.proxy.upstream.tied_upstream import RESET_SECONDS
from trafficmock.wire import outbound
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.answer import BodyWay, FaultKind
from trafficmock.wire.payloads.serialized_response import SerializedResponse

GET = b"GET http://api.test/x HTTP/1.1\r\nHost: api.test\r\n\r\n"
CONTENT = b"first and second"
ANSWER = SerializedResponse(200, "OK", {"x": "1"}, body.from_bytes(CONTENT))
HEAD = b"HTTP/1.1 200 OK\r\nx: 1\r\ncontent-length: 16\r\n\r\n"
CHUNKED = b"HTTP/1.1 200 OK\r\nx: 1\r\ntransfer-encoding: chunked\r\n\r\n"


class FaultyMockTests(SynchronousTestCase):
    """What the client gets, and how its connection ends."""

    def answered(self, way: BodyWay) -> FakeTransport:
        """Let a client ask; answer it by a mock that breaks."""
        self.harness = ForwardProxyHarness()
        worker = self.harness.worker()
        transport = self.harness.ask(GET)
        (matched,) = [each for each in worker.sent if each["type"] == "request:matched"]
        clients = self.harness.proxy.resources.proxy_clients
        assert clients is not None
        decision = outbound.DecisionFulfill(matched["requestId"], ANSWER, way=way)
        clients.enter("proxy").deliver(decision)
        return transport

    def test_truncated(self) -> None:
        """The connection is closed within the body of the length that was told."""
        transport = self.answered(BodyWay("truncated", 5))
        self.assertEqual(transport.took(), HEAD + b"first")
        self.assertEqual((transport.disconnecting, transport.aborted), (True, False))

    def test_reset(self) -> None:
        """The reset comes when the first bytes are sent."""
        transport = self.answered(BodyWay("connection_reset", 5))
        self.assertEqual((transport.took(), transport.aborted), (HEAD + b"first", False))
        self.harness.core.clock.advance(RESET_SECONDS)
        self.assertTrue(transport.aborted)

    def test_malformed_chunk(self) -> None:
        """After a part of the body comes what is no chunk."""
        transport = self.answered(BodyWay("malformed_chunk", 5))
        self.assertEqual(transport.took(), CHUNKED + b"5\r\nfirst\r\nno size of a chunk\r\n")
        self.assertTrue(transport.disconnecting)
        transport = self.answered(BodyWay("malformed_chunk", 0))
        self.assertEqual(transport.took(), CHUNKED + b"no size of a chunk\r\n")

    def test_empty_response(self) -> None:
        """The connection is closed without a byte."""
        transport = self.answered(BodyWay("empty_response", 0))
        self.assertEqual((transport.took(), transport.disconnecting), (b"", True))

    def test_stall(self) -> None:
        """The connection stays open, until the client closes it."""
        transport = self.answered(BodyWay("stall", 5))
        self.assertEqual(transport.took(), HEAD + b"first")
        self.harness.core.clock.advance(60)
        self.assertEqual((transport.disconnecting, transport.aborted), (False, False))
        transport.lose()

    def test_service_stops(self) -> None:
        """Nothing is written behind a part of an answer when the service stops."""
        transport = self.answered(BodyWay("stall", 5))
        self.harness.proxy.stop()
        self.assertEqual(transport.took(), HEAD + b"first")
        transport.lose()

    def test_no_body(self) -> None:
        """A response to HEAD has no body to break in."""
        for kind in get_args(FaultKind):
            written = bytes_before(BodyWay(kind, 5), ANSWER, parse_request(b"HEAD" + GET[3:-4]))
            self.assertNotIn(b"first", written if kind != "malformed_chunk" else b"", kind)
