"""Certificates for tests, made once."""

from __future__ import annotations

import datetime as dt
import functools
import tempfile
from pathlib import Path
from typing import Any

from attrs import frozen
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from OpenSSL import SSL
from twisted.internet.interfaces import IOpenSSLServerConnectionCreator
from zope.interface import implementer

from trafficmock.certificates.names import certificate_name
from trafficmock.proxy.downstream.client_tls import CertificateStore


@frozen
class Server:
    """What a server needs for TLS, and the authority that vouches for it."""

    authority: str
    store: CertificateStore


@functools.cache
def server() -> Server:
    """Give the certificates of any host, signed by an authority of their own."""
    directory = Path(tempfile.mkdtemp(prefix="trafficmock-test-"))
    store = CertificateStore.open(directory)
    file = directory / "vouch.pem"
    file.write_bytes(store.ca_pem())
    return Server(str(file), store)


def context_of(name: str) -> ServerContext:
    """Give the server's side of TLS with a certificate for ``name``, whoever is asked for."""
    maker = server().store._leaf_maker()
    context = SSL.Context(SSL.TLS_SERVER_METHOD)
    context.use_privatekey(maker.key)
    context.use_certificate(maker.make(certificate_name(name), dt.datetime.now(dt.UTC)))
    return ServerContext(context)


@implementer(IOpenSSLServerConnectionCreator)
@frozen
class ServerContext:
    """Makes connections of one context."""

    context: SSL.Context

    def serverConnectionForTLS(self, protocol: Any) -> SSL.Connection:  # noqa: ARG002 - Twisted's signature
        """Make one."""
        return SSL.Connection(self.context, None)


@functools.cache
def stranger() -> str:
    """Give the file of an authority that nobody has signed with."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "nobody")])
    now = dt.datetime.now(dt.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    file = Path(tempfile.mkdtemp(prefix="trafficmock-test-")) / "stranger.pem"
    file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    return str(file)
