"""Raises the limit of open files for ``--max-connections``."""

import resource

from twisted.logger import Logger

_OTHERS = 64
"""The most files that are open besides connections."""

_log = Logger()


def make_room(connections: int) -> int:
    """Raise the soft limit of open files, up to the hard limit.

    :param connections: the most open connections; 0 for no limit.
    :returns: the new soft limit. A warning is logged if it is too low.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    highest = soft if hard == resource.RLIM_INFINITY else hard
    wanted = connections + _OTHERS if connections else highest
    if soft >= wanted:
        return soft
    reached = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (reached, hard))
    if reached < wanted:
        _log.warn(
            "This process may open {reached} files, which is too few for {connections} "
            "connections: raise the limit (ulimit -n) or lower --max-connections.",
            reached=reached,
            connections=connections,
        )
    return reached
