"""Connections to servers of WebSockets."""

from typing import Any

from attrs import define, field
from twisted.trial.unittest import SynchronousTestCase

from tests.proxy.harness import FakeTransport, ForwardProxyHarness
from trafficmock.proxy.http1.heads import BadMessageError, ResponseHead
from trafficmock.proxy.proxy_settings import ProxySettings
from trafficmock.proxy.websocket.websocket_upstream import WebSocketUpstream


@define(eq=False)
class RecordingReceiver:
    """Keeps what it is told."""

    events: list[Any] = field(factory=list)

    def server_opened(self, _: WebSocketUpstream) -> None:
        self.events.append("opened")

    def server_answered(self, _: WebSocketUpstream, head: ResponseHead) -> None:
        self.events.append(head.status)

    def server_data(self, data: bytes) -> None:
        self.events.append(data)

    def server_lost(self, error: BaseException | None) -> None:
        self.events.append(type(error))


def connect(check: Any = None) -> tuple[RecordingReceiver, FakeTransport]:
    receiver, transport = RecordingReceiver(), FakeTransport()
    harness = ForwardProxyHarness(settings=ProxySettings(max_header_bytes=100))
    transport.protocol = WebSocketUpstream(receiver, harness.resources, check)
    transport.protocol.makeConnection(transport)
    return receiver, transport


class ServerTests(SynchronousTestCase):
    """The handshake, then bytes."""

    def test_answer(self) -> None:
        """The head is read, all behind it is passed on."""
        receiver, server = connect()
        server.sends(b"HTTP/1.1 101 x\r\n")
        server.sends(b"A: b\r\n\r\nab")
        server.sends(b"cd")
        self.assertEqual(receiver.events, [101, b"ab", b"cd"])

    def test_bad_answer(self) -> None:
        """What is no head, or has no end, is the error that it ends with."""
        for message in (b"nonsense\r\n\r\n", b"x" * 200):
            receiver, server = connect()
            server.sends(message)
            self.assertEqual(receiver.events, [BadMessageError])

    def test_tls(self) -> None:
        """With TLS it begins after the handshake, if the certificate is right."""
        receiver, server = connect(lambda _: None)
        self.assertEqual(receiver.events, [])
        server.protocol.handshakeCompleted()
        self.assertEqual(receiver.events, ["opened"])

        def wrong(_: Any) -> None:
            raise ZeroDivisionError

        receiver, server = connect(wrong)
        server.protocol.handshakeCompleted()
        self.assertEqual((receiver.events, server.aborted), ([ZeroDivisionError], True))
