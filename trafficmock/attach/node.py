"""Finds the Node agent, and makes the variables by which a Node process loads it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from trafficmock.attach.rest_probe import AttachError

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
"""Commands whose purpose is to start other programs."""

TURBOREPO = {"TURBO_ENV_MODE": "loose"}
"""Without it, Turborepo's tasks get no variables but those that its configuration names."""

_NODE = re.compile(rb"#!.*\bnode(js)?\b")
_SHELL = re.compile(rb"#!.*\b(ba|da|z|fi)?sh\b")
_FIRST_LINE_BYTES = 256
"""The longest first line of a script that the Linux kernel reads."""


def runs_node(command: str, search: str | None = None) -> bool:
    """Return whether a command is certain to be a Node process.

    It is if its name is that of Node or of a package manager for Node, if it is in
    ``node_modules/.bin``, or if its first line names node. Other commands, such as a shell or
    ``make``, may start anything.

    :param command: the first word of a command line.
    :param search: the directories to search, in the form of ``PATH``; by default ``PATH``.
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
    """Return whether a command that is not a Node process may start one.

    It may if it is a launcher (:data:`LAUNCHERS`) or a shell script, and Node is installed.

    :param command: the first word of a command line.
    :param search: the directories to search, in the form of ``PATH``; by default ``PATH``.
    """
    if shutil.which("node", path=search) is None:
        return False
    found = shutil.which(command, path=search)
    is_script = found is not None and _SHELL.match(first_line(found)) is not None
    return Path(command).name in LAUNCHERS or is_script


def first_line(file: str) -> bytes:
    """Return the first line of a file; an empty one if the file cannot be read."""
    try:
        with Path(file).open("rb") as opened:
            return opened.read(_FIRST_LINE_BYTES).partition(b"\n")[0]
    except OSError:
        # A script must be readable, so this file is not one.
        return b""


def node_variables(preload: Path | None, present: Mapping[str, str]) -> dict[str, str]:
    """Make the variables by which Node loads the agent; without the agent, uses the proxy.

    Node uses the proxy of the environment from version 24 on. Bun and Deno load the agent for
    ``node:http`` and what uses it (Deno by ``NODE_OPTIONS``), and their own ``fetch`` uses the
    proxy. Turborepo passes the environment to its tasks in its mode ``loose`` only.

    :param preload: the agent's ``register.js``; ``None`` for no agent.
    :param present: the environment without the attachment; its ``NODE_OPTIONS`` and
        ``BUN_OPTIONS`` are kept.
    """
    if preload is None:
        return {**TURBOREPO, "NODE_USE_ENV_PROXY": "1"}
    variables = {
        **TURBOREPO,
        "NODE_OPTIONS": with_preload(present.get("NODE_OPTIONS", ""), preload),
        "BUN_OPTIONS": with_bun_preload(present.get("BUN_OPTIONS", ""), preload),
    }
    if "NODE_USE_ENV_PROXY" in present:
        # Node reads it before the preload; with both, each request would be announced twice.
        variables["NODE_USE_ENV_PROXY"] = "0"
    return variables


def with_preload(node_options: str, preload: Path) -> str:
    """Append the preload to ``NODE_OPTIONS``, unless it is there already.

    :param node_options: the present value.
    :param preload: the absolute path of the agent's ``register.js``, which is quoted for Node.
    """
    quoted = str(preload).replace("\\", "\\\\").replace('"', '\\"')
    return _with_option(node_options, f'--require "{quoted}"')


def with_bun_preload(bun_options: str, preload: Path) -> str:
    """Append the preload to ``BUN_OPTIONS``, unless it is there already.

    :param bun_options: the present value.
    :param preload: the absolute path of the agent's ``register.js``. Bun 1.4 takes it only in one
        word with the option: it ignores a quoted path, and ``bun run SCRIPT`` reads a path in a
        word of its own as the script's.
    """
    option = f"--preload={preload}"
    if re.search(r"[\s\"'\\]", option):
        option = '"' + re.sub(r'(["\\])', r"\\\1", option) + '"'
    return _with_option(bun_options, option)


def _with_option(options: str, option: str) -> str:
    return options if option in options else f"{options} {option}".strip()


def find_preload(start: Path, package: Path = PACKAGE) -> Path:
    """Find the agent in the project's ``node_modules``, in the checkout, or in this package.

    :param start: the directory of the application.
    :param package: the directory of this package.
    :returns: the path of its ``register.js``.
    :raises AttachError: if there is none.
    """
    checkout = package.parent / "agent"
    places = [
        *(at / "node_modules" / "trafficmock-agent" for at in (start, *start.parents)),
        # A checkout's agent needs the dependencies that npm installs.
        *([checkout] if (checkout / "node_modules" / "ws").exists() else []),
        package / "_agent",
    ]
    for place in places:
        if (place / PRELOAD).is_file():
            return place / PRELOAD
    raise AttachError(AGENT_MISSING)
