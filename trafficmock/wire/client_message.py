"""All messages that a client may send, as a union for the decoder; two queries, their answers."""

from msgspec import UNSET, UnsetType

from trafficmock.wire import inbound, local_reports
from trafficmock.wire.inbound import Message, RouteKind
from trafficmock.wire.waits import wait_messages


class RedactQuery(Message, frozen=True, tag="redact:query"):
    """A worker has texts redacted before it writes them.

    :param texts: any texts.
    :param redact: as in :class:`~trafficmock.wire.inbound.ReportQuery`.
    """

    query_id: str
    texts: list[str] | UnsetType = UNSET
    redact: list[str] | UnsetType = UNSET


class RedactResult(Message, frozen=True, tag="redact:result"):
    """Texts with marks for their secrets.

    :param texts: those of the query.
    :param error: why nothing was redacted: a word of ``redact`` is no field.
    """

    query_id: str
    texts: list[str]
    error: str | UnsetType = UNSET


class GlobQuery(Message, frozen=True, tag="glob:query"):
    """A worker asks for a glob as a regular expression.

    :param base_url: what a relative glob is resolved against.
    :param kind: whether the URLs are those of requests or of WebSockets.
    """

    query_id: str
    glob: str
    base_url: str | UnsetType = UNSET
    kind: RouteKind = "http"


class GlobResult(Message, frozen=True, tag="glob:result"):
    """Answers ``glob:query``.

    :param source: of a JavaScript regular expression without flags, for the whole URL.
    :param error: why the glob is invalid; then ``source`` is empty.
    """

    query_id: str
    source: str = ""
    error: str | UnsetType = UNSET


ClientMessage = (
    inbound.Hello
    | inbound.Ping
    | inbound.Pong
    | inbound.RequestStart
    | inbound.RequestBody
    | inbound.RequestCancel
    | inbound.FetchResult
    | inbound.RequestResponse
    | inbound.RequestObserve
    | local_reports.RequestPassed
    | local_reports.Batch
    | local_reports.FilterAck
    | local_reports.Synced
    | local_reports.ContextSeen
    | local_reports.RequestIgnored
    | local_reports.RunsTests
    | local_reports.LibraryUnhooked
    | inbound.AgentError
    | inbound.TestRegister
    | inbound.TestUnregister
    | inbound.TestSubscribe
    | inbound.TestStrict
    | inbound.RouteRegister
    | inbound.RouteUnregister
    | inbound.RequestClaimResult
    | inbound.SocketClaimResult
    | inbound.HandlerResult
    | inbound.HistoryQuery
    | inbound.DiagnosisQuery
    | GlobQuery
    | inbound.ReportQuery
    | inbound.ReportMake
    | inbound.RecordingQuery
    | RedactQuery
    | inbound.RunStrict
    | inbound.UnmatchedQuery
    | inbound.SocketOpen
    | inbound.MessageFromPage
    | inbound.MessageFromServer
    | inbound.SendToPage
    | inbound.SendToServer
    | inbound.SocketConnect
    | inbound.SocketEnsureOpened
    | inbound.ClosePage
    | inbound.CloseServer
    | inbound.StreamData
    | inbound.StreamEnd
    | inbound.StreamAbort
    | inbound.StreamAck
    | inbound.StreamClosed
    | wait_messages.WaitRegister
    | wait_messages.WaitJudged
    | wait_messages.WaitCancel
)
