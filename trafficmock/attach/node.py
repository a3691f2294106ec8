"""The Node agent: where it is, and how a Node process loads it."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from trafficmock.attach.rest_probe import AttachError

if TYPE_CHECKING:
    from collections.abc import Mapping

PRELOAD = "register.js"
PACKAGE = Path(__file__).parents[1]
NODE_COMMANDS = frozenset({"node", "nodejs", "npm", "npx", "pnpm", "pnpx", "yarn", "corepack"})

AGENT_MISSING = (
    "the Node agent is not here: run `npm install --save-dev trafficmock-agent` in the project, "
    "or do without it (--no-agent, in Python agent=False); only Node 24 and later can use the "
    "proxy alone"
)

LAUNCHERS = frozenset(
    {"sh", "bash", "dash", "zsh", "fish", "make", "just", "task", "env", "sudo", "nohup"}
    | {"foreman", "honcho", "overmind", "docker", "podman"}
)
"""Commands whose purpose is to start others."""

_NODE = re.compile(rb"#!.*\bnode(js)?\b")
_SHELL = re.compile(rb"#!.*\b(ba|da|z|fi)?sh\b")
_FIRST_LINE_BYTES = 256
"""The Linux kernel reads no more of a script's first line."""


def runs_node(command: str, search: str | None = None) -> bool:
    """Tell whether a command is certain to be a Node process.

    It is when its name is that of Node or of a package manager of Node's, when npm put it into
    ``node_modules/.bin``, or when its first line names node. Of others (a shell, ``make``)
    nobody knows what they start.

    :param command: the first word of a command line.
    :param search: the directories to look for it in, as ``PATH`` has them.
    """
    if Path(command).name in NODE_COMMANDS:
        return True
    found = shutil.which(command, path=search)
    if found is None:
        return False
    if Path(found).absolute().parent.parts[-2:] == ("node_modules", ".bin"):
        return True
    return _NODE.match(first_line(found)) is not None


def may_start_node(command: str, search: str | None = None) -> bool:
    """Tell whether a command that is not Node's is likely to start one.

    It is a launcher (:data:`LAUNCHERS`) or a shell script, and Node is installed.

    :param command: the first word of a command line.
    :param search: the directories to look in, as ``PATH`` has them.
    """
    if shutil.which("node", path=search) is None:
        return False
    found = shutil.which(command, path=search)
    is_script = found is not None and _SHELL.match(first_line(found)) is not None
    return Path(command).name in LAUNCHERS or is_script


def first_line(file: str) -> bytes:
    """Read the line of a script that names its interpreter."""
    try:
        with Path(file).open("rb") as opened:
            return opened.read(_FIRST_LINE_BYTES).partition(b"\n")[0]
    except OSError:
        # A file that may be run but not read is no script.
        return b""


def node_variables(preload: Path | None, present: Mapping[str, str]) -> dict[str, str]:
    """List the variables for Node: its agent, else the proxy (Node 24 and later).

    :param preload: the agent's ``register.js``, ``None`` to do without.
    :param present: the environment so far; ``NODE_OPTIONS`` is appended to.
    """
    if preload is None:
        return {"NODE_USE_ENV_PROXY": "1"}
    variables = {"NODE_OPTIONS": with_preload(present.get("NODE_OPTIONS", ""), preload)}
    if "NODE_USE_ENV_PROXY" in present:
        # Node reads it before any preload: each request would be announced twice.
        variables["NODE_USE_ENV_PROXY"] = "0"
    return variables


def with_preload(node_options: str, preload: Path) -> str:
    """Append the preload to ``NODE_OPTIONS``, quoted as Node reads it; once.

    :param node_options: what is there already.
    :param preload: the absolute path of the agent's ``register.js``.
    """
    quoted = str(preload).replace("\\", "\\\\").replace('"', '\\"')
    option = f'--require "{quoted}"'
    return node_options if option in node_options else f"{node_options} {option}".strip()


def find_preload(start: Path, package: Path = PACKAGE) -> Path:
    """Find the agent: the project's own, that of the checkout, or the one in this package.

    :param start: where the application lives.
    :param package: this package's directory.
    :raises AttachError: when there is none.
    """
    checkout = package.parent / "agent"
    places = [
        *(at / "node_modules" / "trafficmock-agent" for at in (start, *start.parents)),
        # A checkout's agent runs only with what npm brought it.
        *([checkout] if (checkout / "node_modules" / "ws").exists() else []),
        package / "_agent",
    ]
    for place in places:
        if (place / PRELOAD).is_file():
            return place / PRELOAD
    raise AttachError(AGENT_MISSING)
