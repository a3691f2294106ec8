"""
What is measured: commands that start a proxy, and the processes they become.

A command may hold ``{port}`` and ``{ready}``. With ``{ready}`` the proxy is
expected to write one JSON line ``{"url": …, "pid": …}`` to that file; without,
a free port is chosen here and asked until ``/health`` answers.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from attrs import frozen

from benchmarks.errors import BenchmarkError

if TYPE_CHECKING:
    from collections.abc import Iterator

NPM_PROXY = "@playwright-backend-mocks/proxy@0.1.8"
NODE = "node@22"
_START_SECONDS = 30.0
_STOP_SECONDS = 10.0
_HOST = "127.0.0.1"
# twistd looks for plugins along the module path; an uninstalled checkout must be on it.
_CHECKOUT = Path(__file__).parent.parent


@frozen
class Target:
    """
    A proxy that can be started.

    :param name: for tables.
    :param command: arguments, with the two placeholders.
    :param version: what exactly runs, for the report.
    """

    name: str
    command: tuple[str, ...]
    version: str


@frozen
class Running:
    """
    A proxy that answers.

    :param target: what was started.
    :param pid: the process whose CPU and memory count.
    :param address: host and port.
    """

    target: Target
    pid: int
    address: tuple[str, int]


def ours(extra: tuple[str, ...] = (), twistd: tuple[str, ...] = ()) -> Target:
    """
    Name the proxy of this checkout, run by this interpreter's ``twistd``.

    :param extra: more options for ``trafficmock``.
    :param twistd: more options for ``twistd`` itself.
    """
    command = (
        *(str(Path(sys.executable).with_name("twistd")), "-n", *twistd),
        *("trafficmock", "--port", "0", "--ready-file", "{ready}"),
        *extra,
    )
    return Target("ours", command, f"Python {sys.version.split()[0]}")


def npm(cache: Path, node: str | None = None) -> Target:
    """
    Name the npm proxy, after installing it into ``cache`` unless it is there.

    :param node: the Node binary to use; by default that of the npm package ``node``.
    :raises BenchmarkError: when npm is missing or the installation fails.
    """
    cache.mkdir(parents=True, exist_ok=True)
    script = cache / "node_modules/@playwright-backend-mocks/proxy/dist/cli.cjs"
    binary = Path(node) if node else cache / "node_modules/node/bin/node"
    wanted = [NPM_PROXY] if node else [NPM_PROXY, NODE]
    if not (script.exists() and binary.exists()):
        _install(cache, wanted)
    version = _output([str(binary), "--version"])
    return Target(
        "npm", (str(binary), str(script), "--port", "{port}"), f"{NPM_PROXY} on Node {version}"
    )


def from_command(name: str, command: str) -> Target:
    """Any other proxy, given as one shell-like string."""
    return Target(name, tuple(shlex.split(command)), command)


def _install(cache: Path, packages: list[str]) -> None:
    installer = shutil.which("npm")
    if installer is None:
        raise BenchmarkError("npm is not installed: needed to fetch the proxy to compare with")
    arguments = [installer, "install", "--no-audit", "--no-fund", "--prefix", str(cache)]
    done = subprocess.run([*arguments, *packages], check=False, capture_output=True, text=True)
    if done.returncode:
        raise BenchmarkError(f"npm install failed: {done.stderr.strip()[-500:]}")


def _output(command: list[str]) -> str:
    try:
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError) as error:
        raise BenchmarkError(f"{command[0]} does not run: {error}") from error


@contextlib.contextmanager
def running(target: Target) -> Iterator[Running]:
    """
    Start ``target``, and end its process at the end of the block.

    :raises BenchmarkError: when it is not ready within 30 seconds; the message
        holds the end of its output.
    """
    with tempfile.TemporaryDirectory(prefix="trafficmock-bench-") as folder:
        ready = Path(folder) / "ready.json"
        output = Path(folder) / "output.txt"
        port = _free_port()
        arguments = [part.format(port=port, ready=ready) for part in target.command]
        with output.open("wb") as sink:
            process = subprocess.Popen(
                arguments,
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=subprocess.STDOUT,
                env=os.environ | {"PYTHONPATH": str(_CHECKOUT)},
            )
        try:
            waits_for_file = any("{ready}" in part for part in target.command)
            yield _wait(target, process, output, ready if waits_for_file else None, port)
        finally:
            _stop(process)


def _wait(
    target: Target,
    process: subprocess.Popen[bytes],
    output: Path,
    ready: Path | None,
    port: int,
) -> Running:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        if ready is None and _healthy(port):
            return Running(target, process.pid, (_HOST, port))
        if ready is not None and ready.exists():
            announced = json.loads(ready.read_text("utf-8"))
            url = urlsplit(announced["url"])
            return Running(target, announced["pid"], (url.hostname or _HOST, url.port or 0))
        time.sleep(0.05)
    said = output.read_text("utf-8", "replace").strip()[-1500:]
    raise BenchmarkError(f"{target.name} did not start ({shlex.join(target.command)}):\n{said}")


def _healthy(port: int) -> bool:
    connection = http.client.HTTPConnection(_HOST, port, timeout=1)
    try:
        connection.request("GET", "/health")
        return connection.getresponse().status == http.client.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((_HOST, 0))
        return int(probe.getsockname()[1])


def _stop(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is not None:
        return
    process.terminate()
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def default_cache() -> Path:
    """Where the npm packages are kept between runs: the user's cache directory (XDG)."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "trafficmock-benchmarks"
