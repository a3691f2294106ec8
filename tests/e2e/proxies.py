"""The proxy under test: ours, or the npm package's for comparison.

``TRAFFICMOCK_E2E_PROXY=npm`` chooses the npm one.
"""

import json
import os
import socket
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import frozen

from tests.support.child_process import Child
from tests.support.node_parts import module_file, node_binary

REPOSITORY = Path(__file__).parents[2]
TWISTD = "from twisted.scripts.twistd import run; run()"


def target() -> str:
    """Which proxy is under test, ``ours`` or ``npm``."""
    return "npm" if os.environ.get("TRAFFICMOCK_E2E_PROXY") == "npm" else "ours"


@frozen
class Proxy:
    """A running proxy and its address."""

    url: str
    child: Child

    def get(self, path: str) -> dict[str, Any]:
        """Ask its REST API."""
        with urllib.request.urlopen(f"{self.url}{path}", timeout=10) as response:  # noqa: S310 - loopback
            body: dict[str, Any] = json.load(response)
            return body


def start_proxy(options: Sequence[str], env: Mapping[str, str] | None = None) -> Proxy:
    """Start the proxy under test on a free loopback port and wait until it serves.

    :param options: command-line options that both proxies know.
    :param env: added to its environment.
    :raises ChildError: when it does not come up.
    """
    return _start_npm(options, env or {}) if target() == "npm" else _start_ours(options, env or {})


def _start_ours(options: Sequence[str], env: Mapping[str, str]) -> Proxy:
    with tempfile.TemporaryDirectory() as directory:
        ready = Path(directory) / "ready.json"
        argv = [sys.executable, "-c", TWISTD, "-n", "trafficmock", "--port", "0"]
        argv += ["--ready-file", str(ready), *options]
        child = Child.start("trafficmock", argv, env=env, announces=False, cwd=REPOSITORY)
        child.until(ready.exists, "the ready file")
        return Proxy(url=json.loads(ready.read_text())["url"], child=child)


def _start_npm(options: Sequence[str], env: Mapping[str, str]) -> Proxy:
    port = _free_port()
    script = module_file("@playwright-backend-mocks/proxy/dist/cli.cjs")
    argv = [str(node_binary()), str(script), "--port", str(port), *options]
    child = Child.start("the npm proxy", argv, env=env, announces=False)
    proxy = Proxy(url=f"http://127.0.0.1:{port}", child=child)
    child.until(lambda: _healthy(proxy), "an answer from /health")
    return proxy


def _free_port() -> int:
    # The npm proxy takes no port 0, so somebody has to guess for it.
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _healthy(proxy: Proxy) -> bool:
    try:
        return bool(proxy.get("/health")["ok"])
    except urllib.error.URLError:
        return False
