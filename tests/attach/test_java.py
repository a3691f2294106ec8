"""Java's words."""

from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from trafficmock.attach.java import non_proxy_hosts, with_java_options
from trafficmock.attach.proxy_variables import ProxyAddress
from trafficmock.certificates.trust_bundle import TrustBundle

ADDRESS = ProxyAddress("http", "127.0.0.1", 4310, "shop")


def trust(directory: str) -> TrustBundle:
    at = Path(directory)
    return TrustBundle(at / "ca.pem", at / "bundle.pem", at / "trust.p12", at / "php")


class OptionTests(SynchronousTestCase):
    """``JAVA_TOOL_OPTIONS``."""

    def test_appended(self) -> None:
        """Ours stand behind the user's, once, without credentials, loopback included."""
        found = with_java_options("-Xmx1g", ADDRESS, trust("/c"), ["127.0.0.1:4310"])
        self.assertEqual(
            found.split(),
            [
                "-Xmx1g",
                "-Dhttp.proxyHost=127.0.0.1",
                "-Dhttp.proxyPort=4310",
                "-Dhttps.proxyHost=127.0.0.1",
                "-Dhttps.proxyPort=4310",
                "-Dhttp.nonProxyHosts=",
                "-Djavax.net.ssl.trustStore=/c/trust.p12",
                "-Djavax.net.ssl.trustStoreType=PKCS12",
                "-Djavax.net.ssl.trustStorePassword=changeit",
            ],
        )
        again = with_java_options(found, ADDRESS, trust("/c"), ["127.0.0.1:4310"])
        self.assertEqual(again, found)

    def test_token(self) -> None:
        """With a token an application may give credentials itself; the options never do."""
        address = ProxyAddress("http", "127.0.0.1", 4310, "shop", "secret")
        found = with_java_options("", address, trust("/c"), [])
        self.assertIn(" -Djdk.http.auth.tunneling.disabledSchemes=", found)
        self.assertNotIn("secret", found)

    def test_blanks(self) -> None:
        """A path with blanks is quoted."""
        found = with_java_options("", ADDRESS, trust("/a b"), [])
        self.assertIn('"-Djavax.net.ssl.trustStore=/a b/trust.p12"', found)

    def test_exceptions(self) -> None:
        """Exceptions become patterns; what Java cannot say is left out."""
        for direct, expected in (
            (["localhost"], ["localhost", "*.localhost"]),
            ([".a.test", "*.b.test"], ["a.test", "*.a.test", "b.test", "*.b.test"]),
            (["10.0.0.1", "[::1]", "::1", "fd00:0::1"], ["10.0.0.1", "[::1]", "[fd00::1]"]),
            (["10.0.0.0/8", "a:1", "x y"], []),
            (["a", "*"], ["*"]),
        ):
            self.assertEqual(non_proxy_hosts(direct), expected)
