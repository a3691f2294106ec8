"""Files by which runtimes trust the local authority in addition to the machine's roots."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from attrs import frozen
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption
from cryptography.hazmat.primitives.serialization.pkcs12 import (
    PKCS12Certificate,
    serialize_java_truststore,
)

from trafficmock.certificates.authority import CERTIFICATE
from trafficmock.certificates.files import PUBLIC, locked, make_directory, read, write
from trafficmock.certificates.roots import given_roots, readable, system_pem, unique_blocks

TRUSTSTORE_PASSWORD = "changeit"  # noqa: S105 - Java's usual one: what it guards is public
_OTHERS = "others"


@frozen
class TrustBundle:
    """Paths of the files of certificates for one authority.

    :param ca: the authority's certificate alone, for runtimes that add it to their own roots.
    :param bundle: the authority's certificate and the machine's roots, in PEM.
    :param truststore: the same certificates as PKCS #12 for Java, with Java's usual password.
    :param php: a directory with an ``.ini`` file that names ``bundle``, for PHP.
    """

    ca: Path
    bundle: Path
    truststore: Path
    php: Path


def make_trust(directory: Path, ca_pem: bytes, environment: Mapping[str, str]) -> TrustBundle:
    """Write the files into the authority's directory, unless they are up to date.

    :param directory: the directory of the local authority. The files of another authority, of a
        proxy on another machine, are written into a directory below it.
    :param ca_pem: the authority's certificate.
    :param environment: may name more files of certificates to include
        (:data:`~trafficmock.certificates.roots.CA_FILE_VARIABLES`).
    :raises CertificateError: if a file cannot be written.
    """
    if read(directory / CERTIFICATE) != ca_pem:
        directory = directory / _OTHERS / _short(ca_pem)
    given = given_roots(environment, directory)
    blocks = unique_blocks(ca_pem, system_pem(), *(read(path) or b"" for path in given))
    # A user's own certificates get files of their own, so that other users' files do not change.
    suffix = f"-{_short(b'|'.join(str(path).encode() for path in given))}" if given else ""
    trust = TrustBundle(
        ca=directory / CERTIFICATE,
        bundle=directory / f"bundle{suffix}.pem",
        truststore=directory / f"truststore{suffix}.p12",
        php=directory / f"php{suffix}",
    )
    _write_all(trust, ca_pem, blocks)
    return trust


def _write_all(trust: TrustBundle, ca_pem: bytes, blocks: list[bytes]) -> None:
    """Write missing and outdated files. The bundle is last: if it is up to date, all files are."""
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
    """Make a PKCS #12 file whose entries have the attribute by which Java trusts them."""
    entries = [
        PKCS12Certificate(certificate, f"trafficmock-{number}".encode())
        for number, certificate in enumerate(readable(blocks))
    ]
    password = TRUSTSTORE_PASSWORD.encode()
    return serialize_java_truststore(entries, BestAvailableEncryption(password))


def _php_ini(bundle: Path) -> bytes:
    return f'openssl.cafile = "{bundle}"\ncurl.cainfo = "{bundle}"\n'.encode()


def _short(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]
