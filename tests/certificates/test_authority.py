"""The certificate authority on disk."""

import datetime as dt
import stat
import subprocess
import sys
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.certificates.authority import CERTIFICATE, KEY, open_authority
from trafficmock.certificates.files import CertificateError

NOW = dt.datetime(2030, 1, 1, tzinfo=dt.UTC)
DAY = dt.timedelta(days=1)

OPEN = """
import datetime as dt, sys
from pathlib import Path
from trafficmock.certificates.authority import open_authority
sys.stdin.readline()
print(open_authority(Path(sys.argv[1]), dt.datetime.now(dt.UTC)).pem.decode())
"""


class AuthorityTests(SynchronousTestCase):
    """Made once, kept, renewed."""

    def setUp(self) -> None:
        self.directory = Path(self.mktemp()).absolute() / "ca"

    def test_made(self) -> None:
        """The first use makes both files, the key for its owner only, and later uses read them."""
        made = open_authority(self.directory, NOW)
        self.assertEqual(stat.S_IMODE((self.directory / KEY).stat().st_mode), 0o600)
        self.assertEqual((self.directory / CERTIFICATE).read_bytes(), made.pem)
        again = open_authority(self.directory, NOW)
        self.assertEqual(again.certificate, made.certificate)
        self.assertEqual(again.key.private_numbers(), made.key.private_numbers())

    def test_extensions(self) -> None:
        """The certificate signs servers and nothing further down, and says which key it has."""
        certificate = open_authority(self.directory, NOW).certificate
        basic = certificate.extensions.get_extension_for_class(x509.BasicConstraints)
        self.assertEqual((basic.critical, basic.value.ca, basic.value.path_length), (True, True, 0))
        usage = certificate.extensions.get_extension_for_class(x509.KeyUsage)
        self.assertTrue(usage.critical and usage.value.key_cert_sign)
        subject = certificate.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value
        issuer = certificate.extensions.get_extension_for_class(x509.AuthorityKeyIdentifier).value
        self.assertEqual(subject.digest, issuer.key_identifier)
        self.assertIn(subject.digest.hex()[:8], certificate.subject.rfc4514_string())
        certificate.verify_directly_issued_by(certificate)

    def test_renewed(self) -> None:
        """Near its end the certificate is made anew, with its key and name."""
        first = open_authority(self.directory, NOW)
        kept = open_authority(self.directory, NOW + 3224 * DAY)
        self.assertEqual(kept.certificate, first.certificate)
        later = NOW + 3226 * DAY
        second = open_authority(self.directory, later)
        self.assertGreater(second.certificate.not_valid_after_utc, later + 3000 * DAY)
        self.assertEqual(second.certificate.subject, first.certificate.subject)
        self.assertEqual(second.certificate.public_key(), first.certificate.public_key())

    def test_interrupted(self) -> None:
        """A key without a certificate, as a crash leaves it, is used."""
        first = open_authority(self.directory, NOW)
        (self.directory / CERTIFICATE).unlink()
        second = open_authority(self.directory, NOW)
        self.assertEqual(second.certificate.public_key(), first.certificate.public_key())

    def test_writable_by_others(self) -> None:
        """Nothing is read from a directory, or made in it, that others can write to."""
        for made in (False, True):
            self.directory.mkdir(parents=True, exist_ok=True)
            self.directory.chmod(0o700)
            if made:
                open_authority(self.directory, NOW)
            self.directory.chmod(0o777)
            self.assertRaises(CertificateError, open_authority, self.directory, NOW)

    def test_at_once(self) -> None:
        """Processes that ask at once get one and the same authority."""
        argv = [sys.executable, "-c", OPEN, str(self.directory)]
        here = str(Path(__file__).parents[2])
        children = [
            subprocess.Popen(
                argv, cwd=here, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
            for _ in range(4)
        ]
        for child in children:
            assert child.stdin is not None
            child.stdin.write("\n")
            child.stdin.flush()
        message = {child.communicate(timeout=60)[0] for child in children}
        self.assertEqual(len(message), 1)
        self.assertIn("BEGIN CERTIFICATE", message.pop())


class BrokenTests(SynchronousTestCase):
    """What is wrong is said, with what to do."""

    def setUp(self) -> None:
        self.directory = Path(self.mktemp()) / "ca"
        open_authority(self.directory, NOW)

    def refused(self) -> str:
        return str(self.assertRaises(CertificateError, open_authority, self.directory, NOW))

    def test_no_key(self) -> None:
        """A certificate whose key is gone is not replaced behind its owner's back."""
        (self.directory / KEY).unlink()
        self.assertIn("is missing", self.refused())

    def test_open_key(self) -> None:
        """A key that others can read is not used."""
        (self.directory / KEY).chmod(0o644)
        self.assertIn("chmod 600", self.refused())

    def test_broken(self) -> None:
        """Files that trafficmock did not write are named."""
        (self.directory / CERTIFICATE).write_text("x")
        self.assertIn(f"{CERTIFICATE} is broken", self.refused())
        for text in (b"x", _pem(rsa.generate_private_key(65537, 2048))):
            (self.directory / KEY).write_bytes(text)
            self.assertIn(f"{KEY} is broken", self.refused())

    def test_strangers(self) -> None:
        """A certificate of another key is not used."""
        other = Path(self.mktemp())
        open_authority(other, NOW)
        (other / CERTIFICATE).replace(self.directory / CERTIFICATE)
        self.assertIn("another key", self.refused())

    def test_unreadable(self) -> None:
        """A file that cannot be read is named."""
        (self.directory / KEY).unlink()
        (self.directory / KEY).mkdir()
        self.assertIn("cannot read", self.refused())


def _pem(key: rsa.RSAPrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
