"""The root certificates that this machine trusts already.

A runtime that is given a file of certificates ignores its own roots, so the authority's
certificate is put into one file with the machine's roots. The machine's own store is never
changed.
"""

from __future__ import annotations

import importlib.util
import os
import re
import ssl
import sys
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path

from cryptography import x509

CA_FILE_VARIABLES = (
    "SSL_CERT_FILE",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "PIP_CERT",
    "AWS_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS",
    "GIT_SSL_CAINFO",
    "CARGO_HTTP_CAINFO",
    "DENO_CERT",
    "HTTPLIB2_CA_CERTS",
    "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH",
    "NIX_SSL_CERT_FILE",
)
"""Environment variables that name a file of certificates, each for some runtimes or tools."""

_USUAL = (
    "/etc/ssl/certs/ca-certificates.crt",  # Debian, Ubuntu, Arch
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  # Fedora, RHEL
    "/etc/pki/tls/certs/ca-bundle.crt",  # older ones of these
    "/etc/ssl/ca-bundle.pem",  # SUSE
    "/etc/ssl/cert.pem",  # Alpine, BSD, macOS
)
_BLOCK = re.compile(rb"-----BEGIN CERTIFICATE-----\s[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----")
_WINDOWS_STORES = ("CA", "ROOT")


def system_roots(usual: Iterable[str] = _USUAL) -> Path | None:
    """Find the machine's file of root certificates, else that of the package ``certifi``.

    :param usual: paths to try first.
    :returns: ``None`` if there is no such file.
    """
    for place in (*usual, ssl.get_default_verify_paths().openssl_cafile):
        if os.access(place, os.R_OK):
            return Path(place)
    found = importlib.util.find_spec("certifi")
    if found is None or found.origin is None:
        return None
    return Path(found.origin).with_name("cacert.pem")


def system_pem() -> bytes:
    """Return the root certificates that this machine trusts, as PEM blocks.

    On Windows they are those of the system's certificate stores that are trusted for servers, as
    :meth:`ssl.SSLContext.load_default_certs` takes them. On macOS they are those of its file; what
    a user added to the Keychain is not read, since its trust settings have no stable interface.
    """
    if sys.platform == "win32":
        server = ssl.Purpose.SERVER_AUTH.oid
        return "".join(
            ssl.DER_cert_to_PEM_cert(der)
            for store in _WINDOWS_STORES
            for der, encoding, trust in ssl.enum_certificates(store)
            if encoding == "x509_asn" and (trust is True or (trust and server in trust))
        ).encode()
    path = system_roots()
    return b"" if path is None else path.read_bytes()


def unique_blocks(*texts: bytes) -> list[bytes]:
    """List the PEM blocks of some texts in their order, each once."""
    return list(dict.fromkeys(block for text in texts for block in _BLOCK.findall(text)))


def readable(blocks: Iterable[bytes]) -> list[x509.Certificate]:
    """Return the certificates of some PEM blocks; those that cannot be read are left out."""
    found = []
    with warnings.catch_warnings():
        # cryptography warns of roots that break today's rules; they are the machine's, and stay.
        warnings.simplefilter("ignore")
        for block in blocks:
            try:
                found.append(x509.load_pem_x509_certificate(block))
            except ValueError:
                continue
    return found


def given_roots(environment: Mapping[str, str], beside: Path) -> list[Path]:
    """List the files that the user's environment names, such as a company's certificates.

    :param environment: with some of :data:`CA_FILE_VARIABLES`.
    :param beside: the authority's directory, whose files are left out, as :func:`system_roots` is.
    """
    known = {_real(path) for path in (system_roots(),) if path is not None}
    found = []
    for name in CA_FILE_VARIABLES:
        path = Path(environment.get(name) or ".")
        real = _real(path)
        own = real.is_relative_to(_real(beside))
        if real in known or own or not path.is_file() or not os.access(path, os.R_OK):
            continue
        known.add(real)
        found.append(path)
    return found


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))
