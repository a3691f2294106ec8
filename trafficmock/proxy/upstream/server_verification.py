"""Verifies the certificates of servers, except those of ``--upstream-insecure``."""

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
    """Return whether a host matches one of ``globs`` (:mod:`fnmatch`).

    :param host: in lower case; IPv6 without brackets, which a glob may have.
    """
    return any(fnmatchcase(host, _without_brackets(glob.lower())) for glob in globs)


def _without_brackets(glob: str) -> str:
    bare = glob[1:-1] if glob.startswith("[") and glob.endswith("]") and ":" in glob else glob
    return read_ipv6(bare) or bare


@define(eq=False)
class ServerVerification:
    """Makes the client side of TLS to servers, with HTTP/1.1 as the only ALPN protocol.

    All verified servers share one TLS context, because loading the system's roots takes
    milliseconds.

    :param files: files of authorities to trust besides the system's (``--upstream-ca``).
    :param insecure: globs of hosts that are not verified (``--upstream-insecure``).
    """

    files: tuple[str, ...] = ()
    insecure: tuple[str, ...] = ()
    _contexts: dict[bool, SSL.Context] = field(factory=dict, init=False)

    def for_host(self, host: str) -> _TlsConnections:
        """Make the TLS connection creator for ``host``.

        OpenSSL verifies the chain of the certificate; its name is left to :meth:`check_name`.
        """
        verified = not matches_any(host, self.insecure)
        context = self._contexts.get(verified)
        if context is None:
            context = self._contexts[verified] = self._make(verified=verified)
        return _TlsConnections(host, context)

    def check_name(self, transport: Any, host: str) -> None:
        """Check that a server's certificate is for ``host`` (RFC 9525).

        Callers do this after the handshake and before they send anything. A callback of OpenSSL is
        no place for it: an exception there is ignored, and the connection is used.

        :param transport: the TLS transport of the connection.
        :raises service_identity.VerificationError: if it is for other hosts.
        :raises service_identity.CertificateError: if its names are malformed.
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
    """Makes the client side of TLS connections to one host."""

    host: str
    context: SSL.Context

    def clientConnectionForTLS(self, protocol: Any) -> SSL.Connection:  # noqa: ARG002, N802 - Twisted's signature
        connection = SSL.Connection(self.context, None)
        if parse_address(self.host) is None:
            connection.set_tlsext_host_name(self.host.encode("ascii"))
        return connection
