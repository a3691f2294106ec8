"""``trafficmock run``: start an application attached.

An application joins through its environment alone. A Node process loads the agent, every
other one is sent through the forward proxy.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from twisted.python import usage

from trafficmock.attach.hello_probe import check_welcome
from trafficmock.attach.node import runs_node
from trafficmock.attach.rest_probe import check_health
from trafficmock.coercers import named, number
from trafficmock.command.attach_options import AttachOptions, attachment, preload_of
from trafficmock.command.supervision.foreground import run_command

if TYPE_CHECKING:
    from collections.abc import Sequence


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
    preload = preload_of(options, needed=runs_node(command[0], os.environ.get("PATH")))
    found = attachment(options, os.environ, preload)
    check_health(found.address.base_url)
    check_welcome(found.address)
    run_command(command, found.environment(), options["stop-timeout-ms"] / 1000)
