"""The limits of the HTTP server, and the count of open connections."""

from collections.abc import Callable

from attrs import define, field, frozen
from twisted.logger import Logger

from trafficmock.wire.limits import or_unlimited

IDLE_SECONDS = 60.0
"""Seconds for which a connection may send nothing, between requests or within one."""

MAX_HEADER_BYTES = 65536
"""Bytes of the largest head of a message, if no option says otherwise."""

LINGER_SECONDS = 2.0
"""Seconds for which bytes of the client are still read before the connection is closed.

A close with unread bytes makes the kernel reset the connection, and the client may then lose the
response (RFC 9112 section 9.6).
"""

QUIET_SECONDS = 10.0
"""Least seconds between two log lines about refused connections."""


@frozen(kw_only=True)
class HttpLimits:
    """Limits of the HTTP server; 0 is no limit.

    :param max_header_bytes: bytes of the request line and all header lines together.
    :param max_connections: connections that are open at once, of any protocol.
    :param idle_seconds: see :data:`IDLE_SECONDS`.
    """

    max_header_bytes: int = field(default=MAX_HEADER_BYTES, converter=or_unlimited)
    max_connections: int = field(default=2000, converter=or_unlimited)
    idle_seconds: float = IDLE_SECONDS


@define(eq=False)
class ConnectionCount:
    """The number of open connections of any protocol, and its limit.

    :param limit: the most open connections.
    :param seconds: a clock; refusals are logged once in :data:`QUIET_SECONDS`.
    """

    _log = Logger()

    limit: int
    _seconds: Callable[[], float]
    open: int = 0
    _refused: int = 0
    _quiet_until: float = 0.0

    def enter(self) -> bool:
        """Count a new connection.

        :returns: ``False`` if the limit is reached: the connection is to be refused, and is not
            counted.
        """
        if self.open >= self.limit:
            self._refuse()
            return False
        self.open += 1
        return True

    def leave(self) -> None:
        """Count the end of a connection that :meth:`enter` counted."""
        self.open -= 1

    def _refuse(self) -> None:
        self._refused += 1
        now = self._seconds()
        if now < self._quiet_until:
            return
        self._quiet_until = now + QUIET_SECONDS
        self._log.warn(
            "{refused} connections refused: {limit} are open. Close some, or raise "
            "--max-connections.",
            refused=self._refused,
            limit=self.limit,
        )
        self._refused = 0
