"""What a process tells the proxy that is not a request."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from trafficmock_preload import hooks
from trafficmock_preload.current_context import TestContexts
from trafficmock_preload.preload_settings import PreloadSettings
from trafficmock_preload.proxy_tunnel import Tunnels
from twisted.trial.unittest import SynchronousTestCase

A, B = "a" * 32, "b" * 32
BAGGAGE = f"trafficmock.test={A}"
REQUEST = "GET", "/buy"


class Attached:
    """A process whose proxy only notes what comes.

    :ivar seconds: its clock.
    """

    def __init__(self, port: int) -> None:
        variables = {
            "TRAFFICMOCK_PROXY_URL": f"http://127.0.0.1:{port}",
            "TRAFFICMOCK_IGNORE_HOSTS": "pay.test localhost:5432 10.0.0.1",
        }
        self.seconds = 0.0
        self.tunnels = Tunnels(PreloadSettings(variables, lambda: "shop"))
        self.contexts = TestContexts(30)
        hooks.give_notices(self.tunnels, self.contexts, lambda: self.seconds)


class NoticeTests(SynchronousTestCase):
    """Each is one connection with one head."""

    @contextmanager
    def told(self) -> Iterator[tuple[Attached, list[tuple[str, str, str]]]]:
        """Give a process, and at the end target, kind and context of what it has told."""
        heads: list[bytes] = []
        with socket.create_server(("127.0.0.1", 0)) as server:

            def serve() -> None:
                while True:
                    opened, _ = server.accept()
                    with opened, opened.makefile("rb") as file:
                        head = file.read()
                    if not head:
                        return
                    heads.append(head)

            thread = threading.Thread(target=serve)
            thread.start()
            found: list[tuple[str, str, str]] = []
            port: int = server.getsockname()[1]
            try:
                yield Attached(port), found
            finally:
                socket.create_connection(("127.0.0.1", port)).close()
                thread.join()
        for head in heads:
            first, *lines = head.decode().split("\r\n")
            fields = dict(line.split(": ", 1) for line in lines if line)
            self.assertTrue(fields["Trafficmock-Agent"].startswith("python; origins; pid="))
            self.assertTrue(fields["Proxy-Authorization"].startswith("Basic "))
            target = first.split()[1]
            found.append((target, fields["Trafficmock-Notice"], fields["Trafficmock-Context"]))

    def test_seen(self) -> None:
        """A context is told once, a trace of the application's own not at all."""
        with self.told() as (process, found):
            for _ in range(2):
                process.contexts.read(BAGGAGE, None, None, REQUEST)
            process.contexts.read(None, f"trafficmock_test={B}", None, REQUEST)
            process.contexts.read(None, None, f"00-{'c' * 32}-{'d' * 16}-01", REQUEST)
            process.contexts.read(None, None, None, REQUEST)
        self.assertEqual(
            [(kind, context) for _, kind, context in found], [("seen", A), ("seen", B)]
        )

    def test_own(self) -> None:
        """So is that of a test in this process, when it calls the application."""
        with self.told() as (process, found):
            end = process.contexts.begin_test(A)
            process.contexts.read(None, None, None, REQUEST)
            end()
        self.assertEqual([(kind, context) for _, kind, context in found], [("seen", A)])

    def test_ignored(self) -> None:
        """A connection is told with its context, again after a second; those nearby are not."""
        with self.told() as (process, found):
            context = process.contexts.read(BAGGAGE, None, None, None)
            process.contexts.enter(context)
            for seconds in (0.0, 0.5, 1.0):
                process.seconds = seconds
                self.assertFalse(process.tunnels.wants("pay.test", 443))
            process.contexts.enter(None)
            self.assertFalse(process.tunnels.wants("10.0.0.1", 80))
            self.assertFalse(process.tunnels.wants("localhost", 5432))
            self.assertTrue(process.tunnels.wants("api.test", 443))
        pay = "pay.test:443", "ignored", A
        self.assertEqual(found, [pay, pay, ("10.0.0.1:80", "ignored", "")])

    def test_without_proxy(self) -> None:
        """Without the proxy the application goes on."""
        with socket.create_server(("127.0.0.1", 0)) as server:
            port: int = server.getsockname()[1]
        process = Attached(port)
        found = process.contexts.read(BAGGAGE, None, None, REQUEST)
        self.assertEqual(found and found.id, A)


class AskedTests(SynchronousTestCase):
    """Whether tests with contexts run."""

    def test_asked(self) -> None:
        """The proxy is asked, at most twice a second; without it none run."""
        answers = [b"HTTP/1.1 200 Noted\r\nTrafficmock-Origins: wanted\r\n\r\n", b"HTTP/1.1 200 N"]
        with socket.create_server(("127.0.0.1", 0)) as server:
            attached = Attached(server.getsockname()[1])

            def serve() -> None:
                for answer in answers:
                    connection, _ = server.accept()
                    with connection:
                        connection.recv(65536)
                        connection.sendall(answer)

            thread = threading.Thread(target=serve)
            thread.start()
            found = []
            for seconds in (0.0, 0.4, 0.5):
                attached.seconds = seconds
                found.append(attached.contexts.do_tests_run())
            thread.join()
        self.assertEqual(found, [True, True, False])
        attached.seconds = 9.0
        self.assertFalse(attached.contexts.do_tests_run())
