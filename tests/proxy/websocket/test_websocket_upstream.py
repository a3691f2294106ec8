"""Connections to servers of WebSockets."""

from __future__ import annotations

from typing import Any

from attrs import define, field
from twisted.trial.unittest import SynchronousTestCase

from tests.proxy.harness import FakeTransport, ForwardProxyHarness
from trafficmock.proxy.http1.heads import BadMessageError, ResponseHead
from trafficmock.proxy.proxy_settings import ProxySettings
from trafficmock.proxy.websocket.websocket_upstream import WebSocketUpstream


@define(eq=False)
class Ears:
    """Keeps what it is told."""

    heard: list[Any] = field(factory=list)

    def server_opened(self, _: WebSocketUpstream) -> None:
        self.heard.append("opened")

    def server_answered(self, _: WebSocketUpstream, head: ResponseHead) -> None:
        self.heard.append(head.status)

    def server_data(self, data: bytes) -> None:
        self.heard.append(data)

    def server_lost(self, error: BaseException | None) -> None:
        self.heard.append(type(error))


def connect(check: Any = None) -> tuple[Ears, FakeTransport]:
    ears, transport = Ears(), FakeTransport()
    rig = ForwardProxyHarness(settings=ProxySettings(max_header_bytes=100))
    transport.protocol = WebSocketUpstream(ears, rig.context, check)
    transport.protocol.makeConnection(transport)
    return ears, transport


class ServerTests(SynchronousTestCase):
    """The handshake, then bytes."""

    def test_answer(self) -> None:
        """The head is read, all behind it is passed on."""
        ears, server = connect()
        server.says(b"HTTP/1.1 101 x\r\n")
        server.says(b"A: b\r\n\r\nab")
        server.says(b"cd")
        self.assertEqual(ears.heard, [101, b"ab", b"cd"])

    def test_bad_answer(self) -> None:
        """What is no head, or has no end, is the error that it ends with."""
        for said in (b"nonsense\r\n\r\n", b"x" * 200):
            ears, server = connect()
            server.says(said)
            self.assertEqual(ears.heard, [BadMessageError])

    def test_tls(self) -> None:
        """With TLS it begins after the handshake, if the certificate is right."""
        ears, server = connect(lambda _: None)
        self.assertEqual(ears.heard, [])
        server.protocol.handshakeCompleted()
        self.assertEqual(ears.heard, ["opened"])

        def wrong(_: Any) -> None:
            raise ZeroDivisionError

        ears, server = connect(wrong)
        server.protocol.handshakeCompleted()
        self.assertEqual((ears.heard, server.aborted), ([ZeroDivisionError], True))
