"""Which certificates to trust, as runtimes read it."""

from twisted.trial.unittest import SynchronousTestCase

from tests.attach.test_java import trust
from trafficmock.attach.trust_variables import trust_variables


class VariableTests(SynchronousTestCase):
    """The variables."""

    def test_whole(self) -> None:
        """Who forgets its own certificates gets all of them, who adds to its own gets ours."""
        found = trust_variables(trust("/c"), {})
        self.assertEqual(found.pop("NODE_EXTRA_CA_CERTS"), "/c/ca.pem")
        self.assertEqual(found.pop("DENO_CERT"), "/c/ca.pem")
        self.assertEqual(found.pop("PHP_INI_SCAN_DIR"), ":/c/php")
        self.assertEqual(set(found.values()), {"/c/bundle.pem"})
        for name in ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO"):
            self.assertIn(name, found)

    def test_kept(self) -> None:
        """What the user adds stays added."""
        present = {"NODE_EXTRA_CA_CERTS": "/company.pem", "PHP_INI_SCAN_DIR": "/etc/own"}
        found = trust_variables(trust("/c"), present)
        self.assertEqual(found["NODE_EXTRA_CA_CERTS"], "/c/bundle.pem")
        self.assertEqual(found["PHP_INI_SCAN_DIR"], "/etc/own:/c/php")
        self.assertEqual(trust_variables(trust("/c"), found)["PHP_INI_SCAN_DIR"], "/etc/own:/c/php")
