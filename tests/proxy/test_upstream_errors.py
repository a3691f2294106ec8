"""What goes wrong, in words."""

import errno
import json

from msgspec import UNSET
from OpenSSL import SSL
from service_identity import VerificationError
from twisted.internet import error as network
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.proxy.http1.heads import BadMessageError
from trafficmock.proxy.upstream_errors import UpstreamError, error_response, upstream_error


class ExplainTests(SynchronousTestCase):
    """Exceptions on the way to a server."""

    def test_each(self) -> None:
        """Each kind has its status and code, and the server is named."""
        for error, status, code in (
            (network.DNSLookupError(), 502, "upstream_unreachable"),
            (network.ConnectionRefusedError(), 502, "upstream_unreachable"),
            (network.NoRouteError(), 502, "upstream_unreachable"),
            (network.TimeoutError(), 504, "upstream_timeout"),
            (network.ConnectionLost(), 502, "upstream_closed"),
            (network.ConnectionDone(), 502, "upstream_closed"),
            (SSL.Error([("SSL routines", "", "certificate verify failed")]), 502, "upstream_tls"),
            (SSL.Error(), 502, "upstream_tls"),
            (VerificationError([]), 502, "upstream_tls"),
            (BadMessageError("No."), 502, "upstream_malformed"),
            (ValueError("x"), 502, "upstream_error"),
            (None, 502, "upstream_error"),
        ):
            description = upstream_error(error, "http://a.test")
            self.assertEqual((description.status, description.code), (status, code), error)
            self.assertTrue(description.text.startswith("http://a.test: "), description.text)

    def test_errno(self) -> None:
        """The errno is that of the operating system, else the one of the kind, else none."""
        for error, name in (
            (network.ConnectionLost(), "ECONNRESET"),
            (network.ConnectError(errno.ENETUNREACH, "x"), "ENETUNREACH"),
            (network.ConnectError(), "EHOSTUNREACH"),
            (OSError(errno.EMFILE, "x"), "EMFILE"),
            (ValueError("x"), None),
            (None, None),
        ):
            found = upstream_error(error, "http://a.test")
            self.assertEqual(found.errno, name, error)
            self.assertEqual(found.serialized().code, UNSET if name is None else name)

    def test_known(self) -> None:
        """What is explained already stays."""
        known = UpstreamError("x", code="y")
        self.assertIs(upstream_error(known, "z"), known)

    def test_reason(self) -> None:
        """TLS says what it did not like."""
        error = SSL.Error([("SSL routines", "", "certificate verify failed")])
        self.assertIn("certificate verify failed", upstream_error(error, "a").text)


class AnswerTests(SynchronousTestCase):
    """Answers of our own."""

    def test_shape(self) -> None:
        """JSON with code and message, both also told from a server's by ``via``."""
        whole = error_response(502, "upstream_closed", "It closed.", headers=[(b"a", b"b")])
        head, _, body = whole.partition(b"\r\n\r\n")
        self.assertEqual(json.loads(body), {"error": "upstream_closed", "message": "It closed."})
        status = b"proxy-status: trafficmock; error=connection_terminated; "
        status += b'details="upstream_closed"'
        via = b"via: 1.1 trafficmock (upstream_closed)"
        for line in (status, via, b"connection: close", b"a: b"):
            self.assertIn(line, head.split(b"\r\n"))
        self.assertNotIn(b"connection", error_response(502, "x", "y", keep=True))
        self.assertTrue(error_response(502, "x", "y", head_only=True).endswith(b"\r\n\r\n"))

    def test_local(self) -> None:
        """An answer for which no server was asked says so in ``proxy-status``."""
        written = error_response(400, "bad_request", "x")
        status = b'proxy-status: trafficmock; error=proxy_internal_response; details="bad_request"'
        self.assertIn(status, written.split(b"\r\n"))
