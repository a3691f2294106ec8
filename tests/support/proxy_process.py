"""The service as a process of its own, for tests of what only a process shows."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import define

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

REPOSITORY = Path(__file__).parents[2]
TWISTD = [sys.executable, "-c", "from twisted.scripts.twistd import run; run()"]
SECONDS = 30.0


@define
class ProxyProcess:
    """A service that answers.

    :param output: the file with what it writes to both its streams.
    :param last_words: all that it wrote, once it has ended.
    """

    url: str
    process: subprocess.Popen[bytes]
    output: Path
    last_words: str = ""

    def get(self, path: str) -> dict[str, Any]:
        """Ask its REST API."""
        return get(self.url + path)

    def stop(self) -> int:
        """Ask it to end.

        :returns: the exit status; a negative one is the signal that ended it.
        """
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise
        finally:
            self.last_words = self.output.read_text(encoding="utf-8")


def get(url: str) -> dict[str, Any]:
    """Fetch a JSON object over loopback."""
    with urllib.request.urlopen(url, timeout=SECONDS) as response:  # noqa: S310 - loopback
        body: dict[str, Any] = json.load(response)
        return body


@contextmanager
def running_proxy(
    *options: str,
    command: Sequence[str] = (*TWISTD, "-n", "trafficmock"),
    env: Mapping[str, str] | None = None,
    cwd: Path = REPOSITORY,
) -> Iterator[ProxyProcess]:
    """Run the service on a free port of loopback until the block ends.

    :param options: options of the proxy besides its address.
    :param command: what the options are given to.
    :param env: added to the environment.
    :raises AssertionError: when it does not come up.
    """
    with tempfile.TemporaryDirectory() as directory:
        ready, output = Path(directory) / "ready.json", Path(directory) / "output"
        address = () if "--endpoint" in options else ("--port", "0")
        argv = [*command, *address, "--ready-file", str(ready), *options]
        with output.open("wb") as written:
            process = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=written,
                stderr=subprocess.STDOUT,
                env={**os.environ, **(env or {})},
                cwd=cwd,
            )
        until(ready.exists, process, output)
        running = ProxyProcess(json.loads(ready.read_text())["url"], process, output)
        try:
            yield running
        finally:
            running.stop()


def until(satisfied: Any, process: subprocess.Popen[bytes], output: Path) -> None:
    """Wait until something is true, as long as the process that brings it about lives.

    :param satisfied: called without arguments until its result is true.
    :raises AssertionError: it never was, with what the process wrote.
    """
    deadline = time.monotonic() + SECONDS
    while not satisfied():
        if process.poll() is not None or time.monotonic() > deadline:
            process.kill()
            process.wait()
            raise AssertionError(f"did not come up:\n{output.read_text(encoding='utf-8')}")
        # Another process's doing: there is no event to wait for.
        time.sleep(0.02)


def run(
    *argv: str, env: Mapping[str, str] | None = None, cwd: Path = REPOSITORY
) -> subprocess.CompletedProcess[str]:
    """Run a command that is to end by itself."""
    return subprocess.run(
        argv,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        env={**os.environ, **(env or {})},
        cwd=cwd,
        check=False,
    )


def free_port() -> int:
    """Guess a port for a program that does not say what 0 became."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
