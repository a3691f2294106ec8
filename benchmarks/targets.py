"""
The measured proxies: commands that start them, and their processes.

A command may have the placeholders ``{port}`` and ``{ready}``. With ``{ready}`` the proxy
must write one JSON line ``{"url": …, "pid": …}`` to that file. Without it, a free port is
chosen here, and ``/health`` is polled until it answers.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from attrs import frozen

from benchmarks.errors import BenchmarkError
from tests.support.processes.proxy_process import REPOSITORY, SECONDS, StartError, start

NPM_PROXY = "@playwright-backend-mocks/proxy@0.1.8"
NODE = "node@22"


@frozen
class Target:
    """
    A proxy that can be started.

    :param name: the name in tables.
    :param command: the arguments, with the placeholders.
    :param version: the version of the program, for the report.
    """

    name: str
    command: tuple[str, ...]
    version: str


@frozen
class Running:
    """
    A running proxy.

    :param target: the target that was started.
    :param pid: the process whose CPU and memory are measured.
    :param address: host and port.
    """

    target: Target
    pid: int
    address: tuple[str, int]


def ours(extra: tuple[str, ...] = (), twistd: tuple[str, ...] = ()) -> Target:
    """
    Return the proxy of this checkout, run by this interpreter's ``twistd``.

    :param extra: more options of ``trafficmock``.
    :param twistd: more options of ``twistd``.
    """
    command = (
        *(str(Path(sys.executable).with_name("twistd")), "-n", *twistd),
        *("trafficmock", "--port", "0", "--ready-file", "{ready}"),
        *extra,
    )
    return Target("ours", command, f"Python {sys.version.split()[0]}")


def npm(cache: Path, node: str | None = None) -> Target:
    """
    Return the npm proxy, after installing it into ``cache`` if needed.

    :param node: the Node binary; by default that of the npm package ``node``.
    :raises BenchmarkError: npm is missing, or the installation failed.
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
    """Return a target for a command line in the syntax of a shell."""
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
def running(target: Target, *, seconds: float = SECONDS) -> Iterator[Running]:
    """
    Start ``target``, and end its process at the end of the block.

    :param seconds: time limit until it is ready.
    :raises BenchmarkError: the limit is exceeded, or the process ended; the text has the end of
        its output.
    """
    env = {"PYTHONPATH": str(REPOSITORY)}
    try:
        proxy = start(target.command, env=env, cwd=Path.cwd(), seconds=seconds)
    except StartError as error:
        text = f"{target.name} ({shlex.join(target.command)}) {str(error).strip()[-1500:]}"
        raise BenchmarkError(text) from error
    try:
        url = urlsplit(proxy.url)
        yield Running(target, proxy.pid, (url.hostname or "127.0.0.1", url.port or 0))
    finally:
        proxy.stop()


def default_cache() -> Path:
    """Return the directory of the npm packages, in the user's cache directory (XDG)."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "trafficmock-benchmarks"
