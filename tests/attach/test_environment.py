"""Everything put together."""

import datetime as dt
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from twisted.trial.unittest import SynchronousTestCase

from tests.attach.listening import answering
from trafficmock.attach import environment
from trafficmock.attach.environment import Attachment, forward_variables
from trafficmock.attach.proxy_variables import ProxyAddress
from trafficmock.attach.python_preload import DIRECTORY
from trafficmock.attach.rest_probe import AttachError, NoAnswerError
from trafficmock.certificates.authority import CERTIFICATE, open_authority

NOW = dt.datetime(2030, 1, 1, tzinfo=dt.UTC)


PRELOAD = Path("/somewhere/register.js")


class AttachmentTests(SynchronousTestCase):
    """The whole environment of an application."""

    def setUp(self) -> None:
        self.patch(environment, "forward_variables", lambda *_: {"HTTP_PROXY": "there"})

    def test_variables(self) -> None:
        """URL, token, client id, agent and proxy are set; what is not given stays unset."""
        full = Attachment.of({}, url="http://x:1", token="t", client_id="c", preload=PRELOAD)
        self.assertEqual(
            full.variables(),
            {
                "TRAFFICMOCK_PROXY_URL": "http://x:1",
                "TRAFFICMOCK_TOKEN": "t",
                "TRAFFICMOCK_CLIENT_ID": "c",
                "NODE_OPTIONS": '--require "/somewhere/register.js"',
                "BUN_OPTIONS": "--preload=/somewhere/register.js",
                "TURBO_ENV_MODE": "loose",
                "HTTP_PROXY": "there",
            },
        )
        bare = Attachment.of({}, preload=PRELOAD).variables()
        ours = ["BUN_OPTIONS", "HTTP_PROXY", "NODE_OPTIONS", "TRAFFICMOCK_PROXY_URL"]
        self.assertEqual(sorted(bare), [*ours, "TURBO_ENV_MODE"])

    def test_whole(self) -> None:
        """The environment is the given one, with our variables in place of its own."""
        base = {"PATH": "/bin", "HTTP_PROXY": "http://company:3128", "TRAFFICMOCK_CLIENT_ID": "x"}
        found = Attachment.of(base, client_id="shop", preload=PRELOAD).environment()
        self.assertEqual((found["PATH"], found["HTTP_PROXY"]), ("/bin", "there"))
        self.assertEqual(found["TRAFFICMOCK_CLIENT_ID"], "shop")
        self.assertEqual(base["HTTP_PROXY"], "http://company:3128")

    def test_base_and_arguments(self) -> None:
        """Arguments win over what the base says, and the default is the local proxy."""
        base = {
            "TRAFFICMOCK_PROXY_URL": "http://env:1/",
            "TRAFFICMOCK_TOKEN": "env",
            "TRAFFICMOCK_CLIENT_ID": "env",
        }
        found = Attachment.of(base).address
        self.assertEqual(found, ProxyAddress("http", "env", 1, "env", "env"))
        found = Attachment.of(base, url="http://said:2", token="said", client_id="me").address
        self.assertEqual(found, ProxyAddress("http", "said", 2, "me", "said"))
        self.assertEqual(Attachment.of({}).address.base_url, "http://127.0.0.1:4310")

    def test_npm_agent(self) -> None:
        """Without our agent the npm packages' finds the proxy; beside ours it would not be once."""
        found = Attachment.of({}, url="http://x:1", token="t", forward_proxy=False).variables()
        self.assertEqual(
            found,
            {
                "TRAFFICMOCK_PROXY_URL": "http://x:1",
                "PLAYWRIGHT_BACKEND_MOCKS_PROXY_URL": "http://x:1",
                "TRAFFICMOCK_TOKEN": "t",
                "PLAYWRIGHT_BACKEND_MOCKS_TOKEN": "t",
                "PYTHONPATH": str(DIRECTORY),
            },
        )

    def test_no_forward_proxy_for_python(self) -> None:
        """The preload needs no variables of proxies; over https it cannot connect."""
        for url, base, found in (
            ("http://x:1", {"PYTHONPATH": "/a"}, f"{DIRECTORY}:/a"),
            ("http://x:1", {"TRAFFICMOCK_PYTHON_PRELOAD": "0"}, None),
            ("https://x:1", {}, None),
        ):
            made = Attachment.of(base, url=url, forward_proxy=False).variables()
            self.assertEqual(made.get("PYTHONPATH"), found)
            self.assertNotIn("HTTPS_PROXY", made)

    def test_directory(self) -> None:
        """Certificates are where the argument says, else where the base says."""
        base = {"XDG_DATA_HOME": "/data"}
        self.assertEqual(Attachment.of(base).ca_directory, Path("/data/trafficmock/ca"))
        self.assertEqual(Attachment.of(base, ca_directory="/c").ca_directory, Path("/c"))

    def test_refused(self) -> None:
        """An invalid URL is refused, and so is a client id that credentials cannot carry."""
        error = self.assertRaises(AttachError, Attachment.of, {}, url="x")
        self.assertIn("URL must look like http://127.0.0.1:4310, not 'x'", str(error))
        error = self.assertRaises(AttachError, Attachment.of, {}, client_id="a:b")
        self.assertIn("'a:b' must not contain a colon", str(error))

    def test_unprintable_client_id(self) -> None:
        """A client id with a line break is refused wherever it was given; an odd one is not."""
        shown = "the client id 'a\\nb' has a line break"
        base = {"TRAFFICMOCK_CLIENT_ID": "a\nb"}
        for given in ({"client_id": "a\nb"}, {"base": base}, {"url": "http://a%0Ab:t@x:1"}):
            error = self.assertRaises(AttachError, Attachment.of, **({"base": {}} | given))
            self.assertIn(shown, str(error))
        odd = Attachment.of({}, client_id="@shop/web é (2)").address.client_id
        self.assertEqual(odd, "@shop/web é (2)")


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
            found = self.ask(url, NO_PROXY="localhost,db.test", JAVA_TOOL_OPTIONS="-Xmx1g")
        self.assertEqual(found["HTTPS_PROXY"], url.replace("//", "//shop:-@"))
        self.assertEqual(found["NO_PROXY"], f"{url.removeprefix('http://')},localhost")
        self.assertEqual(found["SSL_CERT_FILE"], str(self.directory / "bundle.pem"))
        self.assertTrue(found["JAVA_TOOL_OPTIONS"].startswith("-Xmx1g -Dhttp.proxyHost="))
        self.assertIn("-Dhttp.nonProxyHosts=localhost|*.localhost", found["JAVA_TOOL_OPTIONS"])

    def test_strict(self) -> None:
        """NO_PROXY is not applied, in any variable, and that is said; so is what is not seen."""
        pem = open_authority(self.directory, NOW).pem
        present = {"NO_PROXY": "db.test,localhost", "TRAFFICMOCK_IGNORE_HOSTS": "a.test"}
        for strict in (b"true", b"false"):
            health = b'{"ok": true, "strict": %s}' % strict
            with answering({"/ca.pem": (200, pem), "/health": (200, health)}) as url:
                found = self.ask(url, **present)
                note = Attachment.of(present, url=url).direct_note()
                quiet = Attachment.of({"NO_PROXY": "localhost"}, url=url).direct_note()
                given = Attachment.of({}, url=url, no_proxy="b.test").direct_note()
            self.assertNotIn("db.test", found["NO_PROXY"])
            self.assertNotIn("db.test", found["JAVA_TOOL_OPTIONS"])
            self.assertIn("localhost", found["NO_PROXY"])
            self.assertIsNone(quiet)
            self.assertIn("through the proxy: db.test", str(note))
            unseen = "strict mode does not see all requests to"
            self.assertEqual(f"{unseen} a.test" in str(note), strict == b"true")
            self.assertEqual(f"{unseen} b.test" in str(given), strict == b"true")

    def test_fingerprint(self) -> None:
        """The application is told which authority the proxy has."""
        pem = open_authority(self.directory, NOW).pem
        with answering({"/ca.pem": (200, pem)}) as url:
            found = self.ask(url)["TRAFFICMOCK_AUTHORITY_SHA256"]
        certificate = x509.load_pem_x509_certificate(pem)
        self.assertEqual(found, certificate.fingerprint(hashes.SHA256()).hex())

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
        """A proxy that gives no certificate is not used for all requests."""
        with answering({}) as url:
            self.assertEqual(self.ask(url), {})

    def test_nobody(self) -> None:
        """A proxy that will run here uses the authority here; elsewhere it has to be asked."""
        found = self.ask("http://localhost:2")
        pem = (self.directory / CERTIFICATE).read_bytes()
        self.assertTrue(Path(found["SSL_CERT_FILE"]).read_bytes().startswith(pem.strip()))
        self.assertRaises(NoAnswerError, self.ask, "http://proxy.invalid:2")
