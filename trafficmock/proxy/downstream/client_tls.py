"""The certificates that the proxy presents to clients that open TLS behind CONNECT.

>>> store = CertificateStore.open(directory)
>>> tls = TLSMemoryBIOFactory(store.context_for("api.example"), False, factory)

The authority is read or made at the first use of the store.
"""

from __future__ import annotations

import datetime as dt
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from attrs import define, field, frozen
from cryptography import x509
from OpenSSL import SSL
from twisted.internet.interfaces import IOpenSSLServerConnectionCreator
from zope.interface import implementer

from trafficmock.certificates.authority import CertificateAuthority, open_authority
from trafficmock.certificates.leaves import LeafMaker, is_fresh
from trafficmock.certificates.names import BadNameError, Name, certificate_name

LEAF_CACHE = 1000
"""Hosts whose certificates are cached; the least recently used one is dropped."""

HTTP_1_1 = b"http/1.1"
_SESSION_ID = b"trafficmock"


def _now() -> dt.datetime:
    return dt.datetime.now(dt.UTC)


@frozen
class _Kept:
    leaf: x509.Certificate
    context: SSL.Context


@define(eq=False, kw_only=True)
class CertificateStore:
    """Makes and caches the certificates of the hosts that clients connect to.

    :param directory: the directory of the authority, which is made if needed.
    :param leaf_cache: the number of hosts whose certificates are cached.
    :param now: returns the time, with its zone.
    """

    directory: Path
    leaf_cache: int = LEAF_CACHE
    _now: Callable[[], dt.datetime] = _now
    _maker: LeafMaker | None = field(default=None, init=False)
    _kept: OrderedDict[Name, _Kept] = field(factory=OrderedDict, init=False)

    @classmethod
    def open(cls, directory: Path) -> CertificateStore:
        """Make a store for a directory, which need not exist and is not read yet."""
        return cls(directory=directory)

    def authority(self) -> CertificateAuthority:
        """Return the authority; it is read or made at the first call.

        :raises CertificateError: if it cannot be read or made.
        """
        return self._leaf_maker().authority

    def ca_pem(self) -> bytes:
        """Return the authority's certificate in PEM.

        :raises CertificateError: if the authority cannot be read or made.
        """
        return self.authority().pem

    def context_for(self, host: str) -> HostContext:
        """Return the TLS context for clients that connect to a host.

        A client that names another host in SNI (RFC 6066 section 3) gets a certificate for that
        host.

        :param host: the host of the CONNECT target: a name, in Unicode or ASCII, or an IP address.
        :returns: an ``IOpenSSLServerConnectionCreator`` for Twisted's TLS.
        :raises CertificateError: if the authority cannot be read or made.
        :raises BadNameError: if no certificate can be made for the host.
        """
        return HostContext(self._context(certificate_name(host)))

    def _context(self, name: Name) -> SSL.Context:
        now = self._now()
        kept = self._kept.get(name)
        if kept is not None and is_fresh(kept.leaf, now):
            self._kept.move_to_end(name)
            return kept.context
        maker = self._leaf_maker()
        leaf = maker.make(name, now)
        context = self._new_context(name, leaf, maker)
        self._kept[name] = _Kept(leaf, context)
        self._kept.move_to_end(name)
        while len(self._kept) > self.leaf_cache:
            self._kept.popitem(last=False)
        return context

    def _leaf_maker(self) -> LeafMaker:
        if self._maker is None:
            self._maker = LeafMaker(open_authority(self.directory, self._now()))
        return self._maker

    def _new_context(self, name: Name, leaf: x509.Certificate, maker: LeafMaker) -> SSL.Context:
        """Make a context: TLS 1.2 and later, HTTP/1.1 only by ALPN, resumption by tickets."""
        context = SSL.Context(SSL.TLS_SERVER_METHOD)
        context.set_min_proto_version(SSL.TLS1_2_VERSION)
        context.set_options(SSL.OP_NO_COMPRESSION | SSL.OP_NO_RENEGOTIATION)
        # Tickets carry the state of a session, so a cache of sessions would only take memory.
        context.set_session_cache_mode(SSL.SESS_CACHE_OFF)
        context.set_session_id(_SESSION_ID)
        context.use_privatekey(maker.key)
        context.use_certificate(leaf)
        context.set_alpn_select_callback(_choose_protocol)
        context.set_tlsext_servername_callback(lambda c: self._choose_leaf(c, name))
        return context

    def _choose_leaf(self, connection: SSL.Connection, name: Name) -> None:
        """Select the certificate of the host in SNI, if it is another than that of CONNECT."""
        said = connection.get_servername()
        if said is None:
            return
        try:
            wanted = certificate_name(said.decode("ascii"))
        except (UnicodeDecodeError, BadNameError):
            return
        if wanted != name:
            connection.set_context(self._context(wanted))


@implementer(IOpenSSLServerConnectionCreator)
@frozen
class HostContext:
    """Makes the server side of TLS connections for one host."""

    _context: SSL.Context

    def serverConnectionForTLS(self, protocol: Any) -> SSL.Connection:  # noqa: ARG002, N802 - Twisted's signature
        return SSL.Connection(self._context, None)


def _choose_protocol(_connection: SSL.Connection, offered: list[bytes]) -> Any:
    """Choose HTTP/1.1 (ALPN, RFC 7301); a client that does not offer it gets no protocol."""
    return HTTP_1_1 if HTTP_1_1 in offered else SSL.NO_OVERLAPPING_PROTOCOLS
