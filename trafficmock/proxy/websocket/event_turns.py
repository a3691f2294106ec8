"""Handles frames that arrive at once over several turns of the reactor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from twisted.internet.interfaces import IDelayedCall, IReactorTime
from wsproto.connection import Connection
from wsproto.events import Event

from trafficmock.http.backpressure import NEXT_TURN_SECONDS

EVENTS_AT_ONCE = 32
"""Frames handled in one turn of the reactor, which takes a few milliseconds."""


class EventTurns:
    """Handles the events of one side; its transport is not read while events wait.

    :param connection: the wsproto connection, which parses received bytes into events.
    :param take: called with each event.
    :param ended: called when the transport is lost and all events are handled.
    """

    def __init__(
        self,
        connection: Connection,
        transport: Any,
        clock: IReactorTime,
        *,
        take: Callable[[Event], None],
        ended: Callable[[], None],
    ) -> None:
        self.lost = False
        self._connection = connection
        self._transport = transport
        self._clock = clock
        self._take = take
        self._ended = ended
        self._events = connection.events()
        self._turn: IDelayedCall | None = None
        self._held = False
        self._stopped = False
        self._reading = True

    def received(self, data: bytes) -> None:
        self._connection.receive_data(data)
        if self._turn is None and not self._held:
            self._take_events()

    def pause(self) -> None:
        """Stop reading, and handle no more of the frames that were read already."""
        self._held = True
        self._update_reading()

    def resume(self) -> None:
        self._held = False
        if self._turn is None and not self._stopped:
            self._turn = self._clock.callLater(NEXT_TURN_SECONDS, self._take_events)
        self._update_reading()

    def transport_lost(self) -> None:
        """Handle the loss of the transport; frames that were read before are still handled."""
        self.lost = True
        if self._turn is None and not self._held:
            self._ended()
        else:
            self.resume()

    def stop(self) -> None:
        """Stop handling frames."""
        self._stopped = True
        if self._turn is not None:
            self._turn.cancel()
            self._turn = None
        self._update_reading()

    def _take_events(self) -> None:
        """Handle the events of one turn, and schedule another turn if there are more."""
        self._turn = None
        for _ in range(EVENTS_AT_ONCE):
            event = next(self._events, None)
            if event is None:
                self._all_taken()
                return
            self._take(event)
            if self._stopped or self._held:
                return
        self.resume()

    def _all_taken(self) -> None:
        if self.lost:
            self._ended()
            return
        self._events = self._connection.events()
        self._update_reading()

    def _update_reading(self) -> None:
        reading = self._stopped or not (self._held or self._turn)
        if reading != self._reading and not self.lost:
            self._reading = reading
            (self._transport.resumeProducing if reading else self._transport.pauseProducing)()
