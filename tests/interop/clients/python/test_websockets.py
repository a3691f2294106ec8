"""Clients for WebSockets that are attached when they are asked for, in several versions."""

import json
import os
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from twisted.trial.unittest import SynchronousTestCase
from websockets.sync.server import serve

from tests.interop.clients.python.test_services import clean
from tests.support.hypothesis_profiles import DEEP
from tests.support.processes.proxy_process import free_port, running_proxy
from trafficmock.attach.python_preload import DIRECTORY
from trafficmock.testing import sync

PROGRAM = Path(__file__).parent / "socket_calls.py"
SECONDS = 120


class Listener:
    """A server that ends each connection after its first words, which it keeps."""

    def __init__(self) -> None:
        self.heard: list[bytes] = []
        self._port = socket.create_server(("127.0.0.1", 0))
        self.number = self._port.getsockname()[1]
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        while True:
            try:
                connection, _ = self._port.accept()
            except OSError:
                return
            self.heard.append(connection.recv(65536))
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            connection.close()

    def close(self) -> None:
        """End it."""
        self._port.shutdown(socket.SHUT_RDWR)
        self._port.close()


class AttachedSocketTests(SynchronousTestCase):
    """A client does with the preload what it does without, but for what a test decides."""

    if not DEEP:
        skip = "only with TRAFFICMOCK_DEEP=1"

    def setUp(self) -> None:
        self.stack = stack = ExitStack()
        self.addCleanup(stack.close)
        echo = serve(lambda connection: connection.send(connection.recv()), "127.0.0.1", 0)
        stack.callback(echo.shutdown)
        threading.Thread(target=echo.serve_forever, daemon=True).start()
        self.listener = Listener()
        stack.callback(self.listener.close)
        self.proxy = stack.enter_context(
            running_proxy(
                "--ca-dir", str(Path(self.mktemp()).absolute()), "--strict", "--allow", "127.0.0.1"
            )
        )
        mocks = stack.enter_context(sync.mocks(self.proxy.url))
        mocks.route_web_socket("*://third.test/**", lambda one: one.send("from the test"))
        self.url = f"ws://127.0.0.1:{echo.socket.getsockname()[1]}/"
        self.package = ""

    def outcomes(self, client: str, lines: Sequence[str], **variables: str) -> list[Any]:
        path = os.pathsep.join([*([str(DIRECTORY)] if variables else []), self.package])
        done = subprocess.run(
            [sys.executable, str(PROGRAM), client],
            input="\n".join(lines),
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=True,
            env={**clean(), "PYTHONPATH": path, **variables},
        )
        self.assertEqual(done.stderr, "")
        return [json.loads(line) for line in done.stdout.splitlines()]

    def compare(self, package: str, *clients: str) -> None:
        """Compare clients of a package, which is installed beside everything else."""
        self.package = str(Path(self.mktemp()).absolute())
        install = ["pip", "install", "--quiet", "--no-deps", "--target", self.package, package]
        subprocess.run([sys.executable, "-m", *install], check=True, timeout=SECONDS, env=clean())
        nobody = f"ws://127.0.0.1:{free_port()}/"
        lost = f"ws://127.0.0.1:{self.listener.number}/"
        for client in clients:
            without = self.outcomes(client, [self.url, nobody, lost])
            asked = {"TRAFFICMOCK_PROXY_URL": self.proxy.url, "TRAFFICMOCK_WEBSOCKET": "all"}
            mocked = ["ws://third.test/", "wss://third.test/", "ws://fourth.test/"]
            lines = [self.url, nobody, lost, *mocked]
            passed, refused, reset, plain, secure, strict = self.outcomes(client, lines, **asked)
            self.assertEqual(passed, without[0], client)
            self.assertEqual(refused["error"], without[1]["error"], client)
            self.assertIn("[Errno 111] Conn", refused["text"], client)
            self.assertIn(reset["error"], {without[2]["error"], "InvalidMessage"}, client)
            for found in (plain, secure):
                self.assertEqual(found, {"value": "from the test"}, client)
            self.assertEqual(strict["error"], "TrafficMockError", client)
        rows = self.proxy.get("/api/ws")["connections"]
        self.assertGreaterEqual(len(rows), 4 * len(clients))

    def check_own_proxy(self, client: str) -> None:
        """Make sure that a proxy which the application chooses is used, and ours is not."""
        asked = {"TRAFFICMOCK_PROXY_URL": self.proxy.url, "TRAFFICMOCK_WEBSOCKET": "all"}
        own = f"http://127.0.0.1:{self.listener.number}"
        (found,) = self.outcomes(client, [f"ws://third.test/ {own}"], **asked)
        self.assertIn("error", found)
        self.assertTrue(self.listener.heard[-1].startswith(b"CONNECT third.test:80 "))

    def test_websockets_10(self) -> None:
        """The client for asyncio of version 10."""
        self.compare("websockets==10.4", "legacy")

    def test_websockets_11(self) -> None:
        """The first client for threads."""
        self.compare("websockets==11.0.3", "sync", "legacy")

    def test_websockets_13(self) -> None:
        """The first version of today's client for asyncio; it knows no proxies."""
        self.compare("websockets==13.1", "sync", "new", "legacy")

    def test_websockets_15(self) -> None:
        """The first version that reads proxies from the environment."""
        self.compare("websockets==15.0.1", "sync", "new")
        for client in ("sync", "new"):
            self.check_own_proxy(client)

    def test_websockets(self) -> None:
        """The newest version, which has a client for trio too."""
        clients = ("sync", "new", "trio")
        self.compare("websockets", *clients)
        for client in clients:
            self.check_own_proxy(client)

    def test_websocket_client(self) -> None:
        """websocket-client, an old version and the newest."""
        for package in ("websocket-client==1.0.0", "websocket-client"):
            self.compare(package, "websocket_client")
            self.check_own_proxy("websocket_client")
