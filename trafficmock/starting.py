"""What all services do at their start: find where to listen, and say what is wrong."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from twisted.internet.endpoints import serverFromString
from twisted.logger import Logger

from trafficmock.logs import make_observer

if TYPE_CHECKING:
    from collections.abc import Callable

    from twisted.internet.interfaces import IStreamServerEndpoint
    from twisted.logger import ILogObserver
    from twisted.python.usage import Options

_log = Logger()


def listening_endpoint(options: Options, reactor: Any) -> IStreamServerEndpoint:
    """Make the endpoint of ``--endpoint``, or of ``--host`` and ``--port``.

    :raises SystemExit: with status 1, after one line that says what is wrong with it.
    """
    text = options["endpoint"]
    if text is None:
        host = options["host"].replace("\\", r"\\").replace(":", r"\:")
        kind = "tcp6" if ":" in options["host"] else "tcp"
        text = f"{kind}:{options['port']}:interface={host}"
    try:
        endpoint: IStreamServerEndpoint = serverFromString(reactor, text)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        complain(f"--endpoint {text!r} cannot be used: {error}")
        raise SystemExit(1) from None
    return endpoint


def complainer(options: Options) -> Callable[[str], None]:
    """Give what tells people why the service cannot start: a daemon has no terminal."""
    foreground = options.parent is None or bool(options.parent.get("nodaemon"))
    return complain if foreground else _complain_in_log


def complain(text: str) -> None:
    """Write to the terminal: when logging has begun, ``sys.stderr`` is the log."""
    stream = sys.__stderr__ or sys.stderr
    stream.write(f"trafficmock: {text}\n")
    stream.flush()


def _complain_in_log(text: str) -> None:
    _log.critical("trafficmock: {text}", text=text)


def chosen_observer(options: Options) -> ILogObserver | None:
    """Make the log observer of the options; ``None`` when twistd was told of another."""
    if options["logfile"] is None:
        return None
    as_json = bool(options["log-json"])
    return make_observer(options["logfile"], options["log-level"], as_json=as_json)
