"""Makes the endpoint, the start report and the log observer of a service from its options."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NoReturn

from twisted.internet.endpoints import serverFromString
from twisted.internet.interfaces import IStreamServerEndpoint
from twisted.logger import ILogObserver
from twisted.python.usage import Options

from trafficmock.server.process.daemon import Daemon, Foreground, complain
from trafficmock.server.process.log_observers import make_observer

_NO_SOCKET = (
    "no such socket was handed over. systemd says which ones by LISTEN_PID, LISTEN_FDS and "
    "LISTEN_FDNAMES; systemd-socket-activate sets the last one only when it is given --fdname=NAME"
)


def listening_endpoint(options: Options, reactor: Any) -> IStreamServerEndpoint:
    """Make the endpoint of ``--endpoint``, or of ``--host`` and ``--port``.

    :raises SystemExit: with status 1, after a line with the reason, if it is not a valid endpoint.
    """
    text = options["endpoint"]
    if text is None:
        host = options["host"].replace("\\", r"\\").replace(":", r"\:")
        kind = "tcp6" if ":" in options["host"] else "tcp"
        text = f"{kind}:{options['port']}:interface={host}"
    try:
        endpoint: IStreamServerEndpoint = serverFromString(reactor, text)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        why = (
            _NO_SOCKET if text.startswith("systemd:") and isinstance(error, LookupError) else error
        )
        _refuse(f"--endpoint {text!r} cannot be used: {why}")
    return endpoint


def start_report(options: Options) -> Foreground | Daemon:
    """Make the object that reports the result of the start, in the foreground or of a daemon.

    :raises SystemExit: with status 1, after one line, if a path of twistd cannot be used.
    """
    twistd = options.parent
    foreground = twistd is None or bool(twistd.get("nodaemon"))
    if twistd is not None:
        _check_paths(twistd)
    return Foreground() if foreground else Daemon.to_come()


def _check_paths(twistd: Any) -> None:
    """Check paths in twistd's options, for which twistd itself prints a traceback.

    :raises SystemExit: with status 1, after one line, if one cannot be used.
    """
    if twistd["chroot"] is not None:
        if not Path(twistd["chroot"]).is_dir():
            _refuse(f"--chroot {twistd['chroot']!r} is no directory")
        return  # The other paths are paths within it.
    rundir, pidfile = Path(twistd["rundir"]), twistd["pidfile"]
    if not (rundir.is_dir() and os.access(rundir, os.X_OK)):
        _refuse(f"--rundir {str(rundir)!r} is no directory that can be entered")
    if pidfile:
        directory = (rundir / pidfile).parent
        if not (directory.is_dir() and os.access(directory, os.W_OK | os.X_OK)):
            _refuse(f"--pidfile {pidfile!r} cannot be written: no writable directory {directory}")


def _refuse(text: str) -> NoReturn:
    complain(text)
    raise SystemExit(1)


def chosen_observer(options: Options) -> ILogObserver | None:
    """Make the log observer of the options; ``None`` if there is no log file, as with ``--syslog``.

    :raises SystemExit: with status 1, after one line, if the file cannot be written.
    """
    path = options["logfile"]
    if path is None:
        return None
    try:
        return make_observer(path, options["log-level"], as_json=bool(options["log-json"]))
    except OSError as error:
        _refuse(f"--logfile {path!r} cannot be written: {error.strerror}")
