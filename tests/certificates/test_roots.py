"""What this machine trusts."""

import os
from pathlib import Path

import certifi
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.certificates.roots import given_roots, system_roots


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
