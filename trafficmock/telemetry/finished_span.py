"""What is known of a span: of a request, a WebSocket or a test."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from trafficmock.records import CarriedContext, Owner
from trafficmock.telemetry.trace_parent import TraceParent
from trafficmock.wire.payloads.quiet_repr import quiet_repr

Beginning = tuple[str, str, str, int, TraceParent | None, CarriedContext | None, int]
"""What is known of a request or a WebSocket before the decision: client, method, URL, start,
the span that the header ``traceparent`` names, the test whose context it carries, and how many
redirects led to it. It is a tuple since one is made and read for each request."""

Values = tuple[
    str,
    str,
    str,
    int,
    str,
    str,
    str,
    int,
    int,
    int,
    Owner | None,
    CarriedContext | None,
    TraceParent | None,
    "Extras | None",
]
"""A request or a WebSocket that is over: client, method, decision (empty before it), status (0
without a response), ``error.type`` (empty without an error), id, URL, start, end and time until
the decision, the owner, the test whose context it carries, the span of the application, and
what few spans have."""

START: Final = 3
RESENDS: Final = 6
"""Where these are in a ``Beginning``."""


class SpanEvent(Struct, frozen=True, gc=False):
    """A piece of a streamed answer, or a message of a WebSocket.

    :param at: epoch nanoseconds, as are all times here.
    :param name: ``piece`` or ``message``.
    :param direction: ``client`` or ``server``, the sender; empty for a piece.
    :param size: bytes.
    """

    at: int
    name: str
    direction: str
    size: int


class Extras(Struct, frozen=True, gc=False):
    """What few spans have.

    One without any of it is there for a request that is not decided, or came after the end of its
    test: such a span is not written like those of others, either.

    :param resends: how many redirects led to the request.
    :param error: the text for people.
    """

    resends: int = 0
    is_socket: bool = False
    error: str = ""
    events: list[SpanEvent] | None = None
    dropped_events: int = 0

    __repr__ = quiet_repr


class TrafficSpan(Struct, eq=False, gc=False):
    """A request or a WebSocket that is not over, or is over with an error.

    :param id: of the request or the WebSocket, as the history has it.
    :param begun: what came before the decision.
    :param decision: the action as the history has it; empty before the decision.
    :param took: the time until the decision, below zero where the clock was set back.
    :param status: the HTTP status; 0 without a response.
    :param error_type: ``error.type`` of the semantic conventions; empty without an error.
    :param error: the text for people.
    :param events: the first events, see ``dropped_events`` for the number of the others.
    """

    id: str
    begun: Beginning
    decision: str = ""
    took: int = 0
    owner: Owner | None = None
    status: int = 0
    error_type: str = ""
    error: str = ""
    events: list[SpanEvent] | None = None
    dropped_events: int = 0
    is_socket: bool = False

    __repr__ = quiet_repr

    def add_event(self, event: SpanEvent, most: int) -> None:
        """Keep an event, or count it if there are ``most`` already."""
        if self.events is None:
            self.events = []
        if len(self.events) < most:
            self.events.append(event)
        else:
            self.dropped_events += 1

    def values(self, end: int) -> Values:
        """Return the span as it is exported; the clock may have been set back meanwhile."""
        client_id, method, url, start, parent, carried, resends = self.begun
        decision, took, extras = self.decision, self.took, None
        if resends or self.error or self.is_socket or self.events is not None or not decision:
            extras = Extras(resends, self.is_socket, self.error, self.events, self.dropped_events)
        elif carried is not None and carried.late:
            extras = Extras()
        return (
            client_id,
            method,
            decision,
            self.status,
            self.error_type,
            self.id,
            url,
            start,
            end if end > start else start,  # noqa: FURB136 - a call takes longer
            took if took > 0 else 0,  # noqa: FURB136
            self.owner,
            carried,
            parent,
            extras,
        )


class TestSpan(Struct, eq=False, kw_only=True, gc=False):
    """A test, from its registration to its end.

    :param trace_id: the context of the test, which is the trace id of its traffic; else random.
    :param passed: the result; ``None`` where the runner does not tell it.
    """

    __test__ = False

    test_id: str
    title: str
    file: str
    trace_id: bytes
    span_id: bytes
    start: int
    end: int = 0
    passed: bool | None = None
