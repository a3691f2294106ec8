"""Certificates for tests, made once."""

from __future__ import annotations

import datetime as dt
import functools
import tempfile
from pathlib import Path
from typing import Any

from attrs import frozen
from OpenSSL import SSL
from twisted.internet.interfaces import IOpenSSLServerConnectionCreator
from zope.interface import implementer

from tests.support.self_signed import write_certificate
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
def unknown_authority() -> str:
    """Give the file of an authority that has signed nothing."""
    folder = Path(tempfile.mkdtemp(prefix="trafficmock-test-"))
    return str(write_certificate(folder, "nobody"))
