"""Everything put together."""

import datetime as dt
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tests.joining.listening import answering
from trafficmock.certs.authority import CERTIFICATE, open_authority
from trafficmock.joining.asking import NoAnswerError
from trafficmock.joining.environment import forward_variables
from trafficmock.joining.proxying import ProxyAddress

NOW = dt.datetime(2030, 1, 1, tzinfo=dt.UTC)


class EnvironmentTests(SynchronousTestCase):
    """What an application finds in its environment."""

    def setUp(self) -> None:
        self.directory = Path(self.mktemp()).absolute() / "ca"

    def ask(self, url: str, **present: str) -> dict[str, str]:
        return forward_variables(ProxyAddress.parse(url, "shop", None), present, self.directory)

    def test_all(self) -> None:
        """The proxy, the certificates and Java's options are there, the user's kept."""
        pem = open_authority(self.directory, NOW).pem
        with answering({"/ca.pem": (200, pem)}) as url:
            found = self.ask(url, NO_PROXY="db.test", JAVA_TOOL_OPTIONS="-Xmx1g")
        self.assertEqual(found["HTTPS_PROXY"], url.replace("//", "//shop:-@"))
        self.assertEqual(found["NO_PROXY"], f"{url.removeprefix('http://')},db.test")
        self.assertEqual(found["SSL_CERT_FILE"], str(self.directory / "bundle.pem"))
        self.assertTrue(found["JAVA_TOOL_OPTIONS"].startswith("-Xmx1g -Dhttp.proxyHost="))
        self.assertIn("-Dhttp.nonProxyHosts=db.test|*.db.test", found["JAVA_TOOL_OPTIONS"])

    def test_another_authority(self) -> None:
        """The certificate is that of the proxy that answers, not the one that is kept here."""
        mine = open_authority(self.directory, NOW).pem
        theirs = open_authority(Path(self.mktemp()), NOW).pem
        with answering({"/ca.pem": (200, theirs)}) as url:
            found = self.ask(url)
        self.assertIn(theirs.strip(), Path(found["SSL_CERT_FILE"]).read_bytes())
        self.assertEqual(Path(found["DENO_CERT"]).read_bytes(), theirs)
        self.assertEqual((self.directory / CERTIFICATE).read_bytes(), mine)

    def test_no_forward_proxy(self) -> None:
        """A proxy that gives no certificate is none to send everything through."""
        with answering({}) as url:
            self.assertEqual(self.ask(url), {})

    def test_nobody(self) -> None:
        """A proxy that will run here uses the authority here; elsewhere it has to be asked."""
        found = self.ask("http://localhost:2")
        pem = (self.directory / CERTIFICATE).read_bytes()
        self.assertTrue(Path(found["SSL_CERT_FILE"]).read_bytes().startswith(pem.strip()))
        self.assertRaises(NoAnswerError, self.ask, "http://proxy.invalid:2")
