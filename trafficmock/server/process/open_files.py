"""Room for as many connections as the options allow."""

import resource

from twisted.logger import Logger

_OTHERS = 64
"""Files that are open besides connections."""

_log = Logger()


def make_room(connections: int) -> int:
    """Raise the soft limit of open files, as far as the hard one allows.

    :param connections: how many may be open at once; 0 for as many as possible.
    :returns: the limit that holds now. A lower one than needed is logged.
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
