"""Limits the open connections to what the process and its reactor can hold."""

import sys

from twisted.internet.selectreactor import SelectReactor
from twisted.logger import Logger

OTHERS = 64
"""The most files that are open besides connections."""

SELECT_FILES = 512 if sys.platform == "win32" else 1024
"""The files of ``select(2)``: ``FD_SETSIZE`` of the C library, which Python is compiled with."""

_log = Logger()


def limit_connections(wanted: int, reactor: object) -> int:
    """Raise the soft limit of open files for connections, up to the hard limit.

    Windows has no such limit. A warning is logged if fewer connections than ``wanted`` fit.

    :param wanted: the most open connections (``--max-connections``); 0 for no limit.
    :param reactor: that of the process. The one of ``select`` takes fewer files than the others.
    :returns: the most connections that may be open; 0 for no limit.
    """
    select = isinstance(reactor, SelectReactor)
    files = wanted + OTHERS if wanted else 0
    if select and not 0 < files <= SELECT_FILES:
        most = SELECT_FILES - OTHERS
        if wanted:
            _log.warn(
                "The reactor of select holds {most} connections, not {wanted}: lower "
                "--max-connections, or choose another reactor by TRAFFICMOCK_REACTOR.",
                most=most,
                wanted=wanted,
            )
        files, wanted = SELECT_FILES, most
    _raise_limit(files, wanted)
    return wanted


def _raise_limit(files: int, connections: int) -> None:
    """Raise the soft limit of open files.

    :param files: the limit that is wanted; 0 for the hard limit.
    """
    if sys.platform == "win32":
        return
    import resource  # noqa: PLC0415 - Windows has no such module

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    unlimited = hard == resource.RLIM_INFINITY
    wanted = files or (soft if unlimited else hard)
    if soft >= wanted:
        return
    reached = wanted if unlimited else min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (reached, hard))
    if reached < wanted:
        _log.warn(
            "This process may open {reached} files, which is too few for {connections} "
            "connections: raise the limit (ulimit -n) or lower --max-connections.",
            reached=reached,
            connections=connections,
        )
