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

from attrs import frozen
from twisted.python import usage

from trafficmock.certs.files import default_directory
from trafficmock.joining.asking import EXAMPLE_URL, AttachError, check_health
from trafficmock.joining.environment import forward_variables
from trafficmock.joining.greeting import check_welcome
from trafficmock.joining.node import NODE_COMMANDS, find_preload, node_variables
from trafficmock.joining.proxying import ProxyAddress
from trafficmock.words import without_credentials

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

DEFAULT_PROXY_URL = EXAMPLE_URL
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

    :param address: where the proxy is, and who the application is to it.
    :param ca_directory: where certificates are kept on this machine.
    :param preload: the agent's ``register.js``, ``None`` to do without.
    :param no_proxy: hosts to reach directly, instead of those in ``NO_PROXY``.
    """

    address: ProxyAddress
    ca_directory: Path
    preload: Path | None = None
    no_proxy: str | None = None

    @property
    def proxy_url(self) -> str:
        """The proxy's URL without credentials."""
        return f"{self.address.scheme}://{self.address.authority}"

    def variables(self, present: Mapping[str, str]) -> dict[str, str]:
        """List the variables to set.

        :param present: the environment so far, whose own settings are kept where they can be.
        :raises AttachError: when the proxy has no certificate to give.
        :raises CertificateError: when certificates cannot be read or written here.
        """
        variables = {"TRAFFICMOCK_PROXY_URL": self.proxy_url}
        if self.address.token is not None:
            variables["TRAFFICMOCK_TOKEN"] = self.address.token
        if self.address.client_id is not None:
            variables["TRAFFICMOCK_CLIENT_ID"] = self.address.client_id
        return {
            **variables,
            **node_variables(self.preload, present),
            **forward_variables(self.address, present, self.ca_directory, self.no_proxy),
        }


def attachment(
    options: Mapping[str, Any], env: Mapping[str, str], preload: Path | None
) -> Attachment:
    """Put together what the options and the environment say.

    :raises AttachError: when the URL or the name is none that can be used.
    """
    url = options["proxy-url"] or env.get("TRAFFICMOCK_PROXY_URL") or DEFAULT_PROXY_URL
    client_id = options["client-id"] or env.get("TRAFFICMOCK_CLIENT_ID")
    token = options["token"] or env.get("TRAFFICMOCK_TOKEN")
    try:
        address = ProxyAddress.parse(url, client_id, token)
    except ValueError:
        shown = without_credentials(url)
        raise AttachError(f"--proxy-url must look like {EXAMPLE_URL}, not {shown!r}") from None
    if ":" in (address.client_id or ""):
        raise AttachError("--client-id must not contain a colon: credentials cannot carry it")
    given = options["ca-dir"]
    return Attachment(
        address=address,
        ca_directory=Path(given).absolute() if given else default_directory(env),
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
    """``trafficmock run``: become the command, attached.

    :raises usage.UsageError: for options that are none.
    :raises AttachError: when the proxy, the agent or the command is not there.
    :raises CertificateError: when certificates cannot be read or written here.
    """
    options = RunOptions()
    options.parseOptions(list(words))
    command = options["command"]
    preload = _preload(options, needed=Path(command[0]).name in NODE_COMMANDS)
    found = attachment(options, os.environ, preload)
    check_health(found.proxy_url)
    check_welcome(found.address)
    environment = {**os.environ, **found.variables(os.environ)}
    try:
        # The command takes this process's place, so that signals and the exit status are its own.
        os.execvpe(command[0], command, environment)  # noqa: S606 - running the user's command is the purpose
    except OSError as error:
        raise AttachError(f"{command[0]}: {error.strerror}") from error


def env(words: Sequence[str]) -> str:
    """``trafficmock env``: what ``run`` would set, as text.

    :raises usage.UsageError: for options that are none.
    :raises AttachError: when the proxy is on another machine and does not answer.
    :raises CertificateError: when certificates cannot be read or written here.
    """
    options = EnvOptions()
    options.parseOptions(list(words))
    found = attachment(options, os.environ, _preload(options, needed=False))
    return formatted(found.variables(os.environ), options["format"])


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
