"""The Node agent: where it is, and how a Node process loads it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from trafficmock.joining.asking import AttachError

if TYPE_CHECKING:
    from collections.abc import Mapping

PRELOAD = "register.js"
PACKAGE = Path(__file__).parents[1]
NODE_COMMANDS = frozenset({"node", "nodejs", "npm", "npx", "pnpm", "pnpx", "yarn", "corepack"})

AGENT_MISSING = (
    "the Node agent is not here: run `npm install --save-dev trafficmock-agent` in the project, "
    "or say --no-agent to use the proxy alone (Node 24 and later)"
)


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
    """Find the agent: the project's own, that of the checkout, or the one that ships with us.

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
