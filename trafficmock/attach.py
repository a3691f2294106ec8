"""Start an application attached: ``trafficmock run`` and ``trafficmock env``.

A Node application joins through its environment alone: a preload in
``NODE_OPTIONS`` and the variables that the preload reads.
"""

from __future__ import annotations

import json
import os
import shlex
import urllib.error
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from attrs import frozen
from twisted.python import usage

from trafficmock.errors import LocalError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

DEFAULT_PROXY_URL = "http://127.0.0.1:4310"
HEALTH_SECONDS = 2.0
FORMATS = ("shell", "dotenv", "json")
PRELOAD = "register.js"
PACKAGE = Path(__file__).parent

AGENT_MISSING = (
    "the Node agent is not here: run `npm install --save-dev trafficmock-agent` in the project"
)


class AttachError(LocalError):
    """The application cannot be attached; the text says why, and what to do."""


class AttachOptions(usage.Options):
    """The options of ``trafficmock run`` and ``trafficmock env``."""

    optParameters: ClassVar[list[Any]] = [  # noqa: N815 - Twisted's name
        ["proxy-url", None, None, "Base URL of the proxy; or set TRAFFICMOCK_PROXY_URL."],
        ["token", None, None, "The proxy's token; or set TRAFFICMOCK_TOKEN."],
        ["client-id", None, None, "How tests and the history name the application."],
    ]


class RunOptions(AttachOptions):
    """The options of ``trafficmock run``, and the command after them."""

    synopsis = "Usage: trafficmock run [options] -- COMMAND..."

    def parseArgs(self, *command: str) -> None:  # noqa: N802 - Twisted's name
        """Take the command.

        :raises usage.UsageError: when there is none.
        """
        if not command:
            raise usage.UsageError("a command is missing: trafficmock run -- node server.js")
        self["command"] = list(command)


class EnvOptions(AttachOptions):
    """The options of ``trafficmock env``."""

    synopsis = "Usage: trafficmock env [options]"
    optParameters: ClassVar[list[Any]] = [  # noqa: N815 - Twisted's name
        ["format", None, None, f"{', '.join(FORMATS)}; by default shell."]
    ]

    def postOptions(self) -> None:  # noqa: N802 - Twisted's name
        """Check the format.

        :raises usage.UsageError: when it is unknown.
        """
        self["format"] = self["format"] or FORMATS[0]
        if self["format"] not in FORMATS:
            raise usage.UsageError(f"--format: one of {', '.join(FORMATS)}")


@frozen(kw_only=True)
class Attachment:
    """What an application's environment must say.

    :param proxy_url: base URL of the proxy.
    :param preload: the agent's ``register.js``.
    :param token: what the proxy asks for, if anything.
    :param client_id: the application's name, or ``None`` for its default.
    """

    proxy_url: str
    preload: Path
    token: str | None = None
    client_id: str | None = None

    def variables(self, present: Mapping[str, str]) -> dict[str, str]:
        """List the variables to set.

        :param present: the environment so far; ``NODE_OPTIONS`` is appended to.
        """
        variables = {"TRAFFICMOCK_PROXY_URL": self.proxy_url}
        if self.token is not None:
            variables["TRAFFICMOCK_TOKEN"] = self.token
        if self.client_id is not None:
            variables["TRAFFICMOCK_CLIENT_ID"] = self.client_id
        variables["NODE_OPTIONS"] = with_preload(present.get("NODE_OPTIONS", ""), self.preload)
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


def attachment(options: Mapping[str, Any], env: Mapping[str, str], start: Path) -> Attachment:
    """Put together what the options and the environment say.

    :raises AttachError: when the agent is not to be found.
    """
    url = options["proxy-url"] or env.get("TRAFFICMOCK_PROXY_URL") or DEFAULT_PROXY_URL
    return Attachment(
        proxy_url=url.rstrip("/"),
        preload=find_preload(start.resolve()),
        token=options["token"] or env.get("TRAFFICMOCK_TOKEN") or None,
        client_id=options["client-id"] or env.get("TRAFFICMOCK_CLIENT_ID") or None,
    )


def check_health(proxy_url: str) -> None:
    """Make sure that a trafficmock proxy answers there.

    :raises AttachError: when none does, within two seconds.
    """
    if not proxy_url.startswith(("http://", "https://")):
        raise AttachError(f"--proxy-url must look like {DEFAULT_PROXY_URL}, not {proxy_url!r}")
    # The machine's own proxy settings are not for what runs beside us.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"{proxy_url}/health", timeout=HEALTH_SECONDS) as response:
            health = json.load(response)
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", error)
        raise AttachError(
            f"no proxy answers at {proxy_url}: {reason}. Start it with `trafficmock serve`."
        ) from error
    if not isinstance(health, dict) or health.get("ok") is not True:
        raise AttachError(f"what answers at {proxy_url} is no trafficmock proxy")


def formatted(variables: Mapping[str, str], style: str) -> str:
    """Write variables for a shell, a dotenv file, or as JSON.

    :param style: one of :data:`FORMATS`.
    """
    if style == "json":
        return f"{json.dumps(variables, indent=2)}\n"
    if style == "shell":
        return "".join(f"export {k}={shlex.quote(v)}\n" for k, v in variables.items())
    # Single quotes keep a dotenv value as it is; a path with one is written with the other.
    return "".join(f"{k}='{v}'\n" if "'" not in v else f"{k}=`{v}`\n" for k, v in variables.items())


def run(words: Sequence[str]) -> None:
    """``trafficmock run``: become the command, attached.

    :raises usage.UsageError: for options that are none.
    :raises AttachError: when the proxy, the agent or the command is not there.
    """
    options = RunOptions()
    options.parseOptions(list(words))
    found = attachment(options, os.environ, Path.cwd())
    check_health(found.proxy_url)
    command = options["command"]
    try:
        # The command takes this process's place, so that signals and the exit status are its own.
        os.execvpe(command[0], command, {**os.environ, **found.variables(os.environ)})  # noqa: S606 - running the user's command is the purpose
    except OSError as error:
        raise AttachError(f"{command[0]}: {error.strerror}") from error


def env(words: Sequence[str]) -> str:
    """``trafficmock env``: what ``run`` would set, as text.

    :raises usage.UsageError: for options that are none.
    :raises AttachError: when the agent is not to be found.
    """
    options = EnvOptions()
    options.parseOptions(list(words))
    found = attachment(options, os.environ, Path.cwd())
    return formatted(found.variables(os.environ), options["format"])
