"""The options that the proxy and the dashboard share."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

from twisted.python import usage

from trafficmock.coercers import not_empty
from trafficmock.http.hosts import parse_authority

_UNKNOWN = re.compile("option --(.*) not recognized")


class ServiceOptions(usage.Options):
    """Options of both services. A bad value ends the process with one line and status 1."""

    def __init__(self) -> None:
        super().__init__()
        self["allowed-host"] = []
        self["logfile"] = None

    def opt_allowed_host(self, name: str) -> None:
        """Host name to answer to, besides loopback and --host. Repeatable."""
        self["allowed-host"].append(self.given("allowed-host", name))
        if parse_authority(name) is None:
            raise usage.UsageError(f"--allowed-host must be a host name, not {name!r}")

    def opt_version(self) -> None:
        from trafficmock import __version__  # noqa: PLC0415 - only when asked for

        sys.stdout.write(f"trafficmock {__version__}\n")
        raise SystemExit(0)

    def parseOptions(self, options: Sequence[str] | None = None) -> None:  # noqa: N802 - Twisted's
        """Parse the command line.

        :raises SystemExit: with status 1, after one line, if an option is wrong.
        """
        try:
            super().parseOptions(options)
        except usage.UsageError as error:
            text = _plain(str(error)) + self._nearest(str(error))
            sys.stderr.write(f"trafficmock: {text}\n")
            raise SystemExit(1) from None

    def _nearest(self, text: str) -> str:
        """Suggest the option that is most like an unknown one."""
        unknown = _UNKNOWN.fullmatch(text)
        names = [name.rstrip("=") for name in self.longOpt]
        near = get_close_matches(unknown[1], names, n=1) if unknown else []
        return f"; did you mean --{near[0]}?" if near else ""

    def parseArgs(self, *words: str) -> None:  # noqa: N802 - Twisted's
        if words:
            raise usage.UsageError(f"unknown argument {words[0]!r}; options begin with --")

    def postOptions(self) -> None:  # noqa: N802 - Twisted's
        """Set twistd's pid file and the log file."""
        if self.parent is not None:
            self._settle_twistd(self.parent)

    def _settle_twistd(self, twistd: usage.Options) -> None:
        """Write no pid file in the foreground, so that several services run in one directory.

        :raises usage.UsageError: if the pid file is that of a running process.
        """
        foreground = bool(twistd["nodaemon"])
        if foreground and twistd["pidfile"] == "twistd.pid":
            twistd["pidfile"] = ""
        if (pid := _running(twistd["pidfile"])) is not None:
            raise usage.UsageError(
                f"--pidfile {twistd['pidfile']!r} is that of process {pid}, which runs: end it, or "
                "give --pidfile and --logfile of their own to this one"
            )
        if not twistd["syslog"]:
            self["logfile"] = twistd["logfile"] or ("-" if foreground else "twistd.log")

    @staticmethod
    def given(name: str, value: str) -> str:
        """Return the value of an option.

        :raises usage.UsageError: if it is empty, or is the next option.
        """
        try:
            return not_empty(value)
        except ValueError as error:
            raise usage.UsageError(f"--{name} must be {error}") from None


def _plain(text: str) -> str:
    """Remove Twisted's prefix of an error text."""
    return text.removeprefix("Parameter type enforcement failed: ")


def _running(pidfile: str) -> int | None:
    """Return the id in a pid file if that process runs; ``None`` leaves other errors to twistd."""
    try:
        pid = int(Path(pidfile).read_text())
        os.kill(pid, 0)
    except (OSError, OverflowError, ValueError):
        return None
    return pid
