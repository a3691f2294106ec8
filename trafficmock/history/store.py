"""The front of the history: the driver records events in it, and REST reads its entries."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any, Literal

from attrs import define, field

from trafficmock.history.request_entry import RequestEntry
from trafficmock.history.request_recorder import RequestRecorder
from trafficmock.history.rest_records import Summary
from trafficmock.history.rows import ByteBudget, Rows
from trafficmock.history.traffic_counts import Tally
from trafficmock.history.websocket_entry import SocketEntry
from trafficmock.history.websocket_recorder import SocketRecorder
from trafficmock.records import Record, TestBegan
from trafficmock.redaction.redacted_events import redacting
from trafficmock.redaction.redactor import Redactor

Capture = Literal["all", "handled", "none"]

DEFAULT_BYTES = 128 * 1024 * 1024


@define(eq=False, kw_only=True)
class History:
    """Keeps requests and WebSockets, within bounds (protocol 3), for REST.

    ``requests`` and ``sockets`` are the :class:`~trafficmock.history.rows.Rows` to read from.

    :param capture: ``all``; ``handled``, which keeps only the requests and WebSockets that did not
        pass through, and shows them after their decision; or ``none``.
    :param http_limit: the most requests.
    :param socket_limit: the most WebSockets.
    :param byte_limit: bytes of all bodies and frames in stored form; 0 is no limit.
    :param redactor: replaces the secrets in what is kept; ``None`` keeps all as it came.
    :param event_prefix: the beginning of event ids, to make them unique across starts.
    """

    capture: Capture = "all"
    http_limit: int = 1000
    socket_limit: int = 200
    byte_limit: int = DEFAULT_BYTES
    redactor: Redactor | None = None
    event_prefix: str = "e"
    tally: Tally = field(init=False, factory=Tally)
    requests: Rows[RequestEntry] = field(init=False)
    sockets: Rows[SocketEntry] = field(init=False)
    writers: dict[type, Callable[[Any, int], None]] = field(init=False)
    """The function for each type of event, which :meth:`record` calls. The driver, which has many
    events, calls it directly."""

    def __attrs_post_init__(self) -> None:
        hides = self.capture == "handled"
        budget, tally = ByteBudget(self.byte_limit), self.tally
        self.requests = Rows(
            limit=self.http_limit, budget=budget, counts=tally.requests, hides_pending=hides
        )
        self.sockets = Rows(
            limit=self.socket_limit, budget=budget, counts=tally.web_sockets, hides_pending=hides
        )
        numbers = count(1)

        def event_id() -> str:
            return f"{self.event_prefix}{next(numbers)}"

        requests = RequestRecorder(self.requests, self.capture, event_id)
        sockets = SocketRecorder(self.sockets, self.capture, event_id)
        writers = requests.writers() | sockets.writers()
        redactor = self.redactor
        writers[TestBegan] = tally.began
        self.writers = writers if redactor is None else redacting(writers, redactor)

    def summary(self) -> Summary:
        """Return the counts since the start, also of what was not kept."""
        tally = self.tally
        return Summary(
            self.requests.totals(),
            self.sockets.totals(),
            tally.tests,
            tally.dropped,
            tally.unowned,
        )

    def record(self, record: Record, at: int) -> None:
        """Write an event into the history.

        An event with an unknown id, or one that comes too late (a second decision, a report after
        a mock), changes nothing and raises nothing: the history must not disturb decisions.

        :param at: the time of the event in epoch milliseconds.
        """
        self.writers[type(record)](record, at)
