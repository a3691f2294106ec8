"""The service as a process of its own, for tests of what only a process shows."""

import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from attrs import define

REPOSITORY = Path(__file__).parents[3]
_REACTOR = os.environ.get("TRAFFICMOCK_REACTOR", "")
TWISTD = [sys.executable, "-c", "from twisted.scripts.twistd import run; run()"]
TWISTD += ["--reactor", _REACTOR] if _REACTOR else []
SECONDS = 30.0

NO_PINGS = ("--idle-timeout-ms", "86400000", "--heartbeat-ms", "86400000")
"""Options of a proxy whose clients answer no pings, and stay connected for many minutes."""


class StartError(AssertionError):
    """A process did not come up; the text holds its output."""


@define
class ProxyProcess:
    """A service that answers, until :meth:`stop`.

    :param output: the file with what it writes to both its streams.
    :param last_words: all that it wrote, once it has ended.
    """

    url: str
    process: subprocess.Popen[bytes]
    output: Path
    last_words: str = ""
    _pid: int | None = None
    _directory: Path | None = None

    @property
    def pid(self) -> int:
        """The process that serves: the one that was announced, or the one that was started."""
        return self.process.pid if self._pid is None else self._pid

    def get(self, path: str) -> dict[str, Any]:
        """Ask its REST API."""
        return get(self.url + path)

    def written(self) -> str:
        """Give all that it wrote so far."""
        if self.output.exists():
            self.last_words = self.output.read_text(encoding="utf-8", errors="replace")
        return self.last_words

    def running(self) -> bool:
        return self.process.poll() is None

    def stop(self) -> int:
        """Ask it to end.

        :returns: the exit status; a negative one is the signal that ended it.
        """
        if self.running():
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise
        finally:
            self.written()
            if self._directory is not None:
                shutil.rmtree(self._directory, ignore_errors=True)


def get(url: str) -> dict[str, Any]:
    """Fetch a JSON object over loopback."""
    with urllib.request.urlopen(url, timeout=SECONDS) as response:  # noqa: S310 - loopback
        body: dict[str, Any] = json.load(response)
        return body


def start(
    command: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path = REPOSITORY,
    seconds: float = SECONDS,
) -> ProxyProcess:
    """Start a service, and wait until it answers.

    :param command: in its arguments ``{ready}`` stands for the file into which it writes its
        address, and ``{port}`` for a free port. Without ``{ready}``, ``/health`` is asked.
    :param env: added to the environment.
    :param seconds: that it may take to come up.
    :raises StartError: when it does not come up.
    """
    directory = Path(tempfile.mkdtemp(prefix="trafficmock-test-"))
    ready, output, port = directory / "ready.json", directory / "output", str(free_port())
    argv = [word.replace("{ready}", str(ready)).replace("{port}", port) for word in command]
    with output.open("wb") as written:
        process = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=written,
            stderr=subprocess.STDOUT,
            env={**os.environ, **(env or {})},
            cwd=cwd,
        )
    url = f"http://127.0.0.1:{port}"
    announces = any("{ready}" in word for word in command)
    try:
        until(ready.exists if announces else partial(_healthy, url), process, output, seconds)
    except StartError:
        shutil.rmtree(directory, ignore_errors=True)
        raise
    announced: dict[str, Any] = json.loads(ready.read_text()) if announces else {"url": url}
    return ProxyProcess(
        announced["url"], process, output, pid=announced.get("pid"), directory=directory
    )


def start_proxy(
    *options: str,
    command: Sequence[str] = (*TWISTD, "-n", "trafficmock"),
    env: Mapping[str, str] | None = None,
    cwd: Path = REPOSITORY,
) -> ProxyProcess:
    """Start the service on a free port of loopback.

    :param options: options of the proxy; an address among them takes precedence.
    :param command: what the options are given to.
    :param env: added to the environment.
    :raises StartError: when it does not come up.
    """
    address = () if "--endpoint" in options else ("--port", "0")
    return start([*command, *address, "--ready-file", "{ready}", *options], env=env, cwd=cwd)


@contextmanager
def running_proxy(
    *options: str,
    command: Sequence[str] = (*TWISTD, "-n", "trafficmock"),
    env: Mapping[str, str] | None = None,
    cwd: Path = REPOSITORY,
) -> Iterator[ProxyProcess]:
    """Run the service until the block ends; arguments as of :func:`start_proxy`."""
    running = start_proxy(*options, command=command, env=env, cwd=cwd)
    try:
        yield running
    finally:
        running.stop()


def _healthy(url: str) -> bool:
    try:
        return bool(get(f"{url}/health")["ok"])
    except (OSError, http.client.HTTPException):
        return False


def until(
    satisfied: Any, process: subprocess.Popen[bytes], output: Path, seconds: float = SECONDS
) -> None:
    """Wait until something is true, as long as the process that brings it about lives.

    :param satisfied: called without arguments until its result is true.
    :param seconds: that it may take.
    :raises StartError: it never was, with what the process wrote.
    """
    deadline = time.monotonic() + seconds
    while not satisfied():
        if process.poll() is not None or time.monotonic() > deadline:
            process.kill()
            process.wait()
            raise StartError(f"did not come up:\n{output.read_text('utf-8', 'replace')}")
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
