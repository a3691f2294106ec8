"""What the core wants done. The driver performs effects in the order of the list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from attrs import field, frozen
from msgspec import Struct

from trafficmock.records import Record

if TYPE_CHECKING:
    from trafficmock.core.ownership.kept_strictness import KeptStrictness
    from trafficmock.core.timers import Moment
    from trafficmock.wire.inbound import HistoryQuery, Message
    from trafficmock.wire.outbound import TestRegistered

Level = Literal["debug", "info", "warn", "error"]


class Send(Struct, frozen=True):
    """Send one message to these connections; it needs encoding only once.

    Connections that are gone by now are passed over.
    """

    to: tuple[str, ...]
    message: Message


class CloseConnection(Struct, frozen=True):
    """Close a connection after what was sent to it; its later messages are ignored."""

    connection_id: str
    code: int
    reason: str


class AbortConnection(Struct, frozen=True):
    """Drop a connection that cannot be expected to answer a close."""

    connection_id: str
    reason: str


class Wake(Struct, frozen=True):
    """Call ``tick`` at this moment (monotonic seconds) or soon after."""

    at: float


class Note(Struct, frozen=True):
    """Something for the log.

    :param of: the connection that it is about, where no name tells; the log says where that is.
    """

    level: Level
    text: str
    of: str | None = None


class Dated(Struct, frozen=True):
    """A record of what happened a while ago."""

    record: Record
    at: Moment


class AnswerQuery(Struct, frozen=True):
    """A worker asks for history, which the core does not know."""

    connection_id: str
    query: HistoryQuery


@frozen
class OpenDoor:
    """Open the door of a test, then acknowledge its registration with the door's port.

    :param to: the connection of its worker.
    :param context: that the door puts on requests.
    :param origins: globs of the application's origins.
    """

    to: str
    registered: TestRegistered
    context: str = field(repr=False)
    origins: tuple[str, ...]


class CloseDoor(Struct, frozen=True):
    """Close the door of a test, if it has one."""

    test_id: str


class KeepStrictness(Struct, frozen=True):
    """Keep who is strict for the next process on this port, before what follows is done."""

    kept: KeptStrictness


Effect = (
    Send
    | CloseConnection
    | AbortConnection
    | Wake
    | Note
    | AnswerQuery
    | OpenDoor
    | CloseDoor
    | KeepStrictness
    | Dated
    | Record
)
Effects = list[Effect]


class EffectList(list[Effect]):
    """The effects of one event in the order in which they are decided, and its time.

    :ivar now: when the event happened.
    """

    __slots__ = ("now",)

    def __init__(self, now: Moment) -> None:
        self.now = now  # without list.__init__, which has nothing to do: one is made per message

    def send(self, connection_id: str, message: Message) -> None:
        """Send one connection a message."""
        self.append(Send((connection_id,), message))

    def send_all(self, connection_ids: tuple[str, ...], message: Message) -> None:
        """Send several connections one message."""
        self.append(Send(connection_ids, message))

    def note(self, level: Level, text: str, *, of: str | None = None) -> None:
        """Write a line to the log; see :class:`Note`."""
        self.append(Note(level, text, of))

    record = list.append
    """Let the history remember something."""
