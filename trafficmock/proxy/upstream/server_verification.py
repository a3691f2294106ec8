"""Verifies the certificates of servers, except those of ``--upstream-insecure``.

The versions of TLS and the ciphers are those of the client whose requests pass, if it says them.
"""

from __future__ import annotations

import hashlib
import hmac
import sys
from collections import OrderedDict
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

from attrs import define, evolve, field, frozen
from OpenSSL import SSL, crypto
from service_identity.hazmat import DNS_ID, IPAddress_ID, verify_service_identity
from service_identity.pyopenssl import extract_patterns
from twisted.internet.interfaces import IOpenSSLClientConnectionCreator
from zope.interface import implementer

from trafficmock.certificates.roots import readable, system_pem, unique_blocks
from trafficmock.http.hosts import parse_address
from trafficmock.matching.host_pattern import HostPattern, matches_any
from trafficmock.proxy.http1.server_demands import RootSets, ServerDemands
from trafficmock.proxy.request_target import Origin

HTTP_1_1 = b"http/1.1"

_MOST_CONTEXTS = 50
_MOST_ASKING = 1000
"""The most servers of which it is kept that they ask for a certificate."""

_READ_REQUEST = b"read server certificate request"
"""The end of OpenSSL's name for the state behind CertificateRequest (RFC 8446 section 4.3.2)."""

_DIGESTS = {32: "md5", 40: "sha1", 64: "sha256"}
"""The names of digests by the length of a fingerprint in hex, as urllib3 tells them apart."""


_VERSIONS = {
    "1.0": SSL.TLS1_VERSION,
    "1.1": SSL.TLS1_1_VERSION,
    "1.2": SSL.TLS1_2_VERSION,
    "1.3": SSL.TLS1_3_VERSION,
}

_USUAL = ServerDemands()


class WrongPinError(Exception):
    """The certificate of a server has not the fingerprint that its client demands."""


@define(eq=False)
class ServerVerification:
    """Makes the client side of TLS to servers, with HTTP/1.1 as the only ALPN protocol.

    All verified servers share one TLS context, because loading the system's roots takes
    milliseconds.

    :param files: files of authorities to trust besides the system's (``--upstream-ca``).
    :param insecure: hosts that are not verified (``--upstream-insecure``).
    """

    files: tuple[str, ...] = ()
    insecure: tuple[HostPattern, ...] = ()
    roots: RootSets = field(factory=RootSets, init=False)
    _asking: OrderedDict[tuple[str, int], None] = field(factory=OrderedDict, init=False)
    _contexts: dict[tuple[bool, ServerDemands], SSL.Context] = field(factory=dict, init=False)

    def for_server(self, origin: Origin) -> _TlsConnections:
        """Make the TLS connection creator for a server.

        OpenSSL verifies the chain of the certificate; its name is left to :meth:`check_name`.

        :raises ValueError: if the roots that the client demands are not known, or none of its
            ciphers is.
        """
        verified = self._verifies(origin)
        demands = _of_context(origin.demands or _USUAL, verified=verified)
        context = self._contexts.get((verified, demands))
        if context is None:
            pem = self.roots.get(demands.roots) if demands.roots else b""
            if pem is None:
                raise ValueError("the roots of the application are not known: connect again")
            if len(self._contexts) >= _MOST_CONTEXTS:
                self._contexts.clear()
            context = self._make(verified=verified, pem=pem)
            _speak(context, demands)
            self._contexts[verified, demands] = context
        self._asking.pop((origin.host, origin.port), None)
        return _TlsConnections(origin.host, context, lambda: self._asked(origin))

    def asks_for_certificate(self, origin: Origin) -> bool:
        """Return whether a server asked for a client certificate, by the latest connection to it.

        The proxy has none. The server may answer all the same.
        """
        return (origin.host, origin.port) in self._asking

    def _asked(self, origin: Origin) -> None:
        self._asking[origin.host, origin.port] = None
        if len(self._asking) > _MOST_ASKING:
            self._asking.popitem(last=False)

    def check_name(self, transport: Any, origin: Origin) -> None:
        """Check that a server's certificate is for its host (RFC 9525).

        Callers do this after the handshake and before they send anything. A callback of OpenSSL is
        no place for it: an exception there is ignored, and the connection is used.

        :param transport: the TLS transport of the connection.
        :raises service_identity.VerificationError: if it is for other hosts.
        :raises service_identity.CertificateError: if its names are malformed.
        :raises WrongPinError: if it has not the fingerprint that the client demands.
        """
        demands = origin.demands
        if demands is not None and demands.pin:
            _check_pin(transport.getPeerCertificate(), demands.pin)
        if not self._verifies(origin) or not (demands is None or demands.checks_name):
            return
        host = origin.host
        wanted = DNS_ID(host) if parse_address(host) is None else IPAddress_ID(host)
        patterns = extract_patterns(transport.getPeerCertificate())
        verify_service_identity(patterns, [wanted], optional_ids=[])

    def _verifies(self, origin: Origin) -> bool:
        if origin.demands is not None and not origin.demands.verifies:
            return False
        return not matches_any(self.insecure, origin.host, origin.port)

    def _make(self, *, verified: bool, pem: bytes) -> SSL.Context:
        context = SSL.Context(SSL.TLS_CLIENT_METHOD)
        context.set_min_proto_version(SSL.TLS1_2_VERSION)
        context.set_options(SSL.OP_NO_COMPRESSION | SSL.OP_NO_RENEGOTIATION)
        context.set_alpn_protos([HTTP_1_1])
        context.set_info_callback(_note_request)
        if pem:
            _trust_only(context, pem)
        elif verified:
            context.set_default_verify_paths()
            if sys.platform != "linux":
                _trust_roots(context)
            for file in self.files:
                context.load_verify_locations(file)
        if verified:
            context.set_verify(SSL.VERIFY_PEER)
        return context


def _of_context(demands: ServerDemands, *, verified: bool) -> ServerDemands:
    """Keep the demands that a TLS context obeys; the others are checked by connection."""
    roots = demands.roots if verified else ""
    return evolve(demands, verifies=True, checks_name=True, roots=roots, pin="")


def _speak(context: SSL.Context, demands: ServerDemands) -> None:
    """Let a TLS context speak the versions and ciphers of a client.

    Ciphers that this OpenSSL does not have are left out.

    :raises ValueError: if it has none of them.
    """
    if demands.least:
        context.set_min_proto_version(_VERSIONS[demands.least])
    if demands.newest:
        context.set_max_proto_version(_VERSIONS[demands.newest])
    level = [f"@SECLEVEL={demands.level}"] if demands.level else []
    if demands.ciphers or level:
        try:
            context.set_cipher_list(":".join([demands.ciphers or "DEFAULT", *level]).encode())
        except SSL.Error as error:
            text = "the service has none of the ciphers of the application's TLS context"
            raise ValueError(text) from error


def _trust_roots(context: SSL.Context) -> None:
    """Trust the machine's roots, where OpenSSL's default paths do not have them.

    ``SSL.Context.set_default_verify_paths`` of pyOpenSSL says that it does nothing on Windows, and
    on macOS only with Homebrew's OpenSSL.
    """
    _trust_only(context, system_pem())


def _trust_only(context: SSL.Context, pem: bytes) -> None:
    store = context.get_cert_store()
    assert store is not None  # noqa: S101 - only a context without OpenSSL's object has none
    for root in readable(unique_blocks(pem)):
        store.add_cert(crypto.X509.from_cryptography(root))


def _check_pin(certificate: crypto.X509, pin: str) -> None:
    """Compare the fingerprint of a server's certificate.

    :raises WrongPinError: if it is another one.
    """
    name = _DIGESTS[len(pin)]
    found = hashlib.new(name, crypto.dump_certificate(crypto.FILETYPE_ASN1, certificate))
    if not hmac.compare_digest(found.hexdigest(), pin):
        raise WrongPinError(f"the certificate has another {name} fingerprint: {found.hexdigest()}")


_asked: WeakKeyDictionary[SSL.Connection, Callable[[], None]] = WeakKeyDictionary()
"""What is called if the server of a connection asks for a client certificate."""


def _note_request(connection: SSL.Connection, _where: int, _result: int) -> None:
    """Tell that the server of a connection asks for a certificate, when it does."""
    asked = _asked.get(connection)
    if asked is not None and connection.get_state_string().endswith(_READ_REQUEST):
        asked()


@implementer(IOpenSSLClientConnectionCreator)
@frozen
class _TlsConnections:
    """Makes the client side of TLS connections to one host.

    :param asked: called if the server asks for a client certificate.
    """

    host: str
    context: SSL.Context
    asked: Callable[[], None]

    def clientConnectionForTLS(self, protocol: Any) -> SSL.Connection:  # noqa: ARG002, N802 - Twisted's signature
        connection = SSL.Connection(self.context, None)
        _asked[connection] = self.asked
        if parse_address(self.host) is None:
            connection.set_tlsext_host_name(self.host.encode("ascii"))
        return connection
