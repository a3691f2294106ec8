"""Failures that the proxy tells of."""

import errno
import pickle
import socket
import ssl

from hypothesis import given
from hypothesis import strategies as st
from trafficmock_preload.failure_errors import (
    TrafficMockError,
    failure_error,
    is_before_request,
    is_malformed,
)
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.proxy.http1.attached_clients import LONGEST_TEXT, failure_line
from trafficmock.wire.payloads.abort_codes import NETWORK_ERRORS


class FailureTests(SynchronousTestCase):
    """The errors that are made of them."""

    def test_aborts(self) -> None:
        """Each code of an abort is the error that a network makes."""
        for code, kind in (
            ("failed", ConnectionResetError),
            ("connectionreset", ConnectionResetError),
            ("aborted", ConnectionAbortedError),
            ("connectionrefused", ConnectionRefusedError),
            ("timedout", TimeoutError),
            ("namenotresolved", socket.gaierror),
            ("ECONNREFUSED", ConnectionRefusedError),
            ("EHOSTUNREACH", OSError),
        ):
            error = failure_error(f"{code} text")
            self.assertIs(type(error), kind, code)
            assert isinstance(error, OSError)
            after = code in {"failed", "connectionreset", "aborted"}
            self.assertEqual(is_before_request(error), not after, code)

    def test_network_errors(self) -> None:
        """An abort is the same error as in a Node application."""
        for code, wanted in NETWORK_ERRORS.items():
            error = failure_error(f"{code} ")
            assert isinstance(error, OSError)
            if wanted.code == "ENOTFOUND":
                self.assertEqual(error.errno, socket.EAI_NONAME)
            else:
                self.assertEqual(error.errno, -wanted.errno, code)

    def test_text(self) -> None:
        """They say what a network says, with its number."""
        error = failure_error("connectionrefused ")
        assert isinstance(error, OSError)
        self.assertEqual(str(error), "[Errno 111] Connection refused")
        self.assertEqual(error.errno, errno.ECONNREFUSED)

    def test_malformed(self) -> None:
        """What is not HTTP is known, with its text; other errors of a network are not that."""
        error = failure_error("EPROTO its%20answer%20is%20not%20HTTP")
        assert isinstance(error, OSError)
        self.assertTrue(is_malformed(error))
        self.assertEqual(error.strerror, "its answer is not HTTP")
        self.assertFalse(is_malformed(failure_error("connectionreset ")))
        self.assertFalse(is_malformed(failure_error("unmatched_request x")))

    def test_tls(self) -> None:
        """A server whose certificate is not accepted is one of TLS."""
        error = failure_error("ECERT TLS%20failed%20%28certificate%20verify%20failed%29")
        self.assertIsInstance(error, ssl.SSLCertVerificationError)
        self.assertIn("certificate verify failed", str(error))
        self.assertIs(type(failure_error("ECERT TLS%20failed")), ssl.SSLError)

    def test_own(self) -> None:
        """What no network says is no error of a network."""
        error = failure_error("unmatched_request POST%20https%3A%2F%2Fa%2F")
        self.assertIsInstance(error, TrafficMockError)
        self.assertNotIsInstance(error, OSError)
        assert isinstance(error, TrafficMockError)
        self.assertEqual(str(error), "POST https://a/")
        self.assertEqual(error.code, "ERR_TRAFFICMOCK_UNMATCHED_REQUEST")

    def test_pickled(self) -> None:
        """It comes out of a pool of processes as it was."""
        error = pickle.loads(pickle.dumps(failure_error("unmatched_request GET")))  # noqa: S301 - our own
        self.assertEqual((str(error), error.code), ("GET", "ERR_TRAFFICMOCK_UNMATCHED_REQUEST"))

    @given(st.text(max_size=50))
    def test_told(self, text: str) -> None:
        """Any text of the proxy arrives as it was."""
        _, value = failure_line("claim_timeout", text)
        self.assertEqual(str(failure_error(value.decode("ascii"))), text or "claim_timeout")

    def test_long(self) -> None:
        """A long text is cut."""
        _, value = failure_line("claim_timeout", "x" * (LONGEST_TEXT + 1))
        self.assertEqual(len(str(failure_error(value.decode("ascii")))), LONGEST_TEXT)

    @given(st.text(max_size=50))
    def test_any(self, value: str) -> None:
        """Any header is an error."""
        self.assertIsInstance(failure_error(value), Exception)
