"""Self-signed certificates, for servers and for authorities that nobody trusts."""

import datetime as dt
import ipaddress
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

_DAY = dt.timedelta(days=1)


def write_certificate(folder: Path, host: str = "localhost", *others: str) -> Path:
    """
    Make a certificate that is valid for a day.

    :param folder: where the file goes.
    :param host: the common name; the certificate holds for it, ``others`` and 127.0.0.1.
    :returns: the file, in PEM, with the private key in it.
    """
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
    now = dt.datetime.now(dt.UTC)
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    hosts = [x509.DNSName(each) for each in (host, *others)]
    names = x509.SubjectAlternativeName([*hosts, address])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _DAY)
        .not_valid_after(now + _DAY)
        .add_extension(names, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    kind, secret = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    path = folder / "upstream.pem"
    path.write_bytes(certificate.public_bytes(pem) + key.private_bytes(pem, kind, secret))
    return path
