"""Leaf certificates: one for each host, signed by the local authority."""

from __future__ import annotations

import datetime as dt
import secrets

from attrs import field, frozen
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from trafficmock.certificates.authority import CertificateAuthority
from trafficmock.certificates.names import Name

VALID = dt.timedelta(days=396)
CLOCK_SKEW = dt.timedelta(days=1)
"""A leaf's ``notBefore`` is this long before it is made, so it is valid for 397 days in total.

Browsers limit certificates of authorities that a user has added, if at all, to more.
"""
RENEWED_BEFORE_END = dt.timedelta(days=1)
_LONGEST_COMMON_NAME = 64

_USAGE = x509.KeyUsage(
    digital_signature=True,
    content_commitment=False,
    key_encipherment=False,
    data_encipherment=False,
    key_agreement=False,
    key_cert_sign=False,
    crl_sign=False,
    encipher_only=False,
    decipher_only=False,
)


def _new_key() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


@frozen
class LeafMaker:
    """Makes leaf certificates for hosts, all with one key.

    The key is kept in the memory of this process only. A key for each host would protect nothing
    more, because all would be in the same process, and would cost time to make.

    :param authority: signs the certificates.
    :param key: their private key, P-256.
    """

    authority: CertificateAuthority
    key: ec.EllipticCurvePrivateKey = field(factory=_new_key)

    def make(self, name: Name, now: dt.datetime) -> x509.Certificate:
        """Make the certificate of a host, valid for TLS servers.

        :param name: from :func:`trafficmock.certificates.names.certificate_name`.
        :param now: the time, with its zone.
        """
        issuer = self.authority.certificate
        key_id = issuer.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value
        public = self.key.public_key()
        return (
            x509.CertificateBuilder(subject_name=_subject(str(name)), issuer_name=issuer.subject)
            .public_key(public)
            .serial_number(secrets.randbits(127) | 1)
            .not_valid_before(now - CLOCK_SKEW)
            .not_valid_after(now + VALID)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_USAGE, critical=True)
            .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
            .add_extension(x509.SubjectAlternativeName([_general(name)]), critical=False)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(key_id),
                critical=False,
            )
            .sign(self.authority.key, hashes.SHA256())
        )


def is_fresh(leaf: x509.Certificate, now: dt.datetime) -> bool:
    """Return whether a leaf is valid long enough to be used for new connections."""
    return now + RENEWED_BEFORE_END < leaf.not_valid_after_utc


def _general(name: Name) -> x509.GeneralName:
    return x509.DNSName(name) if isinstance(name, str) else x509.IPAddress(name)


def _subject(name: str) -> x509.Name:
    """Name the host if it fits into a common name; clients read ``subjectAltName`` only."""
    attributes = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, "trafficmock")]
    if len(name) <= _LONGEST_COMMON_NAME:
        attributes.append(x509.NameAttribute(NameOID.COMMON_NAME, name))
    return x509.Name(attributes)
