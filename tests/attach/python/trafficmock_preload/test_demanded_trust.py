"""What an application's TLS context demands of a server."""

import hashlib
import ssl
from pathlib import Path
from typing import Any

import httpx
from OpenSSL import SSL
from trafficmock_preload import demanded_trust
from trafficmock_preload.demanded_trust import (
    CLIENT_CERTIFICATE,
    PINNED,
    REVOCATION,
    SERVER_HTTP_2_ONLY,
    _is_usual,
    demand_lines,
    note_contents,
    roots_named,
    why_alone,
)
from twisted.trial.unittest import SynchronousTestCase
from urllib3.util.ssl_ import create_urllib3_context

from tests.support.self_signed import write_certificate


class Noted(ssl.SSLContext):
    """A context whose contents are noted, as the preload notes those of all contexts."""


note_contents(Noted)


class DemandTests(SynchronousTestCase):
    """The header lines of a CONNECT."""

    def setUp(self) -> None:
        folder = Path(self.mktemp())
        folder.mkdir()
        self.file = write_certificate(folder)
        self.context: Any = Noted(ssl.PROTOCOL_TLS_CLIENT)
        text = self.file.read_text()
        end = "-----END CERTIFICATE-----"
        self.pem = text[: text.index(end) + len(end)]
        self.der = ssl.PEM_cert_to_DER_cert(self.pem)

    def trust(self) -> str:
        lines = demand_lines(self.context).decode()
        return lines.removeprefix("Trafficmock-Trust: ").removesuffix("\r\n")

    def test_usual(self) -> None:
        """Nothing is said for the machine's roots, and for no context."""
        self.context.load_default_certs()
        self.assertEqual((demand_lines(self.context), demand_lines(None)), (b"", b""))

    def test_http_2(self) -> None:
        """A library that offers HTTP/2, too, says so, unless there is another reason."""
        lines = demand_lines(self.context, offers_http_2=True)
        self.assertEqual(why_alone(lines), SERVER_HTTP_2_ONLY)
        self.context.load_cert_chain(self.file)
        lines = demand_lines(self.context, offers_http_2=True)
        self.assertEqual(why_alone(lines), CLIENT_CERTIFICATE)

    def test_usual_files(self) -> None:
        """The files of the variables, of certifi and of the machine are usual."""
        variables = {"REQUESTS_CA_BUNDLE": "/bundle.pem"}
        usual = (None, "/bundle.pem", b"/bundle.pem", "/x/site-packages/certifi/cacert.pem")
        for path in usual:
            self.assertTrue(_is_usual(path, variables), path)
        others: tuple[Any, ...] = ("/other.pem", "/x/stripe/data/ca.crt", Path("/a/b.pem"))
        for other in others:
            self.assertFalse(_is_usual(other, variables), other)

    def test_roots(self) -> None:
        """Other roots are named by their digest, whichever way they were loaded."""
        found = set()
        for given in ({"cafile": str(self.file)}, {"cadata": self.pem}, {"cadata": self.der}):
            self.context = Noted(ssl.PROTOCOL_TLS_CLIENT)
            self.context.load_verify_locations(**given)
            found.add(self.trust())
        (text,) = found
        name = text.removeprefix("roots=")
        pem = roots_named(name)
        self.assertEqual(hashlib.sha256(pem).hexdigest(), name)
        self.assertEqual(ssl.PEM_cert_to_DER_cert(pem.decode()), self.der)
        self.assertEqual(roots_named("0" * 64), b"")

    def test_directory(self) -> None:
        """The files of a directory count, which OpenSSL reads later."""
        self.context.load_verify_locations(capath=str(self.file.parent))
        self.assertIn("roots=", self.trust())

    def test_added(self) -> None:
        """Roots that come later count, too."""
        self.context.load_verify_locations(cadata=self.pem)
        before = self.trust()
        folder = Path(self.mktemp())
        folder.mkdir()
        self.context.load_verify_locations(str(write_certificate(folder)))
        self.assertNotEqual(self.trust(), before)

    def test_unverified(self) -> None:
        """Without verification the roots do not matter."""
        self.context.load_verify_locations(cadata=self.pem)
        self.context.check_hostname = False
        self.assertIn("name=0; roots=", self.trust())
        self.context.verify_mode = ssl.CERT_NONE
        self.assertEqual(self.trust(), "verify=0")

    def test_left_alone(self) -> None:
        """A client certificate and a pin need the TLS of the server itself."""
        self.assertEqual(why_alone(demand_lines(self.context)), "")
        self.assertEqual(why_alone(demand_lines(self.context, reason="other")), "other")
        pinned = demand_lines(self.context, "ab" * 32)
        self.assertEqual(why_alone(pinned), PINNED)
        self.assertIn(b"Trafficmock-Trust: pin=abab", pinned)
        self.context.load_cert_chain(self.file)
        self.assertEqual(why_alone(demand_lines(self.context)), CLIENT_CERTIFICATE)

    def test_versions(self) -> None:
        """A context's own versions of TLS are told; those of a context of this Python are usual."""
        self.assertEqual(demand_lines(self.context), b"")
        self.context.minimum_version = ssl.TLSVersion.TLSv1_2
        self.assertEqual(demand_lines(self.context), b"")
        self.context.minimum_version = ssl.TLSVersion.TLSv1_3
        self.assertEqual(self.trust(), "min=1.3")
        self.context.minimum_version = ssl.TLSVersion.TLSv1_1
        self.context.maximum_version = ssl.TLSVersion.TLSv1_2
        self.assertEqual(self.trust(), "min=1.1; max=1.2")

    def test_usual_least(self) -> None:
        """An older version is not told, if every context of this Python speaks it."""
        self.patch(demanded_trust, "_usual_least", lambda: "1.0")
        self.context.minimum_version = ssl.TLSVersion.MINIMUM_SUPPORTED
        self.assertEqual(demand_lines(self.context), b"")

    def test_options(self) -> None:
        """Versions may be left out by options, as before Python 3.7."""

        class Older:
            options = ssl.OP_NO_TLSv1_2 | ssl.OP_NO_TLSv1_1

        self.assertEqual(demand_lines(Older()), b"Trafficmock-Trust: min=1.3\r\n")
        Older.options = ssl.OP_NO_TLSv1_3
        self.assertEqual(demand_lines(Older()), b"Trafficmock-Trust: max=1.2\r\n")
        Older.options |= ssl.OP_NO_TLSv1_2
        self.assertEqual(demand_lines(Older()), b"Trafficmock-Trust: min=1.3; max=1.2\r\n")

    def test_ciphers(self) -> None:
        """The ciphers that a context was given are told, without those of TLS 1.3."""
        self.context.set_ciphers("ECDHE-RSA-AES128-GCM-SHA256:AES256-SHA:@SECLEVEL=0")
        level = "; level=0" if hasattr(self.context, "security_level") else ""
        self.assertEqual(self.trust(), f"ciphers=ECDHE-RSA-AES128-GCM-SHA256:AES256-SHA{level}")
        self.context.check_hostname = False
        self.context.verify_mode = ssl.CERT_NONE
        self.assertIn("verify=0; ciphers=ECDHE", self.trust())

    def test_ciphers_of_pyopenssl(self) -> None:
        """So are those of a context of pyOpenSSL, which has no list of them."""

        class Within:
            _ctx = SSL.Context(SSL.TLS_CLIENT_METHOD)
            minimum_version = ssl.TLSVersion.TLSv1_2

            def load_cert_chain(self) -> None: ...

            def load_verify_locations(self) -> None: ...

            def set_ciphers(self, text: str) -> None:
                self._ctx.set_cipher_list(text.encode())

        note_contents(Within)
        context = Within()
        context.set_ciphers("AES256-SHA")
        self.assertEqual(demand_lines(context), b"Trafficmock-Trust: ciphers=AES256-SHA\r\n")

    def test_revocation(self) -> None:
        """So does one that looks for revoked certificates, as the proxy does not."""
        for flag in (ssl.VERIFY_CRL_CHECK_LEAF, ssl.VERIFY_CRL_CHECK_CHAIN):
            context = ssl.create_default_context()
            context.verify_flags |= flag
            self.assertEqual(why_alone(demand_lines(context)), REVOCATION)

    def test_usual_contexts(self) -> None:
        """The contexts that libraries make leave nothing alone."""
        for context in (
            ssl.create_default_context(),
            ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
            httpx.create_ssl_context(),
            create_urllib3_context(),
        ):
            self.assertEqual(why_alone(demand_lines(context)), "")

    def test_wrapped(self) -> None:
        """A context around another one, as truststore's, demands what that one does."""
        self.context.load_cert_chain(self.file)

        class Around:
            _ctx = self.context
            verify_mode = ssl.CERT_REQUIRED

        self.assertEqual(why_alone(demand_lines(Around())), CLIENT_CERTIFICATE)
