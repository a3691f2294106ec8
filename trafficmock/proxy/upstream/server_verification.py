"""Verifies servers: which certificates are trusted, and which hosts are not verified."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from attrs import define, field, frozen
from OpenSSL import SSL
from service_identity.hazmat import DNS_ID, IPAddress_ID, verify_service_identity
from service_identity.pyopenssl import extract_patterns
from twisted.internet.interfaces import IOpenSSLClientConnectionCreator
from zope.interface import implementer

from trafficmock.http.hosts import parse_address
from trafficmock.ipv6 import read_ipv6

if TYPE_CHECKING:
    from collections.abc import Sequence

HTTP_1_1 = b"http/1.1"


def matches_any(host: str, globs: Sequence[str]) -> bool:
    """Tell whether a host matches one of ``globs``, in which ``*`` stands for any text.

    :param host: without the brackets of IPv6, which a glob may have.
    """
    return any(fnmatchcase(host, _without_brackets(glob.lower())) for glob in globs)


def _without_brackets(glob: str) -> str:
    bare = glob[1:-1] if glob.startswith("[") and glob.endswith("]") and ":" in glob else glob
    return read_ipv6(bare) or bare


@define(eq=False)
class ServerVerification:
    """Makes the client's side of TLS to servers; HTTP/1.1 is all that is offered.

    There is one context for all servers: loading what the system trusts takes milliseconds.

    :param files: authorities that are trusted besides the system's (``--upstream-ca``).
    :param insecure: globs of hosts that are not verified (``--upstream-insecure``).
    """

    files: tuple[str, ...] = ()
    insecure: tuple[str, ...] = ()
    _contexts: dict[bool, SSL.Context] = field(factory=dict, init=False)

    def for_host(self, host: str) -> _TlsConnections:
        """Make the TLS connection factory for ``host``.

        The certificate's chain is verified by it, its name by :meth:`check_name`.
        """
        verified = not matches_any(host, self.insecure)
        context = self._contexts.get(verified)
        if context is None:
            context = self._contexts[verified] = self._make(verified=verified)
        return _TlsConnections(host, context)

    def check_name(self, transport: Any, host: str) -> None:
        """See whether a server's certificate is for ``host``.

        It is called once the handshake is over, before anything is sent: an exception in a
        callback of OpenSSL would be ignored, and the connection used.

        :param transport: of the connection.
        :raises service_identity.VerificationError: it is for others.
        :raises service_identity.CertificateError: it names nobody properly.
        """
        if matches_any(host, self.insecure):
            return
        wanted = DNS_ID(host) if parse_address(host) is None else IPAddress_ID(host)
        patterns = extract_patterns(transport.getPeerCertificate())
        verify_service_identity(patterns, [wanted], optional_ids=[])

    def _make(self, *, verified: bool) -> SSL.Context:
        context = SSL.Context(SSL.TLS_CLIENT_METHOD)
        context.set_min_proto_version(SSL.TLS1_2_VERSION)
        context.set_options(SSL.OP_NO_COMPRESSION | SSL.OP_NO_RENEGOTIATION)
        context.set_alpn_protos([HTTP_1_1])
        if verified:
            context.set_default_verify_paths()
            for file in self.files:
                context.load_verify_locations(file)
            context.set_verify(SSL.VERIFY_PEER)
        return context


@implementer(IOpenSSLClientConnectionCreator)
@frozen
class _TlsConnections:
    """Opens TLS to one host."""

    host: str
    context: SSL.Context

    def clientConnectionForTLS(self, protocol: Any) -> SSL.Connection:  # noqa: ARG002, N802 - Twisted's signature
        connection = SSL.Connection(self.context, None)
        if parse_address(self.host) is None:
            connection.set_tlsext_host_name(self.host.encode("ascii"))
        return connection
