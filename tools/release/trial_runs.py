"""Each package in an empty directory, with the first example of the README."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import time
import venv
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from tools.release.packages import ROOT
from tools.release.running import CommandError, run

EXAMPLE = ROOT / "docs" / "examples" / "first" / "test_shop.py"
SHOP = ROOT / "docs" / "examples" / "checkout" / "shop.mjs"
START_SECONDS = 20.0


def try_python(package: Path, directory: Path) -> None:
    """Install a wheel or sdist and run the example, the shop attached by ``trafficmock run``."""
    programs = install(package, directory)
    attached = [str(programs / "trafficmock"), "run", "--client-id", "shop", "--", "node"]
    run_example(programs, directory, attached)


def try_npm(agent: Path, wheel: Path, directory: Path) -> None:
    """Install the agent's tarball and run the example, the shop attached by its preload."""
    programs = install(wheel, directory)
    run("npm", "install", "--no-audit", "--no-fund", agent, cwd=directory)
    run_example(programs, directory, ["node", "--require", "trafficmock-agent/register"])


def install(package: Path, directory: Path) -> Path:
    """Make an environment with the package and pytest.

    :returns: the directory of its programs.
    """
    venv.create(directory, with_pip=True)
    programs = directory / "bin"
    run(programs / "pip", "install", "--quiet", f"{package}[testing]", cwd=directory)
    return programs


def run_example(programs: Path, directory: Path, attached: Sequence[str]) -> None:
    """Start the proxy and the shop, and run the test against them.

    :raises CommandError: when the test fails, or a process does not start.
    """
    port = free_port()
    for file in (EXAMPLE, SHOP):
        text = file.read_text(encoding="utf-8").replace("3000", str(port))
        (directory / file.name).write_text(text, encoding="utf-8")
    ready = directory / "ready.json"
    serve = [str(programs / "trafficmock"), "serve", "--port", "0", "--ready-file", str(ready)]
    with process(serve, directory, {}):
        url = json.loads(wait_for(lambda: ready.read_text(encoding="utf-8")))["url"]
        environment = {"TRAFFICMOCK_PROXY_URL": url, "TRAFFICMOCK_CLIENT_ID": "shop"}
        with process([*attached, str(directory / SHOP.name)], directory, environment):
            wait_for(lambda: connected(port))
            said = run(
                programs / "pytest",
                "-q",
                "--trafficmock-proxy-url",
                url,
                directory / EXAMPLE.name,
                cwd=directory,
            )
    if re.search(r"\b1 passed\b", said) is None:
        raise CommandError(f"the example did not pass:\n{said}")


@contextmanager
def process(argv: Sequence[str], directory: Path, environment: Mapping[str, str]) -> Iterator[None]:
    """Run a process within the block."""
    program = shutil.which(argv[0]) or argv[0]
    started = subprocess.Popen(
        [program, *argv[1:]],
        cwd=directory,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
    )
    try:
        yield
    finally:
        started.terminate()
        started.wait(START_SECONDS)


def wait_for(look: Callable[[], str]) -> str:
    """Look until it works.

    :raises CommandError: when it does not within :data:`START_SECONDS`.
    """
    until = time.monotonic() + START_SECONDS
    while True:
        try:
            return look()
        except (OSError, ValueError) as error:
            if time.monotonic() > until:
                raise CommandError(f"not there after {START_SECONDS:.0f} s: {error}") from error
        time.sleep(0.05)


def connected(port: int) -> str:
    """Connect, and say so; an ``OSError`` says that nobody listens."""
    with socket.create_connection(("127.0.0.1", port)):
        return "connected"


def free_port() -> int:
    """Find a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
