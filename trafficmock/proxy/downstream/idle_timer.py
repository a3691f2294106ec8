"""Limits how long a client may be silent."""

from __future__ import annotations

from collections.abc import Callable

from attrs import define
from twisted.internet.interfaces import IDelayedCall, IReactorTime


@define(eq=False)
class IdleTimer:
    """Calls back after a time.

    Received bytes only set :attr:`heard`, and the callback restarts the timer if it is set: to move
    the timer for every piece of a body would cost more. So would a call of the clock for every
    request: it stays when the timer is started anew, and finds out what is due.

    :param seconds: how long a client may be silent; no option sets it.
    :param expired: called at the end of the time.
    """

    clock: IReactorTime
    seconds: float
    expired: Callable[[], None]
    heard: bool = False
    """Whether bytes were received since the timer began."""
    _due: float | None = None
    _call: IDelayedCall | None = None

    def start(self) -> None:
        """Start the timer, anew if it is running."""
        self.heard = False
        self._due = self.clock.seconds() + self.seconds
        if self._call is None:
            self._call = self.clock.callLater(self.seconds, self._look)

    def stop(self) -> None:
        """End the timer."""
        self._due = None
        if self._call is not None:
            self._call.cancel()
            self._call = None

    def _look(self) -> None:
        self._call, due = None, self._due
        if due is None:
            return
        left = due - self.clock.seconds()
        if left > 0:
            self._call = self.clock.callLater(left, self._look)
        else:
            self._due = None
            self.expired()
