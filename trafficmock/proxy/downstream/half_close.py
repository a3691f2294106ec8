"""Whether a client that has closed its direction is gone, or waits for the rest of its answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define

if TYPE_CHECKING:
    from collections.abc import Callable

    from twisted.internet.interfaces import IDelayedCall, IReactorTime

GONE_SECONDS = 1.0
"""How long a client that has closed its direction waits for bytes before it counts as gone."""


@define(eq=False)
class HalfCloseWatch:
    """Gives up a half-closed connection to which nothing has been written for a while.

    A client that is gone looks just like one that has only sent all its requests, until
    something is written to it: then the first resets the connection.

    :param clock: times the watch.
    :param gone: called once the client counts as gone.
    """

    clock: IReactorTime
    gone: Callable[[], object]
    written: bool = False
    """Something has been written since the watch began or last looked."""
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
