"""The proxy and the server, and one run of a program with them."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from attrs import field, frozen

from tests.interop.clients.node.libraries import HOSTS, Library, node_binary
from tests.interop.clients.node.modes import MODES, Decider, Mode
from tests.interop.clients.node.program import Ended, program
from tests.interop.clients.node.upstream import Upstream
from tests.support.processes.proxy_process import REPOSITORY, running_proxy
from tests.support.self_signed import write_certificate
from trafficmock.testing import sync

PLACE = Path(__file__).parent
_NOT_OURS = ("proxy", "NODE_", "npm_", "TRAFFICMOCK_")


@frozen
class Run:
    """
    What came of one run.

    :param calls: by name, ``result``, ``error`` or ``hangs`` of each, what the application heard of
        its requests of ``node:http`` (``events``, see ``lib/events.cjs``), and the requests that
        the server got (``upstream``) and that the test was asked about (``seen``).
    :param errors: of the test's handlers.
    """

    calls: dict[str, dict[str, Any]]
    ended: Ended
    errors: list[str] = field(factory=list)


@frozen
class Bench:
    """
    Everything but the program.

    :param url: of the proxy.
    :param dead: a port at which nobody listens.
    :param variables: what ``trafficmock env`` adds to each ``NODE_OPTIONS``.
    """

    url: str
    upstream: Upstream
    certificate: Path
    dead: int
    folder: Path
    variables: dict[str, dict[str, str]] = field(factory=dict)

    def run(self, library: Library, node: int, mode: Mode, only: str = "") -> Run:
        """
        Run a library's program in a mode.

        :param node: the major version of Node.
        :param only: a regular expression that a call's name has to match.
        """
        self.upstream.call("")
        decider = Decider(self.upstream, mode.decide)
        calls: dict[str, dict[str, Any]] = {}

        def received(message: dict[str, Any]) -> None:
            if "begin" in message:
                decider.begin(message["begin"])
                self.upstream.call(message["begin"])
                calls[message["begin"]] = {}
            elif "end" in message:
                calls[message.pop("end")] = message
                decider.over.set()

        env = {**self.environment(library, mode), "BENCH_ONLY": only}
        command = [node_binary(node), *library.arguments, str(library.program)]
        errors: list[str] = []
        with ExitStack() as held:
            if mode.decide is not None:
                mocks = held.enter_context(sync.mocks(self.url, title=library.name))
                mocks.route(None, decider)
            running = held.enter_context(program(command, env, library.program.parent))
            ended = running.follow(received)
            decider.over.set()
            if mode.decide is not None:
                errors = [f"{type(one).__name__}: {one}" for one in mocks.take_errors()]
        self._add(calls, decider)
        return Run(calls, ended, errors)

    def _add(self, calls: dict[str, dict[str, Any]], decider: Decider) -> None:
        for name, entries in (("upstream", self.upstream.take()), ("seen", decider.seen)):
            for call in calls.values():
                call[name] = []
            for entry in entries:
                # What comes before the first call, as the program starts, has a row of its own.
                call = calls.setdefault(entry.pop("call"), {"upstream": [], "seen": []})
                call.setdefault(name, []).append(entry)

    def environment(self, library: Library, mode: Mode) -> dict[str, str]:
        """Make a program's environment: attached as ``trafficmock run`` does it, or not."""
        ports = {"http": self.dead, "https": self.dead} if mode.refused else self.upstream.ports
        plain = {
            name: value
            for name, value in os.environ.items()
            if not any(part in name for part in _NOT_OURS) and not name.endswith("_PROXY")
        }
        plain |= {
            "NODE_OPTIONS": " ".join(
                [
                    *(f'--require "{PLACE}/lib/{name}.cjs"' for name in ("lookup", "events")),
                    *library.preloads,
                ]
            ),
            "NODE_EXTRA_CA_CERTS": str(self.certificate),
            "BENCH_CERTIFICATE": str(self.certificate),
            "BENCH_PORTS": json.dumps(ports),
            **library.environment,
        }
        return {**plain, **self._attached(plain)} if mode.against else plain

    def _attached(self, present: Mapping[str, str]) -> dict[str, str]:
        options = present["NODE_OPTIONS"]
        if options not in self.variables:
            self.variables[options] = self._ask(present)
        return self.variables[options]

    def _ask(self, present: Mapping[str, str]) -> dict[str, str]:
        command = [sys.executable, "-m", "trafficmock", "env", "--format", "json"]
        command += ["--proxy-url", self.url, "--client-id", "bench"]
        command += ["--ca-dir", str(self.folder / "ca")]
        done = subprocess.run(command, check=True, capture_output=True, cwd=REPOSITORY, env=present)
        variables: dict[str, str] = json.loads(done.stdout)
        return variables


@contextmanager
def bench(folder: Path) -> Iterator[Bench]:
    """Start the proxy and the server, until the block ends."""
    with ExitStack() as held:
        certificate = write_certificate(folder, *HOSTS)
        upstream = Upstream.start(certificate)
        held.callback(upstream.child.stop)
        dead = held.enter_context(socket.socket())
        # Bound and not listening: connections to it are refused as long as this lasts.
        dead.bind(("127.0.0.1", 0))
        running = held.enter_context(running_proxy("--ca-dir", str(folder / "ca")))
        yield Bench(running.url, upstream, certificate, dead.getsockname()[1], folder)


__all__ = ["MODES", "Bench", "Run", "bench"]
