"""What the core wants done. The driver performs effects in the order of the list."""

from typing import Literal

from attrs import frozen

from trafficmock.records import Record
from trafficmock.wire.inbound import HistoryQuery, Message


@frozen
class Send:
    """Send one message to these connections; it needs encoding only once.

    Connections that are gone by now are passed over.
    """

    to: tuple[str, ...]
    message: Message


@frozen
class CloseConnection:
    """Close a connection after what was sent to it; nothing more it says is heard."""

    connection_id: str
    code: int
    reason: str


@frozen
class AbortConnection:
    """Drop a connection that cannot be expected to answer a close."""

    connection_id: str
    reason: str


@frozen
class Wake:
    """Call ``tick`` at this moment (monotonic seconds) or soon after."""

    at: float


@frozen
class Note:
    """Something for the log.

    :param of: the connection that it is about, where no name tells; the log says where that is.
    """

    level: Literal["debug", "info", "warn", "error"]
    text: str
    of: str | None = None


@frozen
class AnswerQuery:
    """A worker asks for history, which the core does not know."""

    connection_id: str
    query: HistoryQuery


Effect = Send | CloseConnection | AbortConnection | Wake | Note | AnswerQuery | Record
Effects = list[Effect]
