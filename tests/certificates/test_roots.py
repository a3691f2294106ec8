"""What this machine trusts."""

import os
import ssl
import sys
from pathlib import Path

import certifi
from cryptography.hazmat.primitives.serialization import Encoding
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.certificates.roots import (
    given_roots,
    readable,
    system_pem,
    system_roots,
    unique_blocks,
)


class RootTests(SynchronousTestCase):
    """Files of certificates."""

    def setUp(self) -> None:
        self.directory = Path(self.mktemp()).absolute()
        self.directory.mkdir()

    def test_system(self) -> None:
        """The first of the usual places that can be read counts, else certifi's."""
        self.patch(os, "environ", {})
        there = self.directory / "roots.pem"
        there.touch()
        usual = [str(self.directory / "none.pem"), str(there)]
        self.assertEqual(system_roots(usual), there)
        self.patch(os, "access", lambda _path, _mode: False)
        self.assertEqual(system_roots(usual), Path(certifi.where()))

    def test_windows(self) -> None:
        """On Windows the certificates of the system's stores count that are for servers."""
        pem = Path(certifi.where()).read_text(encoding="ascii")
        first, second, third = (
            ssl.PEM_cert_to_DER_cert(block.decode())
            for block in unique_blocks(pem.encode("ascii"))[:3]
        )
        stores = {
            "CA": [(first, "x509_asn", True), (second, "x509_asn", {"1.3.6.1.5.5.7.3.2"})],
            "ROOT": [(third, "x509_asn", {"1.3.6.1.5.5.7.3.1"}), (b"", "pkcs_7_asn", True)],
        }
        self.patch(sys, "platform", "win32")
        ssl.enum_certificates = stores.__getitem__  # type: ignore[attr-defined] # Windows has it
        self.addCleanup(delattr, ssl, "enum_certificates")
        blocks = unique_blocks(system_pem())
        ders = [each.public_bytes(Encoding.DER) for each in readable([*blocks, b"no block"])]
        self.assertEqual(ders, [first, third])

    def test_given(self) -> None:
        """Files of the user count, each once, but neither the machine's nor our own."""
        company, own = self.directory / "company.pem", self.directory / "ca" / "bundle.pem"
        own.parent.mkdir()
        for path in (company, own):
            path.touch()
        (self.directory / "link.pem").symlink_to(company)
        environment = {
            "SSL_CERT_FILE": str(company),
            "CURL_CA_BUNDLE": str(self.directory / "link.pem"),
            "REQUESTS_CA_BUNDLE": str(own),
            "PIP_CERT": str(system_roots()),
            "AWS_CA_BUNDLE": str(self.directory / "none.pem"),
            "DENO_CERT": "",
        }
        self.assertEqual(given_roots(environment, own.parent), [company])
