"""What clients see of the store's certificates, over TLS in memory."""

import contextlib
import datetime as dt
import ssl
from pathlib import Path

from OpenSSL import SSL
from twisted.internet.interfaces import IOpenSSLServerConnectionCreator
from twisted.trial.unittest import SynchronousTestCase
from zope.interface.verify import verifyObject

from trafficmock.certificates.authority import CERTIFICATE
from trafficmock.certificates.files import CertificateError
from trafficmock.certificates.names import BadNameError
from trafficmock.proxy.downstream.client_tls import CertificateStore, HostContext

DAY = dt.timedelta(days=1)
_MOST_FLIGHTS = 10


def client_context(directory: Path) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=str(directory / CERTIFICATE))
    context.set_alpn_protocols(["h2", "http/1.1"])
    return context


def connect(
    server: HostContext,
    client: ssl.SSLContext,
    name: str | None,
    session: ssl.SSLSession | None = None,
) -> ssl.SSLObject:
    """Shake hands; give the client's end.

    :raises ssl.SSLError: when the client does not like what it sees.
    """
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    ours = client.wrap_bio(incoming, outgoing, server_hostname=name, session=session)
    theirs = server.serverConnectionForTLS(None)
    theirs.set_accept_state()
    done = False
    for _ in range(_MOST_FLIGHTS):
        try:
            # Reading takes the tickets in, which come after the handshake.
            ours.read(1) if done else ours.do_handshake()
            done = True
        except ssl.SSLWantReadError:
            if done:
                return ours
        if data := outgoing.read():
            theirs.bio_write(data)
        with contextlib.suppress(SSL.WantReadError):
            theirs.do_handshake()
        with contextlib.suppress(SSL.WantReadError):
            incoming.write(theirs.bio_read(65536))
    raise AssertionError("no end of the handshake")


def names(peer: ssl.SSLObject) -> list[str]:
    certificate = peer.getpeercert()
    assert certificate is not None
    return [str(pair[1]) for pair in certificate["subjectAltName"]]


class StoreTestCase(SynchronousTestCase):
    """A store over a directory of its own."""

    def setUp(self) -> None:
        self.directory = Path(self.mktemp()) / "ca"
        self.time = dt.datetime.now(dt.UTC)
        self.store = CertificateStore(directory=self.directory, leaf_cache=3, now=lambda: self.time)


class HandshakeTests(StoreTestCase):
    """What a client gets."""

    def see(self, host: str, name: str | None = None) -> list[str]:
        server = self.store.context_for(host)
        return names(connect(server, client_context(self.directory), name or host))

    def test_names(self) -> None:
        """Names, addresses and international names are presented as clients verify them."""
        self.assertEqual(self.see("api.example"), ["api.example"])
        self.assertEqual(self.see("127.0.0.1"), ["127.0.0.1"])
        self.assertEqual(self.see("::1"), ["0:0:0:0:0:0:0:1"])
        self.assertEqual(self.see("bücher.example"), ["xn--bcher-kva.example"])

    def test_another_name(self) -> None:
        """A client that names another host than its target gets that host's certificate."""
        self.assertEqual(self.see("10.0.0.1", "api.example"), ["api.example"])
        self.assertEqual(self.see("a.example", "b.example"), ["b.example"])

    def test_no_name(self) -> None:
        """A client that names none gets its target's, also when it names no host at all."""
        server = self.store.context_for("api.example")
        context = client_context(self.directory)
        context.check_hostname = False
        for name in (None, "not a host"):
            self.assertEqual(names(connect(server, context, name)), ["api.example"])

    def test_protocols(self) -> None:
        """It is TLS 1.3 where the client can, HTTP/1.1 where it offers that, no TLS 1.1."""
        server = self.store.context_for("a.example")
        context = client_context(self.directory)
        peer = connect(server, context, "a.example")
        self.assertEqual((peer.version(), peer.selected_alpn_protocol()), ("TLSv1.3", "http/1.1"))
        context.set_alpn_protocols(["h2"])
        self.assertIsNone(connect(server, context, "a.example").selected_alpn_protocol())
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        self.assertEqual(connect(server, context, "a.example").version(), "TLSv1.2")

    def test_resumed(self) -> None:
        """A client that comes back resumes its session, in TLS 1.3 and 1.2."""
        for version in (ssl.TLSVersion.TLSv1_3, ssl.TLSVersion.TLSv1_2):
            for name in ("a.example", "b.example"):
                server = self.store.context_for("a.example")
                context = client_context(self.directory)
                context.maximum_version = version
                session = connect(server, context, name).session
                server = self.store.context_for("a.example")
                self.assertTrue(connect(server, context, name, session).session_reused, version)


class KeepingTests(StoreTestCase):
    """What is made when, and kept."""

    def test_lazy(self) -> None:
        """Opening a store touches nothing; the first host makes the authority."""
        store = CertificateStore.open(self.directory)
        self.assertFalse(self.directory.exists())
        store.context_for("a.example")
        self.assertEqual(store.authority().pem, (self.directory / CERTIFICATE).read_bytes())

    def test_kept(self) -> None:
        """A host's certificate is made once, until many others were asked for."""
        first = self.store.context_for("a.example")
        for host in ("b.example", "A.EXAMPLE.", "c.example", "a.example"):
            again = self.store.context_for(host)
        self.assertEqual(again, first)
        for host in ("d.example", "e.example", "f.example"):
            self.store.context_for(host)
        self.assertEqual(len(self.store._kept), 3)
        self.assertNotEqual(self.store.context_for("a.example"), first)

    def test_renewed(self) -> None:
        """A certificate near its end is made anew."""
        first = self.store.context_for("a.example")
        self.time += 396 * DAY
        self.assertNotEqual(self.store.context_for("a.example"), first)

    def test_refused(self) -> None:
        """What cannot be done is raised before a handshake begins."""
        self.assertRaises(BadNameError, self.store.context_for, "a b")
        self.directory.parent.mkdir()
        self.directory.touch()
        self.assertRaises(CertificateError, self.store.context_for, "a.example")

    def test_interface(self) -> None:
        """Twisted's TLS takes it as it is."""
        server = self.store.context_for("a.example")
        self.assertTrue(verifyObject(IOpenSSLServerConnectionCreator, server))
