"""Start an application attached: ``trafficmock run`` and ``trafficmock env``.

An application joins through its environment alone. A Node process loads the agent, every
other one is sent through the forward proxy.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from twisted.python import usage

from trafficmock.attach.environment import Attachment
from trafficmock.attach.hello_probe import check_welcome
from trafficmock.attach.node import find_preload, runs_node
from trafficmock.attach.rest_probe import AttachError, check_health
from trafficmock.coercers import named, number
from trafficmock.command.supervision.foreground import run_command

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FORMATS = ("shell", "dotenv", "json")


class AttachOptions(usage.Options):
    """The options of ``trafficmock run`` and ``trafficmock env``."""

    longdesc = (
        "An application joins through its environment: a Node process by the agent, every other "
        "one by the proxy variables, with certificates to trust. What the environment says of "
        "these is kept where it can be."
    )
    optParameters: ClassVar[list[Any]] = [  # noqa: N815 - Twisted's name
        ["proxy-url", None, None, "Base URL of the proxy; or set TRAFFICMOCK_PROXY_URL."],
        ["token", None, None, "The proxy's token; or set TRAFFICMOCK_TOKEN."],
        ["client-id", None, None, "How tests and the history name the application."],
        ["no-proxy", None, None, "Hosts to reach directly, instead of those in NO_PROXY."],
        ["ca-dir", None, None, "Where certificates are kept; by default user data."],
    ]
    optFlags: ClassVar[list[Any]] = [  # noqa: N815 - Twisted's name
        ["no-agent", None, "Send Node applications through the proxy too (Node 24 and later)."]
    ]


class RunOptions(AttachOptions):
    """The options of ``trafficmock run``, and the command after them."""

    synopsis = "Usage: trafficmock run [options] -- COMMAND..."
    optParameters: ClassVar[list[Any]] = [  # noqa: N815 - Twisted's name
        [
            "stop-timeout-ms",
            None,
            5000,
            "Time for what the command leaves behind to end; then it is killed.",
            named("stop-timeout-ms", number(0)),
        ],
    ]

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


def attachment(
    options: Mapping[str, Any], env: Mapping[str, str], preload: Path | None
) -> Attachment:
    """Put together what the options and the environment say.

    :raises AttachError: when the URL or the client id is none that can be used.
    """
    return Attachment.of(
        env,
        url=options["proxy-url"],
        token=options["token"],
        client_id=options["client-id"],
        ca_directory=options["ca-dir"],
        preload=preload,
        no_proxy=options["no-proxy"],
    )


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


def run(words: Sequence[str]) -> NoReturn:
    """``trafficmock run``: run the command, attached, and end as it ends.

    :raises usage.UsageError: for options that are none.
    :raises AttachError: when the proxy or the agent is not there.
    :raises CertificateError: when certificates cannot be read or written here.
    :raises CommandStartError: when there is no such command.
    :raises SystemExit: with the command's exit status.
    """
    options = RunOptions()
    options.parseOptions(list(words))
    command = options["command"]
    preload = _preload(options, needed=runs_node(command[0], os.environ.get("PATH")))
    found = attachment(options, os.environ, preload)
    check_health(found.address.base_url)
    check_welcome(found.address)
    run_command(command, found.environment(), options["stop-timeout-ms"] / 1000)


def env(words: Sequence[str]) -> str:
    """``trafficmock env``: what ``run`` would set, as text.

    :raises usage.UsageError: for options that are none.
    :raises AttachError: when the agent is missing, or the proxy is on another machine and does
        not answer.
    :raises CertificateError: when certificates cannot be read or written here.
    """
    options = EnvOptions()
    options.parseOptions(list(words))
    # Nobody knows what will be started with it, so that the agent is needed.
    found = attachment(options, os.environ, _preload(options, needed=True))
    return formatted(found.variables(), options["format"])


def _preload(options: Mapping[str, Any], *, needed: bool) -> Path | None:
    """Find the agent; who does not need it may do without, and is told so.

    :raises AttachError: when it is needed and not to be found.
    """
    if options["no-agent"]:
        return None
    try:
        return find_preload(Path.cwd().resolve())
    except AttachError as error:
        if needed:
            raise
        sys.stderr.write(f"trafficmock: for Node applications {error}\n")
        return None


__all__ = ["AttachError", "check_health", "env", "find_preload", "run"]
