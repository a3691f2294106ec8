"""The clients: how each is started, and what it needs that may not be there."""

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from attrs import Factory, field, frozen

from tests.support.processes.child_process import Child
from tests.support.processes.node_parts import MODULES, module_file

PROGRAMS = Path(__file__).parent / "programs"
_REPOSITORY = Path(__file__).parents[3]
_NODE = shutil.which("node") or "node"


@frozen
class Client:
    """
    A client of the table.

    :param name: also the id by which it is known to the proxy.
    :param command: starts its program; told a directory for what it has to build.
    :param needs: the executable it runs on, and the package that brings it.
    :param title: how the table calls it.
    :param attached: it loads the preload of Python processes, and nothing else tells it of
        the proxy.
    """

    name: str
    command: Callable[[Path], list[str]]
    needs: tuple[str, str] | None = None
    title: str = field(default=Factory(lambda self: self.name, takes_self=True))
    attached: bool = False

    def missing(self) -> str | None:
        """Say what is not there, if anything."""
        if self.needs is None or shutil.which(self.needs[0]):
            return None
        return f"no {self.needs[0]} here (apt-get install {self.needs[1]})"

    def start(self, folder: Path, environment: Mapping[str, str]) -> Child:
        """Start it, with nothing of the proxy in its environment but ``environment``."""
        given = {"PYTHONPATH": str(_REPOSITORY), "NODE_PARTS": str(MODULES), **environment}
        if self.attached:
            given = {name: value for name, value in given.items() if name in _OF_PRELOAD}
            given["TRAFFICMOCK_WEBSOCKET"] = "all"
        child: Child = Child.start(self.name, self.command(folder), env=given, cwd=_REPOSITORY)
        return child


_OF_PRELOAD = {
    "PYTHONPATH",
    "CLIENT_SECONDS",
    "TRAFFICMOCK_PROXY_URL",
    "TRAFFICMOCK_TOKEN",
    "TRAFFICMOCK_CLIENT_ID",
}


def _python(name: str) -> Callable[[Path], list[str]]:
    return lambda _: [sys.executable, "-m", f"tests.interop.clients.programs.with_{name}"]


def _node(_: Path) -> list[str]:
    machine = "node-24-arm64" if platform.machine() == "aarch64" else "node-24"
    binary = module_file(f"{machine}/bin/node")
    return [str(binary), str(PROGRAMS / "with_node.mjs")]


def _node_library(name: str) -> Callable[[Path], list[str]]:
    return lambda _: [_NODE, str(PROGRAMS / "with_node_library.mjs"), name]


def _java(_: Path) -> list[str]:
    # Java shows Basic credentials to a CONNECT only when it is told to.
    options = ["-XX:TieredStopAtLevel=1", "-Djdk.http.auth.tunneling.disabledSchemes="]
    return ["java", *options, str(PROGRAMS / "WithHttpClient.java")]


def _go(folder: Path) -> list[str]:
    program = folder / "with_net_http"
    source = PROGRAMS / "with_net_http.go"
    environment: Any = {**os.environ, "GOCACHE": str(folder / "cache"), "GO111MODULE": "off"}
    subprocess.run(["go", "build", "-o", program, source], check=True, env=environment)
    return [str(program)]


CLIENTS = (
    Client("curl", _python("curl"), ("curl", "curl")),
    Client("requests", _python("requests")),
    Client("httpx", _python("httpx")),
    Client("aiohttp", _python("aiohttp")),
    Client("urllib3", _python("urllib3")),
    Client("treq", _python("treq")),
    Client("urllib", _python("urllib")),
    Client("node", _node, title="Node 24"),
    Client("java", _java, ("java", "openjdk-17-jdk-headless"), "Java 17"),
    Client("go", _go, ("go", "golang-go"), "Go"),
    Client("websockets", _python("websockets")),
)

_ATTACHED = {
    **{name: name for name in ("requests", "httpx", "aiohttp", "urllib3", "treq", "urllib")},
    "websockets": "websockets, threads",
    "websockets_asyncio": "websockets, asyncio",
    "websocket_client": "websocket-client",
}
ATTACHED = tuple(
    Client(f"{name}-attached", _python(name), title=title, attached=True)
    for name, title in _ATTACHED.items()
)
"""The same programs with the preload of Python processes, and without a proxy of their own."""

NODE_LIBRARIES = tuple(
    Client(name.replace(":", "-").replace(" ", "-"), _node_library(name), title=title)
    for name, title in {
        "node:http": "`node:http`",
        "fetch": "`fetch` of Node",
        "undici request": "undici 7",
        "got": "got",
        "axios": "axios",
        "node-fetch": "node-fetch",
    }.items()
)
"""Libraries of Node, for processes with the agent."""
