"""Limits how long a client may be silent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define

if TYPE_CHECKING:
    from collections.abc import Callable

    from twisted.internet.interfaces import IDelayedCall, IReactorTime


@define(eq=False)
class IdleTimer:
    """Calls back after a time.

    Received bytes only set :attr:`heard`, and the callback restarts the timer if it is set: to move
    the timer for every piece of a body would cost more.

    :param seconds: how long a client may be silent (``--idle-timeout-ms``).
    :param expired: called at the end of the time.
    """

    clock: IReactorTime
    seconds: float
    expired: Callable[[], None]
    heard: bool = False
    """Whether bytes were received since the timer began."""
    _timer: IDelayedCall | None = None

    def start(self) -> None:
        """Start the timer, anew if it is running."""
        self.stop()
        self.heard = False
        self._timer = self.clock.callLater(self.seconds, self._over)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _over(self) -> None:
        self._timer = None
        self.expired()
