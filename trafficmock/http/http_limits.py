"""The limits of the HTTP side, by name, and the count of open connections."""

from collections.abc import Callable

from attrs import define, field, frozen
from twisted.logger import Logger

from trafficmock.wire.limits import or_unlimited

IDLE_SECONDS = 60.0
"""How long a connection may be silent between requests, or in the middle of one."""

LINGER_SECONDS = 2.0
"""How long a client may still send before a connection that is done or refused is closed.

Closing at once, with bytes unread, would reset the connection and could take the answer with it.
"""

QUIET_SECONDS = 10.0
"""Between two log lines about refused connections."""


@frozen(kw_only=True)
class HttpLimits:
    """Limits of the HTTP side; 0 is no limit.

    :param max_header_bytes: for the request line and all header lines together.
    :param max_connections: open at once, whatever they speak.
    :param idle_seconds: see :data:`IDLE_SECONDS`.
    """

    max_header_bytes: int = field(default=65536, converter=or_unlimited)
    max_connections: int = field(default=2000, converter=or_unlimited)
    idle_seconds: float = IDLE_SECONDS


@define(eq=False)
class ConnectionCount:
    """How many connections are open, whatever they speak.

    :param limit: at most so many.
    :param seconds: a clock, to log a refusal now and then and not each time.
    """

    _log = Logger()

    limit: int
    _seconds: Callable[[], float]
    open: int = 0
    _refused: int = 0
    _quiet_until: float = 0.0

    def enter(self) -> bool:
        """Count a new connection, or tell that it is one too many."""
        if self.open >= self.limit:
            self._refuse()
            return False
        self.open += 1
        return True

    def leave(self) -> None:
        """Count the end of a connection that was let in."""
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
