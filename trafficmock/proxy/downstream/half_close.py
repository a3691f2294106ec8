"""Detects whether a client that sent FIN is gone, or waits for the rest of its response."""

from __future__ import annotations

from collections.abc import Callable

from attrs import define
from twisted.internet.interfaces import IDelayedCall, IReactorTime

GONE_SECONDS = 1.0
"""How long nothing may be written to a half-closed connection before its client counts as gone."""


@define(eq=False)
class HalfCloseWatch:
    """Ends a half-closed connection to which nothing was written for :data:`GONE_SECONDS`.

    A FIN alone does not show whether the client has closed the whole connection or only its
    direction; only after a write does a closed client answer with a reset.

    :param gone: called when the client counts as gone.
    """

    clock: IReactorTime
    gone: Callable[[], object]
    written: bool = False
    """Whether something was written since the current period began."""
    _timer: IDelayedCall | None = None

    def start(self) -> None:
        self.stop()
        self.written = False
        self._timer = self.clock.callLater(GONE_SECONDS, self._look)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look(self) -> None:
        self._timer = None
        if self.written:
            self.start()
        else:
            self.gone()
