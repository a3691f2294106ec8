"""What became of each request: seen first, settled once, told once, reported after."""

from collections import Counter
from typing import Any

from attrs import define, field

from trafficmock import records
from trafficmock.core.effects import Dated, Effects, Send
from trafficmock.wire import inbound, outbound
from trafficmock.wire.codec import InvalidMessageError
from trafficmock.wire.inbound import RequestResponse
from trafficmock.wire.local_reports import Batch, RequestPassed
from trafficmock.wire.payloads.answer import Fetch

DECISIONS: dict[str, type] = {
    "passthrough": outbound.DecisionPassthrough,
    "continue": outbound.DecisionContinue,
    "fulfill": outbound.DecisionFulfill,
    "abort": outbound.DecisionAbort,
    "error": outbound.DecisionError,
}
SETTLES: dict[type, str] = {
    records.RequestPassedThrough: "passthrough",
    records.RequestContinued: "continue",
    records.RequestFulfilled: "fulfill",
    records.RequestAborted: "abort",
    records.RequestFailed: "error",
}
TERMINAL = tuple(DECISIONS.values())


@define
class Row:
    """One life of a request id.

    :param agent: the connection that announced it.
    :param recorded: the history was told of it. How long the id of a hop after nothing
        is in use cannot be told from outside.
    :param settled: how it ended.
    :param record: what the history was told of it.
    :param decision_sent: the agent was told.
    :param answered: those who saw the request saw an answer, or that there is none.
    :param awaiting: the agent still owes a report.
    :param body_pending: its body is still to come, so that nobody may hear of it.
    :param asked: the agent was asked for its body.
    :param redirected: the agent may follow a redirect with a hop.
    :param let_go: the agent is gone, so that the wait for the hop ends without a word.
    :param unasked: the agent let it pass by itself, or the request that it was redirected from.
    """

    agent: str
    recorded: bool = True
    settled: str | None = None
    record: Any = None
    decision_sent: bool = False
    answered: bool = False
    awaiting: bool = False
    matched: bool = False
    ran: bool = False
    body_pending: bool = False
    asked: bool = False
    redirected: bool = False
    let_go: bool = False
    unasked: bool = False
    observers: set[str] = field(factory=set)

    def in_use(self) -> bool:
        return self.recorded and not self.let_go and (self.settled is None or self.awaiting)

    def may_be_in_use(self) -> bool:
        return self.in_use() or self.let_go or not self.recorded


@define
class RequestInvariants:
    """The books about requests; ``fetches`` counts who waits for which.

    :param subscribers: who asked to be told of requests. What passed unasked before is reported
        later than that, and only its end is told.
    """

    rows: dict[str, Row] = field(factory=dict)
    fetches: Counter[tuple[str, str, str]] = field(factory=Counter)
    subscribers: set[str] = field(factory=set)
    _refused: str | None = None

    def took(self, effects: Effects, sender: str | None, cause: object, agents: set[str]) -> None:
        """Check what an event led to; ``agents`` are there to hear of it."""
        self._said(sender, cause, effects, agents)
        unheard = []
        by_agent = isinstance(cause, RequestPassed | Batch) or (
            isinstance(cause, inbound.RequestObserve) and cause.decide is not True
        )
        for each in effects:
            effect = each.record if isinstance(each, Dated) else each
            if isinstance(effect, Send):
                self._sent(effect, sender, cause)
            elif type(effect) in SETTLES:
                unheard.append(self._settled(effect, by_agent=by_agent))
            elif isinstance(effect, records.RequestSeen):
                self._seen(effect, sender)
                self._refused = None
            elif isinstance(effect, records.RequestBodyCame):
                row = self.rows[effect.request_id]
                assert row.body_pending, f"nobody waits for {effect}"
                row.body_pending = False
            elif isinstance(effect, records.ResponseReported):
                self._reported(effect)
            elif isinstance(effect, records.HopSeen):
                self._hop(effect, sender)
        if isinstance(cause, Batch):
            # A message of it may free an id that a later one uses.
            self._hops_after_nothing(sender, cause, effects, agents)
        cancelled = isinstance(cause, inbound.RequestCancel)
        for row in unheard:
            assert row.decision_sent or cancelled or row.agent not in agents, "settled in silence"

    def leaving(self, connection_id: str) -> None:
        """Note that a connection is not there any more, though its requests may not be ended."""
        for row in self.rows.values():
            if row.agent == connection_id:
                row.let_go = row.awaiting and row.redirected

    def left(self, connection_id: str) -> None:
        """Note that all is done that a lost connection leads to."""
        for row in self.rows.values():
            if row.agent == connection_id:
                row.let_go = False
                assert row.settled, "an agent left, its request stayed"
                assert not row.body_pending, "an agent left, its body is still awaited"
                row.awaiting = False

    def unsettled(self) -> list[str]:
        """List the requests that still wait for a decision."""
        return [request_id for request_id, row in self.rows.items() if not row.settled]

    def _said(self, sender: str | None, cause: object, effects: Effects, agents: set[str]) -> None:
        """Take note of what the event says by itself."""
        self._refused = self._to_be_refused(sender, cause, agents)
        if isinstance(cause, inbound.TestSubscribe):
            self._subscribed(sender)
        self._hops_after_nothing(sender, cause, effects, agents)

    def _hops_after_nothing(
        self, sender: str | None, cause: object, effects: Effects, agents: set[str]
    ) -> None:
        if sender in agents:
            for each in cause.messages if isinstance(cause, Batch) else [cause]:
                if isinstance(each, inbound.RequestObserve):
                    self._hop_after_nothing(each, effects, sender)

    def _subscribed(self, worker: str | None) -> None:
        """Let a worker hear of the ends of what is on its way."""
        assert worker is not None
        self.subscribers.add(worker)
        for row in self.rows.values():
            row.observers.add(worker)

    def _hop_after_nothing(
        self, cause: inbound.RequestObserve, effects: Effects, sender: str
    ) -> None:
        row = self.rows.get(cause.request_id)
        all_records = [each.record if isinstance(each, Dated) else each for each in effects]
        recorded = any(
            isinstance(each, records.HopSeen) and each.request_id == cause.request_id
            for each in all_records
        )
        if not recorded and (row is None or not row.may_be_in_use()):
            self.rows[cause.request_id] = Row(sender, recorded=False, settled="hop")

    # Messages

    def _to_be_refused(self, sender: str | None, cause: object, agents: set[str]) -> str | None:
        """Tell which id, if any, the event must not get in with."""
        if sender not in agents:
            return None
        if isinstance(cause, InvalidMessageError) and cause.type in {
            "request:start",
            "request:observe",
        }:
            return cause.ids.get("requestId")
        if isinstance(cause, inbound.RequestStart):
            row = self.rows.get(cause.request_id)
            return cause.request_id if row is not None and row.may_be_in_use() else None
        return None

    def _sent(self, send: Send, sender: str | None, cause: object) -> None:
        message = send.message
        if isinstance(message, TERMINAL):
            self._decided(send, message, sender, cause)
        elif isinstance(message, outbound.DecisionFetch):
            row = self.rows[message.request_id]
            assert send.to == (row.agent,), f"fetch by somebody else: {send}"
            assert row.settled is None, f"late fetch: {send}"
            assert sender is not None
            self.fetches[message.request_id, message.fetch_id, sender] += 1
        elif isinstance(message, outbound.NeedBody):
            row = self.rows[message.request_id]
            assert send.to == (row.agent,), f"body from somebody else: {send}"
            assert row.settled is None and row.body_pending, f"needless: {send}"
            assert not row.asked, f"asked again: {send}"
            row.asked = True
        elif isinstance(message, outbound.FetchDone):
            self._fetch_done(send, message, cause)
        elif isinstance(message, outbound.RequestObserved):
            row = self.rows[message.request_id]
            assert not row.body_pending, f"told before its body: {send}"
            row.observers.update(send.to)
        elif isinstance(
            message, outbound.RequestMatched | outbound.HandlerRun | outbound.RequestReplied
        ):
            row = self.rows[message.request_id]
            assert not row.body_pending, f"matched before its body: {send}"
            assert not row.matched or row.ran, f"matched again: {send}"
            # Behind a handler, and a HAR that falls back, there may be another one.
            row.ran = isinstance(message, outbound.HandlerRun) or (
                isinstance(message, outbound.RequestReplied) and message.action == "fallback"
            )
            assert row.settled is None, f"matched late: {send}"
            assert len(send.to) == 1, f"matched to several: {send}"
            row.matched = True
            # With the feature `subscribe` an owner hears of the end though it did not observe.
            row.observers.update(send.to)
        elif isinstance(message, RequestResponse):
            row = self.rows[message.request_id]
            told = row.observers | self.subscribers if row.unasked else row.observers
            assert told.issuperset(send.to), f"response without request: {send}"
            assert row.settled is not None, f"response before the decision: {send}"
            assert not row.body_pending, f"response before the body: {send}"
            row.answered = True

    def _decided(self, send: Send, message: Any, sender: str | None, cause: object) -> None:
        if isinstance(cause, inbound.RequestObserve):
            self._hop_decided(send, message, sender, cause)
            return
        if message.request_id == self._refused:
            assert isinstance(message, outbound.DecisionError), f"a duplicate got {send}"
            assert message.code == "internal", f"a duplicate got {send}"
            return
        row = self.rows[message.request_id]
        assert send.to == (row.agent,), f"decision to somebody else: {send}"
        assert not row.decision_sent, f"told again: {send}"
        assert row.settled is not None, f"told before it was recorded: {send}"
        assert isinstance(message, DECISIONS[row.settled]), f"recorded {row.settled}, told {send}"
        row.decision_sent = True

    def _hop_decided(
        self, send: Send, message: Any, sender: str | None, cause: inbound.RequestObserve
    ) -> None:
        assert cause.decide is True, f"nobody asked: {send}"
        assert (send.to, message.request_id) == ((sender,), cause.request_id), f"another's: {send}"
        assert isinstance(message, outbound.DecisionPassthrough | outbound.DecisionError)
        if isinstance(message, outbound.DecisionPassthrough) or message.code != "internal":
            row = self.rows[message.request_id]
            refused = isinstance(message, outbound.DecisionError)
            assert (row.settled == "error") is refused, f"recorded {row.settled}, told {send}"
            row.decision_sent = True

    def _fetch_done(self, send: Send, message: outbound.FetchDone, cause: object) -> None:
        key = message.request_id, message.fetch_id
        if isinstance(cause, inbound.HandlerResult) and isinstance(cause.result, Fetch):
            assert key == (cause.request_id, cause.result.fetch_id), f"another fetch: {send}"
        else:
            self.fetches[*key, send.to[0]] -= 1
            assert self.fetches[*key, send.to[0]] >= 0, f"nobody waits for {send}"

    # Records

    def _seen(self, record: records.RequestSeen, sender: str | None) -> None:
        row = self.rows.get(record.request_id)
        assert row is None or not row.in_use(), f"seen while in use: {record}"
        assert sender is not None
        self.rows[record.request_id] = Row(sender, body_pending=record.body_pending)
        prior = self.rows.get(record.redirected_from or "")
        if prior is not None and prior.agent == sender:
            prior.awaiting = False

    def _settled(self, record: Any, *, by_agent: bool) -> Row:
        row = self.rows[record.request_id]
        assert row.settled is None, f"settled again: {record}"
        row.settled, row.record = SETTLES[type(record)], record
        row.awaiting = row.settled in {"continue", "passthrough"}
        row.decision_sent = row.unasked = by_agent and row.settled == "passthrough"
        if row.matched and row.settled != "passthrough":
            assert record.owner is not None, f"lost its owner: {record}"
        return row

    def _reported(self, record: records.ResponseReported) -> None:
        row = self.rows[record.request_id]
        assert row.recorded, f"reported, but never recorded: {record}"
        assert row.awaiting, f"nobody waits for {record}"
        answer = record.response
        row.redirected = answer is not None and answer.is_redirect() and record.error is None
        row.awaiting = record.body_pending or row.redirected

    def _hop(self, hop: records.HopSeen, sender: str | None) -> None:
        prior, known = self.rows[hop.prior_id], self.rows.get(hop.request_id)
        assert known is None or not known.in_use(), f"hop with an id in use: {hop}"
        assert prior.awaiting, f"hop after nothing: {hop}"
        assert prior.agent == sender, f"hop of somebody else: {hop}"
        assert prior.settled == hop.action, f"hop with another fate: {hop}"
        prior.awaiting = False
        fate = Row(prior.agent, settled=hop.action, awaiting=True, unasked=prior.unasked)
        self.rows[hop.request_id] = fate
