"""TLS within tunnels."""

import datetime as dt
import ssl
from pathlib import Path

from trafficmock_preload.tunnel_trust import trusting
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.certificates.authority import open_authority


class TrustTests(SynchronousTestCase):
    """The context that trusts the proxy."""

    def setUp(self) -> None:
        pem = open_authority(Path(self.mktemp()), dt.datetime.now(dt.UTC)).pem
        self.authority = ssl.PEM_cert_to_DER_cert(pem.decode())

    def test_alone(self) -> None:
        """It trusts the authority, and nothing that the application trusts."""
        found = trusting(self.authority, ssl.create_default_context())
        self.assertEqual(found.get_ca_certs(binary_form=True), [self.authority])
        self.assertEqual((found.verify_mode, found.check_hostname), (ssl.CERT_REQUIRED, True))

    def test_strictness(self) -> None:
        """It is as strict as the application's own, which stays as it is."""
        own = ssl.create_default_context()
        own.check_hostname = False
        own.verify_mode = ssl.CERT_NONE
        before = len(own.get_ca_certs())
        found = trusting(self.authority, own)
        self.assertEqual((found.verify_mode, found.check_hostname), (ssl.CERT_NONE, False))
        self.assertEqual(len(own.get_ca_certs()), before)

    def test_kept(self) -> None:
        """One is made for each strictness, not for each connection."""
        own = ssl.create_default_context()
        self.assertIs(trusting(self.authority, own), trusting(self.authority, None))

    def test_replaced_class(self) -> None:
        """It is made of the standard library's class, which truststore replaces."""

        class Replaced(ssl.SSLContext):
            """The class of ``truststore.inject_into_ssl()``."""

        own = ssl.create_default_context()
        own.check_hostname = False
        own.verify_mode = ssl.CERT_NONE
        kept = ssl.SSLContext
        self.patch(ssl, "SSLContext", Replaced)
        found = trusting(self.authority, own)
        self.assertIs(type(found), kept)
        self.assertEqual(found.verify_mode, ssl.CERT_NONE)
