"""Who is to speak on a new connection."""

from __future__ import annotations

from typing import Any

from attrs import define, field
from hypothesis import given
from hypothesis import strategies as st
from twisted.internet.protocol import Protocol
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tests.proxy.harness import FakeTransport
from trafficmock.proxy.downstream.protocol_sniffing import ProtocolSniffer, hand_over


class Chosen(Protocol):
    """Keeps what it reads."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.read = b""

    def dataReceived(self, data: bytes) -> None:
        self.read += data


@define(eq=False)
class Look:
    """A first look, and its connection."""

    ended: list[str] = field(factory=list)
    clock: Clock = field(factory=Clock)
    transport: FakeTransport = field(factory=FakeTransport)

    def __attrs_post_init__(self) -> None:
        look = ProtocolSniffer(
            proxy=lambda: Chosen("proxy"),
            service=lambda *, once: Chosen(f"service, once: {once}"),
            ended=lambda: self.ended.append("ended"),
            clock=self.clock,
            seconds=60,
        )
        self.transport.protocol = look
        look.makeConnection(self.transport)

    def after(self, data: bytes) -> tuple[str, bytes] | None:
        """Say something; give who was chosen, and what was read by it."""
        self.transport.sends(data)
        chosen = self.transport.protocol
        return (chosen.name, chosen.read) if isinstance(chosen, Chosen) else None


class ChoiceTests(SynchronousTestCase):
    """The first request decides."""

    def test_others(self) -> None:
        """What begins with a path, or is no request, goes on at once."""
        for data in (b"GET /", b"OPTIONS *", b"\r\nGET /x", b"\x16\x03", b"GET?", b"x" * 70):
            self.assertEqual(Look().after(data), ("service, once: False", data), data)

    def test_proxied(self) -> None:
        """Absolute-form and CONNECT are the forward proxy's, with the first byte of the target."""
        for data in (b"GET h", b"CONNECT ", b"\r\nPOST H", b"GET x"):
            look = Look()
            self.assertIsNone(look.after(data[:-1]))
            self.assertEqual(look.after(data[-1:]), ("proxy", data))

    def test_endless(self) -> None:
        """Empty lines without an end are no request."""
        look = Look()
        self.assertIsNone(look.after(b"\r\n" * 32))
        self.assertEqual(look.after(b"\r\n"), ("service, once: False", b"\r\n" * 33))

    def test_silence(self) -> None:
        """Who says nothing is closed after a while; no timer outlives the choice."""
        look = Look()
        look.clock.advance(60)
        self.assertTrue(look.transport.disconnecting)
        look.transport.lose()
        self.assertEqual(look.ended, ["ended"])
        chosen = Look()
        chosen.after(b"GET /")
        self.assertEqual(chosen.clock.getDelayedCalls(), [])

    def test_behind_tls(self) -> None:
        """On a listener with TLS the layer above it is replaced."""

        class Wrapper(FakeTransport):
            wrappedProtocol: Any = None  # noqa: N815 - Twisted's name

        wrapper, chosen = Wrapper(), Chosen("x")
        hand_over(wrapper, chosen, b"abc")
        self.assertEqual((wrapper.wrappedProtocol, chosen.read), (chosen, b"abc"))

    @given(
        st.lists(st.sampled_from([b"G", b" ", b"/", b"h", b"http://", b"\r\n", b"\0"]), max_size=9)
    )
    def test_nothing_lost(self, pieces: list[bytes]) -> None:
        """Whoever is chosen reads every byte."""
        look = Look()
        found = None
        for piece in pieces:
            found = look.after(piece)
        if found is not None:
            self.assertEqual(found[1], b"".join(pieces))
