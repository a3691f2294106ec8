"""The effects: the results of the core, which the driver performs in their order."""

from __future__ import annotations

from typing import Literal

from attrs import field, frozen
from msgspec import UNSET, Struct, UnsetType

from trafficmock.core.state.har_recording import Exchange
from trafficmock.records import Record
from trafficmock.wire.client_message import RedactQuery
from trafficmock.wire.inbound import (
    DiagnosisQuery,
    HistoryQuery,
    Message,
    RecordingQuery,
    ReportMake,
    ReportQuery,
)
from trafficmock.wire.outbound import TestRegistered
from trafficmock.wire.payloads.application_origins import ApplicationOrigins
from trafficmock.wire.payloads.quiet_repr import quiet_repr
from trafficmock.wire.payloads.serialized_har import SerializedRecording
from trafficmock.wire.payloads.unmet_routes import UnmetMatcher
from trafficmock.wire.waits.wait_messages import WaitKind

Level = Literal["debug", "info", "warn", "error"]


class Moment(Struct, frozen=True, gc=False):
    """A time on two clocks.

    :param seconds: monotonic seconds, for deadlines.
    :param epoch_ms: milliseconds since 1970, for the history and for messages.
    """

    seconds: float
    epoch_ms: int


class Send(Struct, frozen=True):
    """Send one message to several connections, encoded once.

    Closed connections are skipped.
    """

    to: tuple[str, ...]
    message: Message

    __repr__ = quiet_repr


class CloseConnection(Struct, frozen=True):
    """Close a connection after the messages sent before; its later messages are ignored."""

    connection_id: str
    code: int
    reason: str

    __repr__ = quiet_repr


class AbortConnection(Struct, frozen=True):
    """Abort a connection whose peer is not expected to answer a close frame."""

    connection_id: str
    reason: str

    __repr__ = quiet_repr


class Wake(Struct, frozen=True):
    """Call :meth:`.Coordinator.tick` at this time (monotonic seconds) or soon after."""

    at: float


class Note(Struct, frozen=True):
    """Write a log line.

    :param of: the connection of the line, if it has no client id; the driver adds its address.
    """

    level: Level
    text: str
    of: str | None = None

    __repr__ = quiet_repr


class Dated(Struct, frozen=True):
    """Record an event with an earlier time than that of the effects."""

    record: Record
    at: Moment


class AnswerQuery(Struct, frozen=True):
    """Answer the history query of a worker; the core does not have the history."""

    connection_id: str
    query: HistoryQuery


class AnswerReport(Struct, frozen=True):
    """Answer the query of a worker for the report of its run, from the history."""

    connection_id: str
    query: ReportQuery


class MakeReport(Struct, frozen=True):
    """Make the files of a report of what a worker sends, and send them to it."""

    connection_id: str
    query: ReportMake


class WriteRecording(Struct, frozen=True):
    """Send a worker what a route has recorded, as the files that it writes.

    :param options: how it is written.
    :param exchanges: oldest first.
    :param error: why there is no recording; empty if there is one.
    """

    connection_id: str
    query: RecordingQuery
    options: SerializedRecording
    exchanges: tuple[Exchange, ...]
    error: str = ""


class Redact(Struct, frozen=True):
    """Redact what a worker is about to write, and answer it."""

    connection_id: str
    query: RedactQuery


class ConnectedClient(Struct, frozen=True, rename="camel", omit_defaults=True):
    """A connected client, as ``/api/connections`` has it.

    :param connected_at: epoch milliseconds.
    :param kind: for agents: ``node`` for the Node agent, ``python`` for a Python process with the
        preload, ``proxy`` for another client of the forward proxy.
    :param pid: the id of its process, if the client sent it.
    :param command: the command line of that process, if the client sent it.
    """

    client_id: str
    connection_id: str
    connected_at: int
    kind: str | UnsetType = UNSET
    pid: int | UnsetType = UNSET
    command: str | UnsetType = UNSET


class Diagnose(Struct, frozen=True):
    """Answer a worker's query about what came to a test, from the history.

    :param agents: the connected agents.
    :param own: the ids of the asking test and of the shared tests of its worker; empty if the
        requests of all tests count.
    """

    connection_id: str
    query: DiagnosisQuery
    agents: list[ConnectedClient]
    own: frozenset[str]


class Overdue(Struct, frozen=True):
    """Send ``wait:overdue`` for a wait that nothing met in time, from the history.

    :param since: the registration of the test, in epoch milliseconds.
    :param agents: as in :class:`Diagnose`, as is ``own``.
    :param seen: lines about what the worker was sent since the registration, for a history that has
        nothing.
    """

    connection_id: str
    wait_id: str
    kind: WaitKind
    unmet: UnmetMatcher
    since: int
    agents: list[ConnectedClient]
    own: frozenset[str]
    seen: list[str] = []


@frozen
class OpenBrowserProxy:
    """Open the proxy of a test's browser (:mod:`trafficmock.proxy.browser_proxy`), then answer.

    :param to: the connection of the test's worker.
    :param registered: the acknowledgement, to which the driver adds the port.
    :param context: the context that the proxy writes on requests.
    :param application: what the application is.
    """

    to: str
    registered: TestRegistered
    context: str = field(repr=False)
    application: ApplicationOrigins


class CloseBrowserProxy(Struct, frozen=True):
    """Close the browser proxy of a test, if it has one."""

    test_id: str


Effect = (
    Send
    | CloseConnection
    | AbortConnection
    | Wake
    | Note
    | AnswerQuery
    | AnswerReport
    | MakeReport
    | WriteRecording
    | Redact
    | Diagnose
    | Overdue
    | OpenBrowserProxy
    | CloseBrowserProxy
    | Dated
    | Record
)
Effects = list[Effect]


class EffectList(list[Effect]):
    """The effects of one event, in order.

    :ivar now: the time of the event.
    """

    __slots__ = ("now",)

    def __init__(self, now: Moment) -> None:
        self.now = now  # list.__init__ is not called: it does nothing, and this runs per message

    def send(self, connection_id: str, message: Message) -> None:
        """Send a message to one connection."""
        self.append(Send((connection_id,), message))

    def send_all(self, connection_ids: tuple[str, ...], message: Message) -> None:
        """Send a message to several connections."""
        self.append(Send(connection_ids, message))

    def note(self, level: Level, text: str, *, of: str | None = None) -> None:
        """Write a log line; see :class:`Note`."""
        self.append(Note(level, text, of))

    record = list.append
    """Record an event of :mod:`trafficmock.records` in the history."""
