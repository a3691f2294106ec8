"""Why connections fail."""

import socket
import ssl

from twisted.trial.unittest import SynchronousTestCase

from trafficmock.connection_errors import why


class WhyTests(SynchronousTestCase):
    """Why nobody answers."""

    def test_words(self) -> None:
        """What the system says by number is said in words."""
        for error, message in (
            (ConnectionRefusedError(111, "Connection refused"), "connection refused"),
            (socket.gaierror(-2, "Name or service not known"), "there is no host of that name"),
            (TimeoutError("timed out"), "it does not answer in time"),
            (ConnectionResetError(), "ConnectionResetError"),
            ("unknown url type", "unknown url type"),
        ):
            self.assertEqual(why(error), message)

    def test_certificate(self) -> None:
        """A certificate that is not trusted is said to be so, with the reason."""
        error = ssl.SSLCertVerificationError(1, "[SSL: VERIFY_FAILED] (_ssl.c:1006)")
        error.verify_message = "self-signed certificate"
        self.assertEqual(why(error), "its certificate is not trusted (self-signed certificate)")
