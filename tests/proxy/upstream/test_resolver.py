"""Names that only the system's resolver takes."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from twisted.internet.address import IPv4Address
from twisted.internet.protocol import Factory, Protocol
from twisted.internet.testing import MemoryReactorClock
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.proxy.upstream.dialer import Dialer
from trafficmock.proxy.upstream.resolver import is_unusual
from trafficmock.proxy.upstream.server_verification import ServerVerification


class Resolver:
    """Knows every name, and remembers which it was asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def resolveHostName(
        self,
        resolutionReceiver: Any,  # noqa: N803 - Twisted's name
        hostName: str,  # noqa: N803 - Twisted's name
        portNumber: int = 0,  # noqa: N803 - Twisted's name
        *_: Any,
    ) -> None:
        self.asked.append(hostName)
        resolutionReceiver.resolutionBegan(None)
        resolutionReceiver.addressResolved(IPv4Address("TCP", "127.0.0.7", portNumber))
        resolutionReceiver.resolutionComplete()


class NameTests(SynchronousTestCase):
    """Underscores and hyphens in places where IDNA has none."""

    def test_unusual(self) -> None:
        """What the system's resolver takes and IDNA does not is told from all else."""
        for host in ("a_b", "pay_ments.test", "_x.test", "r1---sn.test", "-a.test", "a-.test."):
            self.assertTrue(is_unusual(host), host)
        for host in ("a-b.test", "xn--bcher-kva.test", "127.0.0.1", "::1", "a..b_", "_" * 64, ""):
            self.assertFalse(is_unusual(host), host)

    def test_looked_up(self) -> None:
        """Such a name is looked up as it is, and its address connected with."""
        for host in ("pay_ments.test", "r1---sn.test", "plain.test"):
            reactor: Any = MemoryReactorClock()
            reactor.nameResolver = resolver = Resolver()
            dialer = Dialer(reactor=reactor, connect_seconds=1.0, trust=ServerVerification())
            dialer.host_endpoint(host, 81).connect(Factory.forProtocol(Protocol))
            self.assertEqual(resolver.asked, [host])
            self.assertEqual(reactor.tcpClients[0][:2], ("127.0.0.7", 81))

    @given(st.text(alphabet="a-_.x\u00fc", max_size=300))
    def test_never_too_long(self, host: str) -> None:
        """Whatever is looked up so is ASCII, with labels that Python's sockets take."""
        if is_unusual(host):
            self.assertEqual(host.encode("idna"), host.encode("ascii"))
