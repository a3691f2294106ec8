"""Runs each way to leave in a strict test, under ``trafficmock run`` and under ``run --sealed``."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from attrs import frozen

from tests.support.processes.node_parts import AGENT_MODULES, node_binary
from tests.support.processes.proxy_process import REPOSITORY, running_proxy
from tests.testing.runs import PROXIES
from trafficmock.testing import sync
from trafficmock.testing.adapters.threaded_connection import ThreadedConnection
from trafficmock.testing.objects.blocking.traffic_mock import finish
from trafficmock.testing.session.session import TestInfo

HOST = "pay.test"
PAGE = REPOSITORY / "docs" / "how-to" / "strict-ways.md"
HERE = Path(__file__).parent
DEEP_MODULES = REPOSITORY / "tests" / "interop" / "clients" / "node" / "deep" / "node_modules"
PROGRAMS = {
    "node": [str(node_binary()), str(HERE / "node_ways.mjs")],
    "python": [sys.executable, str(HERE / "python_ways.py")],
}
STRICT = TestInfo(title="strict", file="t.py", strict=True)
MISSING = "not installed"
NO_PROXY = "run --no-proxy"
"""The beginning of ways for which ``trafficmock run`` has the option, with the server's host."""
REFUSED, FAILS, LEAVES = "refused, named", "fails", "**leaves**"
"""What becomes of a way: nothing arrived and the test says what was refused; nothing arrived and
the test passes; something arrived and the test passes."""

TOLD = "leaves, but named"
"""Something arrived, and the test fails and names it."""

SETTLE_SECONDS = 0.2
WAY_SECONDS = 20
_CHUNK = 4096


class Upstream:
    """A port for TCP and UDP that notes what arrives."""

    def __init__(self) -> None:
        self.arrived: list[bytes] = []
        self._tcp = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._tcp.getsockname()[1]
        self._udp = socket.socket(type=socket.SOCK_DGRAM)
        self._udp.bind(("127.0.0.1", self.port))
        threading.Thread(target=self._accept, daemon=True).start()
        threading.Thread(target=self._receive, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                opened, _ = self._tcp.accept()
                threading.Thread(target=self._answer, args=(opened,), daemon=True).start()

    def _answer(self, opened: socket.socket) -> None:
        with contextlib.suppress(OSError), opened:
            if data := opened.recv(_CHUNK):
                self.arrived.append(data)
                opened.sendall(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")

    def _receive(self) -> None:
        with contextlib.suppress(OSError):
            while data := self._udp.recv(_CHUNK):
                self.arrived.append(data)

    def close(self) -> None:
        self._tcp.close()
        self._udp.close()


@frozen
class Result:
    """What became of a way.

    :ivar outcome: one of the constants above, or :data:`MISSING`.
    :ivar said: what the application and ``trafficmock run`` wrote.
    """

    outcome: str
    said: str


@frozen
class Ground:
    """A proxy that is not strict, whose tests are, and the upstream.

    :param data: the directory of user data.
    """

    url: str
    upstream: Upstream
    connection: ThreadedConnection
    data: Path

    def leave(self, program: str, way: str, *options: str) -> Result:
        """Have an application send a request in a strict test.

        :param options: of ``trafficmock run``.
        """
        self.upstream.arrived.clear()
        mocks, _ = sync.begin(self.connection, STRICT)
        said = self._run(program, way, options)
        time.sleep(SETTLE_SECONDS)
        errors = finish(mocks)
        if MISSING in said.splitlines():
            return Result(MISSING, said)
        is_named = any(HOST in str(error) for error in errors)
        if self.upstream.arrived:
            return Result(TOLD if is_named else LEAVES, said)
        return Result(REFUSED if is_named else FAILS, said)

    def _run(self, program: str, way: str, options: tuple[str, ...]) -> str:
        if way.startswith(NO_PROXY):
            options = *options, "--no-proxy", HOST
        run = [sys.executable, "-m", "trafficmock", "run", "--proxy-url", self.url, *options, "--"]
        variable = way.partition(",")[0]
        hosts = {variable: HOST} if variable.isupper() else {}
        environment = {
            **{name: value for name, value in os.environ.items() if not PROXIES.search(name)},
            "XDG_DATA_HOME": str(self.data),
            "PYTHONPATH": str(REPOSITORY),
            "WAYS_MODULES": os.environ.get("WAYS_MODULES", "")
            or os.pathsep.join(map(str, (AGENT_MODULES, DEEP_MODULES))),
            **hosts,
        }
        command = [*run, *PROGRAMS[program], way, str(self.upstream.port)]
        done = subprocess.run(
            ["timeout", "-k1", str(WAY_SECONDS), *command],
            env=environment,
            cwd=REPOSITORY,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=60,
            check=False,
        )
        return done.stdout


def ways(program: str) -> list[str]:
    """List the ways that a program knows."""
    listed = subprocess.run([*PROGRAMS[program], "--list"], capture_output=True, check=True)
    found: list[str] = json.loads(listed.stdout)
    return found


@contextmanager
def ground(folder: Path) -> Iterator[Ground]:
    """Run the proxy and the upstream until the block ends."""
    upstream = Upstream()
    places = ("--resolve", f"{HOST}:{upstream.port}:127.0.0.1", "--ca-dir", str(folder / "ca"))
    try:
        with running_proxy(*places) as running:
            connection = ThreadedConnection(running.url)
            try:
                yield Ground(running.url, upstream, connection, folder)
            finally:
                connection.close()
    finally:
        upstream.close()


Outcomes = dict[str, dict[str, tuple[str, str]]]
"""The outcomes in a strict test, and in a sealed command, by program and way."""


def run_all(made: Ground) -> Outcomes:
    """Go all ways; those whose library is not installed are left out."""
    found: Outcomes = {}
    for program in PROGRAMS:
        found[program] = {}
        for way in ways(program):
            seen = made.leave(program, way).outcome
            if seen != MISSING:
                found[program][way] = seen, made.leave(program, way, "--sealed").outcome
    return found


def rows(program: str, page: str) -> dict[str, tuple[str, str]]:
    """Read the table of a program from the page."""
    part = page.partition(f"## {program.title()}\n")[2].partition("\n## ")[0]
    cells = [line.strip("| ").split(" | ") for line in part.splitlines() if line.startswith("| ")]
    return {way: (seen, sealed) for way, seen, sealed in cells[1:]}


def write_page(found: Outcomes) -> None:
    """Write the tables into the page; ways that were not gone keep their rows."""
    page = PAGE.read_text(encoding="utf-8")
    head = page.partition("\n## ")[0]
    for program in PROGRAMS:
        every = {**rows(program, page), **found[program]}
        head += f"\n## {program.title()}\n\n| Way | A strict test | Sealed |\n|---|---|---|\n"
        head += "".join(f"| {way} | {seen} | {sealed} |\n" for way, (seen, sealed) in every.items())
    PAGE.write_text(head, encoding="utf-8")
