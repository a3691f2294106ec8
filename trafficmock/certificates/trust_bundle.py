"""Files by which runtimes trust the local authority in addition to what they trust already."""

from __future__ import annotations

import hashlib
import re
import warnings
from typing import TYPE_CHECKING

from attrs import frozen
from cryptography import x509
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption
from cryptography.hazmat.primitives.serialization.pkcs12 import (
    PKCS12Certificate,
    serialize_java_truststore,
)

from trafficmock.certificates.authority import CERTIFICATE
from trafficmock.certificates.files import PUBLIC, locked, make_directory, read, write
from trafficmock.certificates.roots import given_roots, system_roots

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

TRUSTSTORE_PASSWORD = "changeit"  # noqa: S105 - Java's usual one: what it guards is public
_BLOCK = re.compile(rb"-----BEGIN CERTIFICATE-----\s[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----")
_OTHERS = "others"


@frozen
class TrustBundle:
    """The files of one authority.

    :param ca: the authority's certificate alone, for runtimes that add it to their own.
    :param bundle: with the machine's certificates, in PEM.
    :param truststore: the same as PKCS #12 for Java, with Java's usual password.
    :param php: a directory with an ``.ini`` file, for PHP.
    """

    ca: Path
    bundle: Path
    truststore: Path
    php: Path


def make_trust(directory: Path, ca_pem: bytes, environment: Mapping[str, str]) -> TrustBundle:
    """Make the files, or bring them up to date, beside the authority.

    :param directory: of the local authority. The files of another one get a directory below.
    :param ca_pem: the certificate to trust.
    :param environment: may name more certificates to keep trusting.
    :raises CertificateError: when the files cannot be written.
    """
    if read(directory / CERTIFICATE) != ca_pem:
        directory = directory / _OTHERS / _short(ca_pem)
    given = given_roots(environment, directory)
    system = system_roots()
    blocks = unique_blocks([*([system] if system else []), *given], ca_pem)
    # Who named certificates of their own does not change what others trust.
    suffix = f"-{_short(b'|'.join(str(path).encode() for path in given))}" if given else ""
    trust = TrustBundle(
        ca=directory / CERTIFICATE,
        bundle=directory / f"bundle{suffix}.pem",
        truststore=directory / f"truststore{suffix}.p12",
        php=directory / f"php{suffix}",
    )
    _write_all(trust, ca_pem, blocks)
    return trust


def unique_blocks(roots: Iterable[Path], ca_pem: bytes) -> list[bytes]:
    """List the authority's certificate, then those of some files, each once."""
    texts = [ca_pem, *(read(path) or b"" for path in roots)]
    return list(dict.fromkeys(block for text in texts for block in _BLOCK.findall(text)))


def _write_all(trust: TrustBundle, ca_pem: bytes, blocks: list[bytes]) -> None:
    """Write missing and outdated files; the bundle last, since it shows that all are there."""
    bundle = b"\n".join(blocks) + b"\n"
    if read(trust.bundle) == bundle:
        return
    make_directory(trust.bundle.parent)
    make_directory(trust.php)
    with locked(trust.bundle.parent):
        write(trust.ca, ca_pem, PUBLIC)
        write(trust.truststore, _truststore(blocks), PUBLIC)
        write(trust.php / "trafficmock.ini", _php_ini(trust.bundle), PUBLIC)
        write(trust.bundle, bundle, PUBLIC)


def _truststore(blocks: list[bytes]) -> bytes:
    """Make a store as Java's keytool would, with the mark that it wants on trusted ones."""
    entries = []
    with warnings.catch_warnings():
        # Some of the machine's roots are too old for today's rules. Trafficmock did not make them.
        warnings.simplefilter("ignore")
        for number, block in enumerate(blocks):
            try:
                certificate = x509.load_pem_x509_certificate(block)
            except ValueError:
                continue
            entries.append(PKCS12Certificate(certificate, f"trafficmock-{number}".encode()))
    password = TRUSTSTORE_PASSWORD.encode()
    return serialize_java_truststore(entries, BestAvailableEncryption(password))


def _php_ini(bundle: Path) -> bytes:
    return f'openssl.cafile = "{bundle}"\ncurl.cainfo = "{bundle}"\n'.encode()


def _short(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]
