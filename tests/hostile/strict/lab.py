"""What is attacked: a service, applications that never rest, and the upstream that counts."""

from __future__ import annotations

import contextlib
import http.client
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, Self

from attrs import define

from tests.support.processes.child_process import Child
from tests.support.processes.node_parts import node_binary
from tests.support.processes.proxy_process import REPOSITORY, free_port, get
from tests.support.threaded_server import threaded_server
from tests.support.waiting import wait_until
from tests.testing.runs import attached

HERE = Path(__file__).parent
HOSTS = ("pay.test", "ok.test")
ALLOWED = "ok.test"
EVERY_MS = "4"
SECONDS = 30.0

chance = random.Random()  # noqa: S311 - for attacks
"""Says when to strike; whoever repeats an attack seeds it."""


def now_ms() -> int:
    return time.time_ns() // 10**6


@define
class Seen:
    """A request that reached the upstream.

    :param began: when the application began it; epoch milliseconds.
    """

    host: str
    began: int
    kind: str


class Relay:
    """A way to the service that can be cut, and can stop carrying anything."""

    def __init__(self, port: int) -> None:
        self._to = port
        self._open: set[socket.socket] = set()
        self._flows = threading.Event()
        self._flows.set()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                try:
                    far = socket.create_connection(("127.0.0.1", self._to))
                except OSError:
                    near.close()
                    continue
                self._open |= {near, far}
                for pair in ((near, far), (far, near)):
                    threading.Thread(target=self._carry, args=pair, daemon=True).start()

    def _carry(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                self._flows.wait()
                target.sendall(data)
        for each in (source, target):
            self._open.discard(each)
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def cut(self) -> None:
        """End all connections."""
        for each in list(self._open):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def hold(self, seconds: float) -> None:
        """Carry nothing for a while."""
        self._flows.clear()
        time.sleep(seconds)
        self._flows.set()

    def close(self) -> None:
        self._listener.close()
        self.cut()


class Lab:
    """All of it, on one port that stays the same over restarts.

    :param local: whether agents decide by themselves.
    """

    def __init__(self, folder: Path, *, local: bool = True) -> None:
        self.folder = folder
        self.local = "on" if local else "off"
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.seen: list[Seen] = []
        self._stack = ExitStack()
        self._service: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        try:
            self._start()
        except BaseException:
            self._stack.close()
            raise
        return self

    def _start(self) -> None:
        seen = self.seen

        class Upstream(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1

            def handle(self) -> None:
                # Whoever asked may be gone.
                with contextlib.suppress(ConnectionError):
                    super().handle()

            def do_GET(self) -> None:
                _, began, kind = self.path.split("/")
                seen.append(Seen(self.headers["host"].partition(":")[0], int(began), kind))
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Nothing."""

        self.upstream = self._stack.enter_context(threaded_server(Upstream))
        self._stack.callback(self.end_service, signal.SIGKILL)
        self.start_service()
        self.relay = Relay(self.port)
        self._stack.callback(self.relay.close)
        environment = {"UPSTREAM": str(self.upstream), "EVERY": EVERY_MS}
        os.environ.update(environment)
        node = [str(node_binary()), str(HERE / "application.mjs")]
        data = str(self.folder)
        self.app = attached(self.relay.url, node, "--client-id", "node", data=data)
        self._stack.callback(self.app.stop)
        self.app_url = self.app.announced()["url"]
        python = [sys.executable, str(HERE / "application.py")]
        child = attached(self.url, python, "--client-id", "python", data=data)
        self._stack.callback(child.stop)
        self._plain = threading.Event()
        threading.Thread(target=self._ask_plainly, daemon=True).start()
        self._stack.callback(self._plain.set)
        self.until_kinds({"node", "preload", "plain"})

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    # The service

    def start_service(self, *options: str) -> None:
        """Start it, and wait until it answers."""
        resolve = [
            word for host in HOSTS for word in ("--resolve", f"{host}:{self.upstream}:127.0.0.1")
        ]
        command = [sys.executable, "-m", "trafficmock", "serve", "--port", str(self.port)]
        command += ["--ca-dir", str(self.folder / "ca"), "--local", self.local, *resolve, *options]
        with (self.folder / "service.log").open("ab") as log:
            self._service = subprocess.Popen(command, stdout=log, stderr=log, cwd=REPOSITORY)
        self._until_answers()

    def _until_answers(self) -> None:
        # Applications that never rest keep the machine busy.
        deadline = time.monotonic() + 3 * SECONDS
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError, http.client.HTTPException):
                get(f"{self.url}/health")
                return
            time.sleep(0.005)
        raise AssertionError((self.folder / "service.log").read_text())

    def end_service(self, by: signal.Signals) -> None:
        """End it, and wait until it is gone."""
        assert self._service is not None
        self._service.send_signal(by)
        self._service.wait(SECONDS)

    # Requests

    def _ask_plainly(self) -> None:
        """Send requests through the forward proxy, without an agent."""
        while not self._plain.wait(float(EVERY_MS) / 1000):
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
            with (
                contextlib.suppress(OSError, http.client.HTTPException),
                contextlib.closing(connection),
            ):
                url = f"http://pay.test:{self.upstream}/{now_ms()}/plain"
                connection.request("GET", url)
                connection.getresponse().read()

    def go(self, kind: str, *, context: str | None, count: int = 1, spread: int = 0) -> None:
        """Have the application send requests for a test, and others after its answer."""
        query = f"kind={kind}&count={count}&spread={spread}"
        request = urllib.request.Request(f"{self.app_url}/?{query}")  # noqa: S310 - loopback
        request.add_header("baggage", f"trafficmock.test={context}")
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:  # noqa: S310
            answer.read()

    def until_kinds(self, kinds: set[str]) -> None:
        """Wait until requests of each kind reach the upstream."""
        # A strict run whose worker is lost goes on for half a minute.
        since = now_ms()
        wait_until(
            lambda: kinds <= {each.kind for each in self.seen if each.began > since},
            f"requests of {kinds} at the upstream",
            seconds=2 * SECONDS,
        )

    def leaked(self, since: int, until: int, kinds: set[str]) -> list[Seen]:
        """List what left though it was begun between two moments."""
        # What is on its way arrives first.
        time.sleep(0.3)
        return [
            each
            for each in self.seen
            if since < each.began < until and each.kind in kinds and each.host != ALLOWED
        ]


@define
class Worker:
    """A test worker as a process of its own."""

    child: Child
    context: str

    @classmethod
    def start(cls, url: str) -> Worker:
        """Start one, and wait until its run and its test are strict."""
        command = [sys.executable, "-m", "tests.hostile.strict.worker", url, ALLOWED]
        child = Child.start("worker", command, env={"PYTHONPATH": str(REPOSITORY)})
        announced: dict[str, Any] = child.announced()
        return cls(child, announced["context"])
