"""``trafficmock env``: print the variables that ``trafficmock run`` sets."""

from __future__ import annotations

import json
import os
import shlex
from typing import TYPE_CHECKING, Any, ClassVar

from twisted.python import usage

from trafficmock.command.attach_options import AttachOptions, attachment, preload_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FORMATS = ("shell", "dotenv", "json")


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
    found = attachment(options, os.environ, preload_of(options, needed=True))
    return formatted(found.variables(), options["format"])
