"""What both kinds of recorder share: the rows, the byte budget and the event ids."""

from typing import Literal

from attrs import define, field

from trafficmock.history.budget import ByteBudget
from trafficmock.history.request_entry import RequestEntry
from trafficmock.history.rows import Rows
from trafficmock.history.websocket_entry import SocketEntry

Capture = Literal["all", "handled", "none"]

DEFAULT_BYTES = 128 * 1024 * 1024


@define(eq=False, kw_only=True)
class Recorder:
    """The store of a history; :class:`trafficmock.history.store.History` says what it is for."""

    capture: Capture = "all"
    http_limit: int = 1000
    socket_limit: int = 200
    byte_limit: int = DEFAULT_BYTES
    event_prefix: str = "e"
    requests: Rows[RequestEntry] = field(init=False)
    sockets: Rows[SocketEntry] = field(init=False)
    _events: int = field(init=False, default=0)

    def __attrs_post_init__(self) -> None:
        hides = self.capture == "handled"
        budget = ByteBudget(self.byte_limit)
        self.requests = Rows(limit=self.http_limit, budget=budget, hides_pending=hides)
        self.sockets = Rows(limit=self.socket_limit, budget=budget, hides_pending=hides)

    def _event_id(self) -> str:
        self._events += 1
        return f"{self.event_prefix}{self._events}"
