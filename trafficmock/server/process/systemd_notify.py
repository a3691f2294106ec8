"""Tells systemd that the service is ready or stopping (the protocol of sd_notify(3))."""

from __future__ import annotations

import socket
import sys
from collections.abc import Mapping

from twisted.logger import Logger

_log = Logger()


def notify(state: str, environ: Mapping[str, str]) -> None:
    """Send one state line such as ``READY=1``.

    :param environ: without ``NOTIFY_SOCKET`` nothing is sent.
    """
    address = environ.get("NOTIFY_SOCKET", "")
    if not address or sys.platform == "win32":
        return
    if address.startswith("@"):
        address = "\0" + address[1:]
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as speaker:
            speaker.sendto(state.encode(), address)
    except OSError as error:
        _log.warn("systemd could not be told {state}: {error}", state=state, error=error)
