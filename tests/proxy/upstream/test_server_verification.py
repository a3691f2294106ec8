"""Whether a server is who it should be, over real handshakes in memory."""

import hashlib
import sys
from pathlib import Path
from typing import Any

from OpenSSL import SSL, crypto
from service_identity import VerificationError
from twisted.internet.protocol import Factory, Protocol
from twisted.internet.testing import StringTransport
from twisted.protocols.tls import TLSMemoryBIOFactory
from twisted.trial.unittest import SynchronousTestCase

from tests.support.certificates import ServerContext, context_of, server, unknown_authority
from trafficmock.matching.host_pattern import read_host_pattern
from trafficmock.proxy.http1.server_demands import ServerDemands
from trafficmock.proxy.request_target import Origin
from trafficmock.proxy.upstream import server_verification
from trafficmock.proxy.upstream.server_verification import ServerVerification, WrongPinError


class Quiet(Protocol):
    """Notes why it ended."""

    reason: Any = None

    def connectionLost(self, reason: Any = None) -> None:
        self.reason = reason.value


def shake(
    trust: ServerVerification,
    host: str,
    *,
    named: str,
    demands: ServerDemands | None = None,
    server_context: ServerContext | None = None,
) -> tuple[Any, Quiet]:
    """Let a client of ``trust`` reach for ``host`` and find a certificate for ``named``."""
    plain = Factory.forProtocol(Quiet)
    client: Any = TLSMemoryBIOFactory(
        trust.for_server(Origin("https", host, 443, demands)), isClient=True, wrappedFactory=plain
    ).buildProtocol(None)
    theirs: Any = TLSMemoryBIOFactory(
        server_context or context_of(named), isClient=False, wrappedFactory=plain
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

    def test_asks_for_certificate(self) -> None:
        """It is known which servers ask for a client certificate, by their latest handshake."""
        trust = ServerVerification(files=(server().authority,))
        self.patch(server_verification, "_MOST_ASKING", 1)
        api, other = Origin("https", "api.test", 443), Origin("https", "other.test", 443)
        for version in (SSL.TLS1_2_VERSION, SSL.TLS1_3_VERSION):
            for mode in (SSL.VERIFY_PEER, SSL.VERIFY_NONE):
                wanting = context_of("api.test")
                wanting.context.set_max_proto_version(version)
                wanting.context.set_verify(mode)
                shake(trust, "api.test", named="api.test", server_context=wanting)
                self.assertEqual(trust.asks_for_certificate(api), mode == SSL.VERIFY_PEER)
                self.assertFalse(trust.asks_for_certificate(other))
        for origin in (api, other):
            wanting = context_of("api.test")
            wanting.context.set_verify(SSL.VERIFY_PEER)
            shake(trust, origin.host, named="api.test", server_context=wanting)
        self.assertEqual([*map(trust.asks_for_certificate, (api, other))], [False, True])

    def test_one_context(self) -> None:
        """What the system trusts is loaded once for all hosts."""
        trust = ServerVerification()
        contexts = {trust.for_server(Origin("https", host, 443)).context for host in ("a", "b")}
        self.assertEqual(len(contexts), 1)


class DemandTests(SynchronousTestCase):
    """What the application demands counts before the options of the service."""

    def setUp(self) -> None:
        self.trust = ServerVerification(files=(unknown_authority(),))

    def shaken(
        self, host: str = "api.test", theirs: ServerContext | None = None, **demands: Any
    ) -> bool:
        """Return whether TLS with a server that is ``api.test`` is good."""
        wanted = ServerDemands(**demands)
        client, quiet = shake(
            self.trust, host, named="api.test", demands=wanted, server_context=theirs
        )
        if client._aborted or client._lostTLSConnection or quiet.reason is not None:
            return False
        self.trust.check_name(client, Origin("https", host, 443, wanted))
        return True

    def test_roots(self) -> None:
        """The application's roots are trusted, and no others."""
        own = self.trust.roots.add(Path(server().authority).read_bytes())
        none = self.trust.roots.add(b"none")
        self.assertTrue(self.shaken(roots=own))
        self.assertFalse(self.shaken(roots=none))
        self.assertFalse(self.shaken(), "the service's own")

    def test_forgotten_roots(self) -> None:
        """Roots that were never sent trust no server."""
        self.assertRaises(ValueError, self.shaken, roots="ab" * 32)

    def test_unverified(self) -> None:
        """Without verification any server is good, for any name."""
        self.assertTrue(self.shaken("other.test", verifies=False))

    def test_name(self) -> None:
        """The name may be of no interest."""
        own = self.trust.roots.add(Path(server().authority).read_bytes())
        self.assertTrue(self.shaken("other.test", checks_name=False, roots=own))
        with self.assertRaises(VerificationError):
            self.shaken("other.test", roots=own)

    def test_pin(self) -> None:
        """A fingerprint is compared, by the digest of its length."""
        client, _ = shake(
            self.trust, "api.test", named="api.test", demands=ServerDemands(verifies=False)
        )
        der = crypto.dump_certificate(crypto.FILETYPE_ASN1, client.getPeerCertificate())
        for name in ("md5", "sha1", "sha256"):
            pin = hashlib.new(name, der).hexdigest()
            for wanted in (pin, "0" * len(pin)):
                origin = Origin("https", "api.test", 443, ServerDemands(verifies=False, pin=wanted))
                if wanted == pin:
                    self.trust.check_name(client, origin)
                else:
                    self.assertRaises(WrongPinError, self.trust.check_name, client, origin)

    def test_versions(self) -> None:
        """A server that speaks no version of the application is refused."""
        for version, demands, is_good in (
            (SSL.TLS1_2_VERSION, {"least": "1.3"}, False),
            (SSL.TLS1_2_VERSION, {"newest": "1.2"}, True),
            (SSL.TLS1_3_VERSION, {"newest": "1.2"}, False),
            (SSL.TLS1_3_VERSION, {"least": "1.3"}, True),
        ):
            theirs = context_of("api.test")
            theirs.context.set_min_proto_version(version)
            theirs.context.set_max_proto_version(version)
            found = self.shaken(theirs=theirs, verifies=False, **demands)
            self.assertIs(found, is_good, (version, demands))

    def test_ciphers(self) -> None:
        """So is one that has none of its ciphers; names that are not known do not matter."""
        mine, other = (
            f"ECDHE-{{}}-AES{bits}-GCM-SHA{size}" for bits, size in ((128, 256), (256, 384))
        )
        for name, is_good in ((mine, True), (other, False)):
            theirs = context_of("api.test")
            theirs.context.set_max_proto_version(SSL.TLS1_2_VERSION)
            both = ":".join(name.format(kind) for kind in ("RSA", "ECDSA"))
            theirs.context.set_cipher_list(both.encode())
            wanted = ":".join(["UNKNOWN", *(mine.format(kind) for kind in ("RSA", "ECDSA"))])
            found = self.shaken(theirs=theirs, verifies=False, ciphers=wanted, level="2")
            self.assertIs(found, is_good)
        for _ in range(2):
            with self.assertRaisesRegex(ValueError, "none of the ciphers"):
                self.shaken(ciphers="UNKNOWN")

    def test_level(self) -> None:
        """The security level may come without ciphers."""
        self.assertTrue(self.shaken(verifies=False, level="1"))

    def test_many(self) -> None:
        """No number of sets makes the service keep them all."""
        first = self.trust.roots.add(b"first")
        for number in range(60):
            self.shaken(roots=self.trust.roots.add(b"%d" % number))
        self.assertIsNone(self.trust.roots.get(first))
        self.assertLessEqual(len(self.trust._contexts), 60)
