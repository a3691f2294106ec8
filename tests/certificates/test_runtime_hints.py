"""What each runtime needs."""

from twisted.trial.unittest import SynchronousTestCase

from tests.attach.test_java import trust
from trafficmock.certificates.roots import CA_FILE_VARIABLES
from trafficmock.certificates.runtime_hints import hints


class HintTests(SynchronousTestCase):
    """The text that people read."""

    def test_known(self) -> None:
        """It is short enough to read, and its variables are those that ``run`` sets."""
        text = hints(trust("/c"), "http://127.0.0.1:4310")
        self.assertLess(max(map(len, text.splitlines())), 120)
        for name in ("SSL_CERT_FILE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO", "PIP_CERT"):
            self.assertIn(name, CA_FILE_VARIABLES)
            self.assertIn(f"{name}=", text)
        self.assertIn("/c/php", text)
