"""Whether a server is who it should be, over real handshakes in memory."""

import sys
from pathlib import Path
from typing import Any

from service_identity import VerificationError
from twisted.internet.protocol import Factory, Protocol
from twisted.internet.testing import StringTransport
from twisted.protocols.tls import TLSMemoryBIOFactory
from twisted.trial.unittest import SynchronousTestCase

from tests.support.certificates import context_of, server, unknown_authority
from trafficmock.matching.host_pattern import read_host_pattern
from trafficmock.proxy.request_target import Origin
from trafficmock.proxy.upstream import server_verification
from trafficmock.proxy.upstream.server_verification import ServerVerification


class Quiet(Protocol):
    """Notes why it ended."""

    reason: Any = None

    def connectionLost(self, reason: Any = None) -> None:
        self.reason = reason.value


def shake(trust: ServerVerification, host: str, *, named: str) -> tuple[Any, Quiet]:
    """Let a client of ``trust`` reach for ``host`` and find a certificate for ``named``."""
    plain = Factory.forProtocol(Quiet)
    client: Any = TLSMemoryBIOFactory(
        trust.for_server(Origin("https", host, 443)), isClient=True, wrappedFactory=plain
    ).buildProtocol(None)
    theirs: Any = TLSMemoryBIOFactory(
        context_of(named), isClient=False, wrappedFactory=plain
    ).buildProtocol(None)
    ends = StringTransport(), StringTransport()
    client.makeConnection(ends[0])
    theirs.makeConnection(ends[1])
    for _ in range(6):
        for mine, other in ((0, theirs), (1, client)):
            data = ends[mine].value()
            ends[mine].clear()
            if data and other.wrappedProtocol is not None:
                other.dataReceived(data)
    return client, client.wrappedProtocol


class TrustTests(SynchronousTestCase):
    """What is trusted, and for whom."""

    def test_trusted(self) -> None:
        """A certificate of a known authority for this host, or address, is good."""
        trust = ServerVerification(files=(server().authority,))
        for host in ("api.test", "192.0.2.7"):
            client, quiet = shake(trust, host, named=host)
            trust.check_name(client, Origin("https", host, 443))
            self.assertIsNone(quiet.reason)

    def test_roots_of_the_machine(self) -> None:
        """Where OpenSSL has no default paths, the machine's own roots are trusted."""
        self.patch(sys, "platform", "darwin")
        authority = Path(server().authority).read_bytes()
        self.patch(server_verification, "system_pem", lambda: authority)
        _, quiet = shake(ServerVerification(), "api.test", named="api.test")
        self.assertIsNone(quiet.reason)

    def test_other_host(self) -> None:
        """A certificate for another host is refused before anything is sent."""
        trust = ServerVerification(files=(server().authority,))
        for host in ("other.test", "192.0.2.8"):
            client, _ = shake(trust, host, named="api.test")
            self.assertRaises(
                VerificationError, trust.check_name, client, Origin("https", host, 443)
            )

    def test_unknown_authority(self) -> None:
        """A certificate that nobody vouches for ends the handshake."""
        for files in ((), (unknown_authority(),)):
            client, _ = shake(ServerVerification(files=files), "api.test", named="api.test")
            self.assertTrue(client._aborted or client._lostTLSConnection, files)

    def test_insecure(self) -> None:
        """Hosts that are named are not verified at all."""
        trust = ServerVerification(insecure=(read_host_pattern("*.test:443"),))
        client, quiet = shake(trust, "api.test", named="other.example")
        trust.check_name(client, Origin("https", "api.test", 443))
        self.assertIsNone(quiet.reason)

    def test_one_context(self) -> None:
        """What the system trusts is loaded once for all hosts."""
        trust = ServerVerification()
        contexts = {trust.for_server(Origin("https", host, 443)).context for host in ("a", "b")}
        self.assertEqual(len(contexts), 1)
