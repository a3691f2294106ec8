"""The union of all messages that a client may send, which the decoder takes."""

from trafficmock.wire import inbound, local_reports
from trafficmock.wire.waits import wait_messages

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
    | inbound.ReportQuery
    | inbound.RedactQuery
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
