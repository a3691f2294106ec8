"""What is known of a span: of a request, a WebSocket or a test."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from trafficmock.wire.payloads.quiet_repr import quiet_repr

if TYPE_CHECKING:
    from trafficmock.records import CarriedContext, Owner
    from trafficmock.telemetry.trace_parent import TraceParent


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


class Beginning(Struct, frozen=True, gc=False):
    """What is known of a request or a WebSocket before the decision about it.

    :param id: of the request or the WebSocket, as the history has it.
    :param method: the HTTP method.
    :param origin: the beginning of the URL: scheme, host and port.
    :param parent: the span of the application that its header ``traceparent`` names.
    :param carried: the test whose context it carries.
    :param resends: how many redirects led to this request.
    """

    id: str
    client_id: str
    method: str
    url: str
    origin: str
    at: int
    parent: TraceParent | None = None
    carried: CarriedContext | None = None
    resends: int = 0
    is_socket: bool = False

    __repr__ = quiet_repr


class TrafficSpan(Struct, eq=False, gc=False):
    """A request or a WebSocket: filled while its records come, encoded when it is over.

    :param begun: what came before the decision.
    :param decision: the action as the history has it; empty before the decision.
    :param took: the time until the decision, below zero where the clock was set back.
    :param status: the HTTP status; 0 without a response.
    :param error_type: ``error.type`` of the semantic conventions; empty without an error.
    :param error: the text for people.
    :param events: the first events, see ``dropped_events`` for the number of the others.
    """

    begun: Beginning
    decision: str = ""
    took: int = 0
    owner: Owner | None = None
    status: int = 0
    error_type: str = ""
    error: str = ""
    end: int = 0
    events: list[SpanEvent] | None = None
    dropped_events: int = 0

    __repr__ = quiet_repr

    def add_event(self, event: SpanEvent, most: int) -> None:
        """Keep an event, or count it if there are ``most`` already."""
        if self.events is None:
            self.events = []
        if len(self.events) < most:
            self.events.append(event)
        else:
            self.dropped_events += 1


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


def origin_of(url: str) -> str:
    """Return the beginning of a URL: scheme, host and port."""
    slash = url.find("/", 8)
    return url if slash < 0 else url[:slash]
