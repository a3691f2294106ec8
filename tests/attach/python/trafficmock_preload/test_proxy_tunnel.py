"""Tunnels, and the answers of the proxy."""

import base64
import hashlib
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from hypothesis import given
from hypothesis import strategies as st
from trafficmock_preload.preload_settings import PreloadSettings
from trafficmock_preload.proxy_tunnel import Tunnels
from twisted.trial.unittest import SynchronousTestCase

OPENED = b"HTTP/1.1 200 Connection established\r\n"


def tunnels(url: str = "http://127.0.0.1:4310", *, sha256: str = "") -> Tunnels:
    variables = {"TRAFFICMOCK_PROXY_URL": url, "TRAFFICMOCK_TOKEN": "t"}
    variables["TRAFFICMOCK_AUTHORITY_SHA256"] = sha256
    return Tunnels(PreloadSettings(variables, lambda: "app"))


@contextmanager
def answering(answer: bytes, *, sha256: str = "") -> Iterator[tuple[Tunnels, list[bytes]]]:
    """Answer one connection, and keep what it sent."""
    heard: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                heard.append(connection.recv(65536))
                connection.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        yield tunnels(f"http://127.0.0.1:{server.getsockname()[1]}", sha256=sha256), heard
        thread.join()


class TunnelTests(SynchronousTestCase):
    """``CONNECT``."""

    def test_wanted(self) -> None:
        """Servers are reached through the proxy, the proxy itself and sockets of files are not."""
        found = tunnels()
        self.assertTrue(found.wants("third.test", 443))
        self.assertTrue(found.wants(b"third.test", 443))
        others = [("127.0.0.1", 4310), ("", 80), (None, 80), ("third.test", None)]
        for host, port in others:
            self.assertFalse(found.wants(host, port), host)
        self.assertTrue(Tunnels(None, "wrong").wants("third.test", 443))

    def test_proxy_url(self) -> None:
        """The URL of our proxy is known, with and without credentials."""
        found = tunnels()
        for url in ("http://127.0.0.1:4310", "http://shop:-@localhost:4310/"):
            self.assertTrue(found.is_proxy_url(url), url)
        for other in ("http://company:3128", "http://127.0.0.1:4311", "", None, "http://[::1"):
            self.assertFalse(found.is_proxy_url(other), other)

    def test_request(self) -> None:
        """It names the server, who asks, and that an attached process does."""
        head = tunnels().request("b\u00fccher.test", 443).decode("ascii")
        self.assertTrue(head.startswith("CONNECT xn--bcher-kva.test:443 HTTP/1.1\r\n"))
        self.assertIn(f"Basic {base64.b64encode(b'app:t').decode()}\r\n", head)
        process = rf"python; pid={os.getpid()}; command=\S+"
        self.assertRegex(head, rf"\r\nTrafficmock-Agent: {process}\r\n\r\n$")
        self.assertIn(b"CONNECT [::1]:80 ", tunnels().request("::1", 80))

    def test_reads_contexts(self) -> None:
        """It says whether the process tells of the contexts that come in, as soon as it does."""
        found = tunnels()
        found.request("a.test", 80)
        found.reads_contexts = lambda: True
        self.assertIn(
            b"\r\nTrafficmock-Agent: python; seen-contexts; pid=", found.request("a.test", 80)
        )

    def test_tests(self) -> None:
        """It says that tests run in this process, and not in a child by ``fork``."""
        found = tunnels()
        found.tests_pid = os.getpid()
        self.assertIn(b"\r\nTrafficmock-Agent: python; tests; pid=", found.request("a.test", 80))
        self.patch(os, "getpid", lambda: found.tests_pid + 1)
        self.assertNotIn(b"tests;", found.request("a.test", 80))

    def test_origins(self) -> None:
        """It says whether the process can tell of origins, and hears whether it is to."""
        found, asked = tunnels(), list[bool]()
        found.tells_origins, found.asked = True, asked.append
        self.assertIn(b"\r\nTrafficmock-Agent: python; origins; pid=", found.request("a.test", 80))
        for line in (b"Trafficmock-Origins: wanted\r\n", b""):
            found.authority(OPENED + line + b"\r\n")
        self.assertEqual(asked, [True, False])

    def test_opened(self) -> None:
        """A tunnel that the proxy reads comes with its authority, another one without."""
        line = b"Trafficmock-Authority: " + base64.b64encode(b"DER") + b"\r\n"
        for answer, wanted in ((OPENED + line + b"\r\n", b"DER"), (OPENED + b"\r\n", None)):
            with answering(answer) as (found, heard):
                opened = found.open_socket(("third.test", 443), 30)
                self.assertEqual(found.authority_of(opened), wanted)
                opened.close()
            self.assertIn(b"CONNECT third.test:443 ", heard[0])

    def test_other_authority(self) -> None:
        """Only the authority of the environment is trusted, if it names one."""
        right = hashlib.sha256(b"DER").hexdigest()
        head = OPENED + b"Trafficmock-Authority: " + base64.b64encode(b"DER") + b"\r\n\r\n"
        for sha256 in (right, right.upper()):
            self.assertEqual(tunnels(sha256=sha256).authority(head), b"DER")
        rogue = head.replace(base64.b64encode(b"DER"), base64.b64encode(b"ROGUE"))
        self.assertEqual(tunnels().authority(rogue), b"ROGUE")
        with answering(rogue, sha256=right) as (found, _):
            error = self.assertRaises(
                ConnectionRefusedError, found.open_socket, ("third.test", 443), 30
            )
        self.assertIn("has another certificate authority", str(error))
        unread = tunnels(sha256=right).authority(OPENED + b"\r\n")
        self.assertIsNone(unread, "TLS in it is verified as without a proxy")

    def test_refused(self) -> None:
        """A proxy that opens none is a refused connection, with its own words."""
        answer = b'HTTP/1.1 407 X\r\n\r\n{"message": "The token is wrong."}'
        for said, words in (
            (answer, "The token is wrong."),
            (b"HTTP/1.1 502 X\r\n\r\n", "status 502"),
            (b"no HTTP\r\n\r\n", "Protocol error"),
        ):
            with answering(said) as (found, _):
                error = self.assertRaises(
                    ConnectionRefusedError, found.open_socket, ("third.test", 443), 30
                )
            self.assertIn(words, str(error))
            self.assertIn("trafficmock at 127.0.0.1:", str(error))

    def test_closed(self) -> None:
        """A proxy that hangs up is a connection that was reset."""
        with answering(b"HTTP/1.1 200") as (found, _):
            error = self.assertRaises(
                ConnectionResetError, found.open_socket, ("third.test", 443), 30
            )
        self.assertIn("closed the connection", str(error))

    def test_gone(self) -> None:
        """Where the proxy is gone, the connection is refused, and the text says by whom."""
        with socket.create_server(("127.0.0.1", 0)) as server:
            url = f"http://127.0.0.1:{server.getsockname()[1]}"
        error = self.assertRaises(
            ConnectionRefusedError, tunnels(url).open_socket, ("third.test", 443), 30
        )
        self.assertIn("cannot be reached (Connection refused)", str(error))

    def test_wrong_variable(self) -> None:
        """Where a variable is wrong, each connection is refused with the reason."""
        error = self.assertRaises(
            ConnectionRefusedError, Tunnels(None, "URL is wrong").open_socket, ("a.test", 443)
        )
        self.assertIn("URL is wrong", str(error))

    @given(st.binary(max_size=80))
    def test_any_answer(self, answer: bytes) -> None:
        """Any answer opens a tunnel, or refuses it."""
        try:
            tunnels().authority(answer)
        except ConnectionRefusedError as error:
            self.assertIn("opens no tunnel", str(error))


class EndTests(SynchronousTestCase):
    """Whether the proxy is gone, where a connection was closed."""

    def test_answers(self) -> None:
        """One that answers is there."""
        with answering(b"HTTP/1.1 200 Noted\r\n\r\n") as (found, heard):
            self.assertFalse(found.has_ended())
        self.assertIn(b"Trafficmock-Notice: tests", heard[0])

    def test_silent(self) -> None:
        """One that takes the connection and closes it has ended, as one that takes none."""
        with answering(b"") as (found, _):
            self.assertTrue(found.has_ended())
        self.assertTrue(found.has_ended())
