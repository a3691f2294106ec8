"""Files by which runtimes trust the local authority."""

import datetime as dt
import ssl
import subprocess
from pathlib import Path

from cryptography.hazmat.primitives.serialization import pkcs12
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.certificates import trust_bundle as module
from trafficmock.certificates.authority import CertificateAuthority, open_authority
from trafficmock.certificates.roots import unique_blocks
from trafficmock.certificates.trust_bundle import (
    TRUSTSTORE_PASSWORD,
    TrustBundle,
    make_trust,
)

NOW = dt.datetime(2030, 1, 1, tzinfo=dt.UTC)


class TrustTests(SynchronousTestCase):
    """The bundle and what comes with it."""

    def setUp(self) -> None:
        self.directory = Path(self.mktemp()).absolute() / "ca"
        self.authority = open_authority(self.directory, NOW)
        self.root = self.other("root")
        self.system = self.directory.parent / "system.pem"
        self.system.write_bytes(self.root.pem)
        self.patch(module, "system_pem", self.system.read_bytes)

    def other(self, name: str) -> CertificateAuthority:
        return open_authority(self.directory.parent / name, NOW)

    def make(self, **environment: str) -> TrustBundle:
        return make_trust(self.directory, self.authority.pem, environment)

    def test_bundle(self) -> None:
        """The bundle is what the machine trusts, and ours."""
        context = ssl.create_default_context(cafile=str(self.make().bundle))
        self.assertEqual(len(context.get_ca_certs()), 2)

    def test_truststore(self) -> None:
        """Java's loader lists the same certificates as trusted."""
        trust = self.make()
        argv = ["keytool", "-list", "-storetype", "PKCS12", "-storepass", TRUSTSTORE_PASSWORD]
        argv += ["-keystore", str(trust.truststore)]
        listed = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=True)
        self.assertEqual(listed.stdout.count("trustedCertEntry"), 2)

    def test_php(self) -> None:
        """PHP's two ways to TLS find the bundle."""
        trust = self.make()
        for name in ("openssl.cafile", "curl.cainfo"):
            self.assertIn(
                f'{name} = "{trust.bundle}"\n', (trust.php / "trafficmock.ini").read_text()
            )

    def test_current(self) -> None:
        """Files are left alone while they are current, and made anew when they are not."""
        before = self.make()
        store = before.truststore.read_bytes()
        self.assertEqual(self.make(), before)
        self.assertEqual(before.truststore.read_bytes(), store)
        self.system.write_bytes(self.other("newer").pem)
        self.make()
        self.assertNotEqual(before.truststore.read_bytes(), store)
        self.assertNotIn(self.root.pem.strip(), before.bundle.read_bytes())

    def test_given(self) -> None:
        """Certificates that the user named are kept, in files of their own."""
        company = self.directory.parent / "company.pem"
        company.write_bytes(self.other("company").pem)
        trust = self.make(SSL_CERT_FILE=str(company))
        self.assertNotEqual(trust.bundle, self.make().bundle)
        password = TRUSTSTORE_PASSWORD.encode()
        stored = pkcs12.load_pkcs12(trust.truststore.read_bytes(), password)
        self.assertEqual(len(stored.additional_certs), 3)
        self.assertEqual(trust.bundle.read_bytes().count(b"BEGIN"), 3)

    def test_elsewhere(self) -> None:
        """The files of another authority do not touch those of ours."""
        before = self.make()
        foreign = make_trust(self.directory, self.other("foreign").pem, {})
        self.assertNotEqual(foreign.bundle.parent, before.bundle.parent)
        self.assertEqual(foreign.ca.read_bytes(), self.other("foreign").pem)
        self.assertEqual(before.ca.read_bytes(), self.authority.pem)

    def test_blocks(self) -> None:
        """Only certificates are taken over, ours first, each once; words around them are not."""
        text = b"# a root\n" + self.root.pem + b"-----BEGIN PRIVATE KEY-----\nx\n" + self.root.pem
        self.system.write_bytes(text)
        found = unique_blocks(self.authority.pem, self.system.read_bytes())
        self.assertEqual(found, [self.authority.pem.strip(), self.root.pem.strip()])

    def test_odd_roots(self) -> None:
        """A root that cannot be read does not keep the others from Java."""
        odd = b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
        self.system.write_bytes(odd + self.root.pem)
        stored = self.make().truststore.read_bytes()
        loaded = pkcs12.load_pkcs12(stored, TRUSTSTORE_PASSWORD.encode())
        self.assertEqual(len(loaded.additional_certs), 2)
