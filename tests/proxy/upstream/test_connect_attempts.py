"""Addresses of a host tried one after the other."""

from typing import Any

from twisted.internet.address import IPv4Address, IPv6Address
from twisted.internet.defer import Deferred
from twisted.internet.error import ConnectionRefusedError  # noqa: A004 - Twisted's
from twisted.internet.protocol import Factory, Protocol
from twisted.internet.testing import MemoryReactorClock, StringTransport
from twisted.python.failure import Failure
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.proxy.upstream.dialer import Dialer
from trafficmock.proxy.upstream.server_verification import ServerVerification

FOUR = IPv4Address("TCP", "127.0.0.7", 81)
SIX = IPv6Address("TCP", "::1", 81)


class Resolver:
    """Knows the addresses of every name."""

    def __init__(self, *addresses: Any) -> None:
        self.addresses = addresses

    def resolveHostName(self, receiver: Any, *_: Any, **__: Any) -> None:
        receiver.resolutionBegan(None)
        for address in self.addresses:
            receiver.addressResolved(address)
        receiver.resolutionComplete()


class AttemptTests(SynchronousTestCase):
    """Servers that refuse, and servers that are silent."""

    def connecting(self, *addresses: Any) -> Deferred[Any]:
        self.reactor: Any = MemoryReactorClock()
        resolver: Any = Resolver(*addresses)
        self.reactor.nameResolver = resolver
        dialer = Dialer(reactor=self.reactor, connect_seconds=10.0, trust=ServerVerification())
        return dialer.host_endpoint("a.test", 81).connect(Factory.forProtocol(Protocol))

    def tried(self) -> list[str]:
        return [host for host, *_ in self.reactor.tcpClients]

    def refuse(self) -> None:
        """Refuse the last attempt; the reactor turns once."""
        factory = self.reactor.tcpClients[-1][2]
        factory.clientConnectionFailed(None, Failure(ConnectionRefusedError()))
        self.reactor.advance(0)

    def test_refused(self) -> None:
        """A server that refuses its only address has failed at once."""
        waiting = self.connecting(FOUR)
        self.refuse()
        self.failureResultOf(waiting, ConnectionRefusedError)
        self.assertEqual(self.reactor.getDelayedCalls(), [])

    def test_next_address(self) -> None:
        """Behind an address that refuses the next one is tried at once."""
        waiting = self.connecting(SIX, FOUR)
        self.assertEqual(self.tried(), ["::1"])
        self.refuse()
        self.assertEqual(self.tried(), ["::1", "127.0.0.7"])
        self.refuse()
        self.failureResultOf(waiting, ConnectionRefusedError)

    def test_silent(self) -> None:
        """Behind an address that is silent the next one is tried after a moment."""
        waiting = self.connecting(SIX, FOUR)
        self.reactor.advance(0.29)
        self.assertEqual(self.tried(), ["::1"])
        self.reactor.advance(0.02)
        self.assertEqual(self.tried(), ["::1", "127.0.0.7"])
        protocol = self.reactor.tcpClients[1][2].buildProtocol(FOUR)
        protocol.makeConnection(StringTransport())
        self.assertIsInstance(self.successResultOf(waiting), Protocol)
        self.assertEqual(self.reactor.getDelayedCalls(), [])
