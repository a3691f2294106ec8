"""The proxy, the server and the test's routes that all clients meet."""

import json
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Semaphore
from typing import Any

from attrs import frozen

from tests.interop.clients.cell import HOST, NOWHERE, Cell, FailedError, NotAvailableError
from tests.interop.clients.clients import Client
from tests.interop.clients.features import ABORTS, DELAY_MS, FAULTS, FEATURES, TIMED_OUT
from tests.support.processes.child_process import Child, ChildError
from tests.support.processes.proxy_process import REPOSITORY, running_proxy
from tests.support.self_signed import write_certificate
from trafficmock.testing import sync

SCHEMES = ("http", "https")
SECONDS = 15.0
"""How long a test waits until a client has got an event."""
TOKEN = "of-the-matrix"
"""With one, clients that keep their credentials until they are asked for them show them too."""


@frozen
class Result:
    """
    What came of a cell.

    :param state: ``ok``, ``n/a`` or ``FAILED``.
    :param detail: why.
    """

    client: str
    scheme: str
    feature: str
    state: str
    detail: str = ""


@frozen
class ClientMatrix:
    """
    Everything but the client.

    :param url: of the proxy.
    :param pid: of its process.
    :param ports: of the server, by scheme.
    :param folder: for what clients build, and the proxy's authority.
    """

    url: str
    pid: int
    ports: dict[str, int]
    folder: Path

    def environment(
        self, client: str, *, preload: bool = False, agent: bool = False
    ) -> dict[str, str]:
        """Ask ``trafficmock env`` what a client needs, as a user does.

        :param preload: whether Python processes are attached.
        :param agent: whether those of Node are.
        """
        command = [sys.executable, "-m", "trafficmock", "env", "--format", "json"]
        command += [] if agent else ["--no-agent"]
        command += ["--proxy-url", self.url, "--client-id", client, "--token", TOKEN]
        command += ["--ca-dir", str(self.folder / "ca")]
        done = subprocess.run(
            command,
            check=True,
            capture_output=True,
            cwd=REPOSITORY,
            env={**os.environ, "TRAFFICMOCK_PYTHON_PRELOAD": str(int(preload))},
        )
        environment: dict[str, str] = json.loads(done.stdout)
        return environment

    def run(self, client: Client) -> Iterator[Result]:
        """Run all cells of a client, in one process of it."""
        child = client.start(self.folder, self.environment(client.name, preload=client.attached))
        try:
            for scheme in SCHEMES:
                cell = Cell(client.name, scheme, child, self.ports[scheme], self.url)
                for feature in FEATURES:
                    name = feature.__name__.replace("_", " ")
                    yield Result(client.name, scheme, name, *_state(feature, cell))
        finally:
            child.stop()


def _state(feature: Any, cell: Cell) -> tuple[str, str]:
    try:
        feature(cell)
    except NotAvailableError as why:
        return "n/a", str(why)
    except (FailedError, AssertionError, ChildError, LookupError, ValueError) as error:
        return "FAILED", f"{type(error).__name__}: {str(error)[:600]}"
    return "ok", ""


@contextmanager
def client_matrix(folder: Path, *more: str) -> Iterator[ClientMatrix]:
    """
    Start everything, until the block ends.

    :param more: options of the proxy.
    """
    with ExitStack() as stack:
        certificate = write_certificate(folder, HOST)
        command = [sys.executable, "-m", "tests.interop.clients.server", str(certificate)]
        server = Child.start("the server", command, env={}, cwd=REPOSITORY)
        stack.callback(server.stop)
        ports: dict[str, int] = server.announced()
        resolve = [
            part for port in ports.values() for part in ("--resolve", f"{HOST}:{port}:127.0.0.1")
        ]
        options = ["--ca-dir", str(folder / "ca"), "--upstream-ca", str(certificate)]
        options += ["--strict", "--allow", HOST, "--allow", NOWHERE]
        running = stack.enter_context(running_proxy(*options, *resolve, *more, "--token", TOKEN))
        mocks = stack.enter_context(sync.mocks(running.url, token=TOKEN))
        _register(mocks)
        yield ClientMatrix(running.url, running.process.pid, ports, folder)


def _register(mocks: Any) -> None:
    mocks.route(
        "**/mocked",
        lambda route, _: route.fulfill(status=201, body="from the test", headers={"x-mock": "yes"}),
    )
    _Events().register(mocks)
    mocks.mock("**/delayed", body="late", delay=DELAY_MS)
    for fault in FAULTS:
        mocks.mock(f"**/broken/{fault}", body="a part and more", fault=fault)
    mocks.route("**/overridden", _override)
    for code in (*ABORTS, TIMED_OUT):
        mocks.route(f"**/aborted/{code}", _aborting(code))
    mocks.route_web_socket("**/mocked-socket", _play)
    mocks.route_web_socket("**/connected-socket", lambda socket: socket.connect_to_server())


class _Events:
    """The stream of a test, which sends an event when the client has got the one before."""

    def __init__(self) -> None:
        self._next: defaultdict[str, Semaphore] = defaultdict(lambda: Semaphore(0))

    def register(self, mocks: Any) -> None:
        mocks.route("**/streamed/*", self._stream)
        mocks.route("**/next-event/*", self._release)

    def _stream(self, route: Any, request: Any) -> None:
        stream = route.stream(content_type="text/event-stream")
        for number in range(3):
            stream.sse(f"event {number}")
            self._next[_name(request)].acquire(timeout=SECONDS)
        stream.end()

    def _release(self, route: Any, request: Any) -> None:
        self._next[_name(request)].release()
        route.fulfill(body="released")


def _name(request: Any) -> str:
    return str(request.url).rpartition("/")[2]


def _override(route: Any, request: Any) -> None:
    route.continue_(
        url=request.url.replace("/overridden", "/echo"),
        method="PUT",
        headers={**request.headers, "x-added": "yes"},
        post_data="changed",
    )


def _aborting(code: str) -> Any:
    return lambda route, _: route.abort(code)


def _play(socket: Any) -> None:
    def answer(message: str | bytes) -> None:
        if message == "close":
            socket.close(code=4322, reason="mocked")
        else:
            socket.send(message if isinstance(message, bytes) else f"mock {message}")

    socket.on_message(answer)
