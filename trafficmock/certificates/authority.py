"""The certificate authority on disk: a private key that only its owner can read, and a certificate.

The certificate is made from the key, and made again from the same key, under the same name, when
its validity nears its end. Clients that trust the old certificate then also trust certificates
that the new one signs.
"""

from __future__ import annotations

import datetime as dt
import secrets
from pathlib import Path

from attrs import frozen
from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from trafficmock.certificates.files import (
    PRIVATE,
    PUBLIC,
    CertificateError,
    check_directory,
    locked,
    make_directory,
    read,
    read_private,
    write,
)

CERTIFICATE = "ca.pem"
KEY = "ca-key.pem"
VALID = dt.timedelta(days=3650)
RENEWED_BEFORE_END = dt.timedelta(days=425)
"""More than a leaf certificate's validity, so that no leaf outlives the authority's certificate."""
CLOCK_SKEW = dt.timedelta(days=2)
"""``notBefore`` is this long before the certificate is made, for machines with slow clocks."""


@frozen
class CertificateAuthority:
    """The authority's certificate, and the private key that signs leaf certificates."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    @property
    def pem(self) -> bytes:
        """The certificate in PEM (RFC 7468)."""
        return self.certificate.public_bytes(serialization.Encoding.PEM)


def open_authority(directory: Path, now: dt.datetime) -> CertificateAuthority:
    """Read the authority in a directory; make it if the directory has none.

    Processes that call this at the same time get the same authority.

    :param now: the time, with its zone.
    :raises CertificateError: if its files are broken, cannot be read by this user, can be read or
        written by others, or cannot be made.
    """
    check_directory(directory)
    found = _load(directory)
    if found is not None and _fresh(found, now):
        return found
    make_directory(directory)
    with locked(directory):
        # Another process may have made the authority while this one waited for the lock.
        found = _load(directory)
        if found is not None and _fresh(found, now):
            return found
        return _renewed(directory, now)


def _load(directory: Path) -> CertificateAuthority | None:
    """Read both files.

    :returns: ``None`` if there is no certificate yet.
    :raises CertificateError: if a file is broken, or the certificate has no key or another one.
    """
    text = read(directory / CERTIFICATE)
    key = _load_key(directory / KEY)
    if text is None:
        return None
    if key is None:
        raise CertificateError(
            f"{directory / KEY} is missing, and {CERTIFICATE} is of no use without it. "
            f"Put it back, or delete {directory / CERTIFICATE} to have both made anew."
        )
    try:
        certificate = x509.load_pem_x509_certificate(text)
        matching = certificate.public_key() == key.public_key()
    except (ValueError, UnsupportedAlgorithm) as error:
        raise _broken(directory / CERTIFICATE) from error
    if not matching:
        raise CertificateError(
            f"{directory / CERTIFICATE} belongs to another key than {KEY}. "
            "Delete it to have it made anew."
        )
    return CertificateAuthority(certificate, key)


def _load_key(path: Path) -> ec.EllipticCurvePrivateKey | None:
    text = read_private(path)
    if text is None:
        return None
    try:
        key = serialization.load_pem_private_key(text, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise _broken(path) from error
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise _broken(path)
    return key


def _broken(path: Path) -> CertificateError:
    return CertificateError(
        f"{path} is broken. Put the file back, or delete {path.parent} to have another "
        "authority made, which clients have to be told to trust."
    )


def _fresh(authority: CertificateAuthority, now: dt.datetime) -> bool:
    return now + RENEWED_BEFORE_END < authority.certificate.not_valid_after_utc


def _renewed(directory: Path, now: dt.datetime) -> CertificateAuthority:
    """Write a new certificate for the key, and a new key where there is none."""
    key = _load_key(directory / KEY)
    if key is None:
        key = ec.generate_private_key(ec.SECP256R1())
        text = key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        write(directory / KEY, text, PRIVATE)
    authority = CertificateAuthority(_signed_by_itself(key, now), key)
    write(directory / CERTIFICATE, authority.pem, PUBLIC)
    return authority


def _signed_by_itself(key: ec.EllipticCurvePrivateKey, now: dt.datetime) -> x509.Certificate:
    key_id = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    # The key's id in the name distinguishes several authorities in a list, as browsers show one.
    name = x509.Name(
        [
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, "trafficmock"),
            x509.NameAttribute(NameOID.COMMON_NAME, f"trafficmock CA {key_id.digest.hex()[:8]}"),
        ]
    )
    usage = x509.KeyUsage(
        key_cert_sign=True,
        crl_sign=True,
        digital_signature=False,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
    return (
        x509.CertificateBuilder(subject_name=name, issuer_name=name)
        .public_key(key.public_key())
        .serial_number(secrets.randbits(127) | 1)
        .not_valid_before(now - CLOCK_SKEW)
        .not_valid_after(now + VALID)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(usage, critical=True)
        .add_extension(key_id, critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(key.public_key()), critical=False
        )
        .sign(key, hashes.SHA256())
    )
