"""Writes the events of HTTP requests into their entries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attrs import define
from msgspec import UNSET

from trafficmock import records
from trafficmock.history.entry import MAX_DETAIL
from trafficmock.history.request_entry import RequestEntry, announced
from trafficmock.history.rest_records import RequestOutcome
from trafficmock.history.rows import Rows
from trafficmock.history.search import matches_weight
from trafficmock.history.stored_messages import Body, header_weight, without_body
from trafficmock.wire.payloads.serialized_response import FAULT, SerializedResponse

AWAITS_RESPONSE = frozenset({"continue", "passthrough"})
"""The actions after which an agent reports the upstream's response."""


@define(eq=False)
class RequestRecorder:
    """Writes the stages of requests (protocol 3).

    :param capture: as in :class:`trafficmock.history.store.History`.
    :param event_id: returns the id of the next event.
    """

    requests: Rows[RequestEntry]
    capture: str
    _event_id: Callable[[], str]

    def writers(self) -> dict[type, Callable[[Any, int], None]]:
        """Return the method that writes each type of event; it also gets the time in epoch ms."""
        return {
            records.RequestSeen: self._seen,
            records.RequestBodyCame: self._body_came,
            records.ContextMixedUp: self._mixed_up,
            records.RequestPassedThrough: self._passed_through,
            records.RequestContinued: self._continued,
            records.RequestFulfilled: self._fulfilled,
            records.StreamPieceSent: self._piece_sent,
            records.StreamEnded: self._stream_ended,
            records.AnswerNoted: self._answer_noted,
            records.RequestAborted: self._aborted,
            records.RequestFailed: self._failed,
            records.ResponseReported: self._reported,
            records.HopSeen: self._hop_seen,
        }

    def _seen(self, record: records.RequestSeen, at: int) -> None:
        self.requests.counts.saw(record.request_id, record.request.url, record.carried)
        if self.capture != "none":
            entry = self._new_request(record, at)
            entry.unwritten.append((self._write_seen, (record.carried, record.lost), at))
            if record.body_pending:
                entry.request, entry.request_body = announced(entry.request)
            if record.redirected_from is not None:
                self._link(entry, record.redirected_from, record.client_id)
            self._add(entry)
            if record.lost is not None:
                self.requests.weigh(entry, len(record.lost.how) + len(record.lost.remedy))

    def _write_seen(
        self,
        entry: RequestEntry,
        test: tuple[records.CarriedContext | None, records.LostContext | None],
        at: int,
    ) -> None:
        carried, lost = test
        entry.carries(carried)
        entry.record.lost = UNSET if lost is None else lost
        entry.log(self._event_id(), at, "observed")

    def _body_came(self, record: records.RequestBodyCame, _: int) -> None:
        entry = self.requests.find(record.request_id)
        if entry is None:
            return
        self.requests.release(entry.request_body)
        entry.receive(record.request)
        entry.changed()
        self._hold(entry, entry.request_body)

    def _mixed_up(self, record: records.ContextMixedUp, _: int) -> None:
        entry = self.requests.find(record.request_id)
        if entry is not None:
            entry.record.mixed = record.mixed
            entry.changed()
            grown = len(record.mixed.how) + len(record.mixed.remedy)
            self.requests.weigh(entry, grown + entry.passed(record.also_matched))

    def _passed_through(self, record: records.RequestPassedThrough, at: int) -> None:
        entry = self._undecided(record.request_id, "passthrough", None)
        if entry is None:
            return
        if self.capture == "handled":
            self.requests.remove(entry)
            return
        entry.action = "passthrough"
        also = record.also_matched
        entry.write_later(self._write_passed_through, also, at)
        self.requests.settle(entry)
        if also:
            self.requests.weigh(entry, sum(map(len, also[: records.MOST_ALSO_MATCHED])))

    def _write_passed_through(self, entry: RequestEntry, also: tuple[str, ...], at: int) -> None:
        entry.settle("passthrough", RequestOutcome("passthrough"), None, at)
        entry.log(self._event_id(), at, "passthrough")
        entry.passed(also)

    def _continued(self, record: records.RequestContinued, at: int) -> None:
        entry = self._undecided(record.request_id, "continue", record.owner)
        if entry is None:
            return
        entry.settle("continue", RequestOutcome("continued"), record.owner, at)
        entry.log(self._event_id(), at, "continue")
        grown = 0 if record.overrides is None else entry.override(record.overrides)
        self._settled(entry, entry.overrides_body, grown)

    def _fulfilled(self, record: records.RequestFulfilled, at: int) -> None:
        entry = self._undecided(record.request_id, "fulfill", record.owner)
        if entry is None:
            return
        entry.action = "fulfill"
        take = entry.begin_answer if record.body_pending else entry.answer
        grown = take(record.response)
        entry.write_later(self._write_fulfilled, record.owner, at)
        self._settled(entry, entry.response_body, grown)

    def _write_fulfilled(self, entry: RequestEntry, owner: records.Owner, at: int) -> None:
        outcome = RequestOutcome("mocked", route_id=owner.route_id, test_id=owner.test_id)
        entry.settle("fulfill", outcome, owner, at)
        entry.write_response()
        entry.log(self._event_id(), at, "fulfill")

    def _piece_sent(self, record: records.StreamPieceSent, at: int) -> None:
        entry = self.requests.find(record.request_id)
        if entry is not None:
            entry.time(at)
            grown = entry.log_piece(self._event_id(), at, record.size)
            entry.changed()
            if grown:
                self.requests.weigh(entry, grown)

    def _stream_ended(self, record: records.StreamEnded, at: int) -> None:
        entry = self.requests.find(record.request_id)
        if entry is None:
            return
        self.requests.release(entry.response_body)
        grown = entry.answer(record.response)
        entry.time(at)
        entry.write_response()
        if record.failure is None:
            entry.log(self._event_id(), at, "end")
        else:
            kind = "abort" if record.was_left else "broken_off"
            entry.log(self._event_id(), at, kind, record.failure)
        self._settled(entry, entry.response_body, grown)

    def _answer_noted(self, record: records.AnswerNoted, at: int) -> None:
        entry = self.requests.find(record.request_id)
        if entry is not None:
            entry.log(self._event_id(), at, record.kind, record.detail)
            entry.changed()

    def _aborted(self, record: records.RequestAborted, at: int) -> None:
        entry = self._undecided(record.request_id, "abort", record.owner)
        if entry is None:
            return
        outcome = RequestOutcome("aborted", error_code=record.error_code)
        entry.settle("abort", outcome, record.owner, at)
        detail = record.error_code if record.by_fault else record.detail
        entry.log(self._event_id(), at, "abort", detail)
        if record.by_fault:
            entry.log(self._event_id(), at, "broken_off", record.detail)
        self._settled(entry, None, len(record.error_code))

    def _failed(self, record: records.RequestFailed, at: int) -> None:
        entry = self._undecided(record.request_id, "error", record.owner)
        if entry is None:
            return
        message, matches = record.message, record.matches or UNSET
        outcome = RequestOutcome("error", message=message, code=record.code, matches=matches)
        entry.settle("error", outcome, record.owner, at)
        entry.log(self._event_id(), at, "error", message)
        self._settled(entry, None, len(message) + matches_weight(record.matches))

    def _reported(self, record: records.ResponseReported, at: int) -> None:
        """Write the upstream's response or error after passthrough or continue.

        A response and an error together are a response that broke off. The error code
        ``aborted`` means that the application cancelled the request. An error for a hop that
        was redirected belongs to the last hop of the chain: the npm agent reports such an error
        with the id of the first hop.
        """
        response, error = record.response, record.error
        entry = self.requests.find(record.request_id)
        if response is None and entry is not None:
            entry = self._tail(entry)
        if entry is None or entry.action not in AWAITS_RESPONSE:
            return
        if response is not None:
            self._answered(entry, response, at, body_pending=record.body_pending)
        else:
            entry.time(at)
            if entry.break_off():
                self.requests.release(entry.response_body)
        if response is None or error is not None:
            code = UNSET if error is None else error.code
            given_up = code == "aborted"
            if given_up and entry.record.outcome.response is UNSET:
                outcome = RequestOutcome("aborted", error_code="aborted")
                entry.settle("abort", outcome, None, at)
            kind = "broken_off" if code == FAULT else "abort" if given_up else "upstream_error"
            entry.log(self._event_id(), at, kind, error.message if error else "")
            entry.changed()

    def _answered(
        self, entry: RequestEntry, response: SerializedResponse, at: int, *, body_pending: bool
    ) -> None:
        write = self._write_rest_of_answer if entry.body_arrives else self._write_answer
        self.requests.release(entry.response_body)
        take = entry.begin_answer if body_pending else entry.answer
        grown = take(response)
        line = response.status, response.status_text[:MAX_DETAIL]
        entry.write_later(write, line, at)
        self._settled(entry, entry.response_body, grown)

    def _write_answer(self, entry: RequestEntry, line: tuple[int, str], at: int) -> None:
        self._write_rest_of_answer(entry, line, at)
        status, text = line
        entry.log(self._event_id(), at, "response", f"{status} {text}".rstrip())

    def _write_rest_of_answer(self, entry: RequestEntry, _: tuple[int, str], at: int) -> None:
        """Write a response whose head has been written before."""
        entry.time(at)
        entry.write_response()

    def _hop_seen(self, record: records.HopSeen, at: int) -> None:
        action = record.action
        counts = self.requests.counts
        counts.saw(record.request_id, record.request.url, record.carried)
        counts.decided(record.request_id, action, record.owner)
        if self.capture == "none" or (self.capture == "handled" and action == "passthrough"):
            return
        entry = self._new_request(record, at)
        entry.action = entry.record.action = action
        entry.record.outcome = RequestOutcome("continued" if action == "continue" else action)
        entry.carries(record.carried)
        entry.own(record.owner)
        entry.log(self._event_id(), at, "observed", "redirect hop")
        self._link(entry, record.prior_id, None)
        self._add(entry)

    def _link(self, entry: RequestEntry, prior_id: str, client_id: str | None) -> None:
        """Link an entry with the one that redirected to it, if the history still has that one.

        :param client_id: the client that the earlier entry must have; ``None`` for any.
        """
        prior = self.requests.find(prior_id)
        if prior is None or prior is entry or prior_id == entry.id:
            return
        if client_id is not None and prior.client_id != client_id:
            return
        entry.record.redirected_from_id = prior.id
        prior.record.redirected_to_id = entry.id
        prior.changed()

    def _new_request(self, seen: records.RequestSeen | records.HopSeen, at: int) -> RequestEntry:
        head, body = without_body(seen.request)
        line = len(seen.request_id) + len(head.method) + len(head.url)
        return RequestEntry(
            id=seen.request_id,
            timestamp=at,
            client_id=seen.client_id,
            on_change=self.requests.touch,
            weight=line + header_weight(head.headers, head.headers_list),
            request=head,
            request_body=body,
            elsewhere=getattr(seen, "elsewhere", None),
        )

    def _add(self, entry: RequestEntry) -> None:
        body = entry.request_body
        if body is not None and body.is_kept:
            self.requests.add(entry, body, len(body.stored))
        else:
            self.requests.add(entry)

    def _undecided(
        self, request_id: str, action: str, owner: records.Owner | None
    ) -> RequestEntry | None:
        """Count a decision, and return the entry of its request.

        :returns: ``None`` for a second decision, and if the history does not have the request,
            which may have been dropped.
        """
        self.requests.counts.decided(request_id, action, owner)
        entry = self.requests.find(request_id)
        return entry if entry is not None and entry.action == "pending" else None

    def _settled(self, entry: RequestEntry, body: Body | None, grown: int) -> None:
        self.requests.settle(entry)
        if body is not None:
            self._hold(entry, body)
        if grown:
            self.requests.weigh(entry, grown)

    def _hold(self, entry: RequestEntry, body: Body | None) -> None:
        if body is not None and body.is_kept:
            self.requests.hold(entry, body, len(body.stored))

    def _tail(self, entry: RequestEntry) -> RequestEntry | None:
        """Return the last hop of a chain of redirects, ``None`` if the history has dropped it.

        The loop ends, because each hop is younger than the one before.
        """
        last: RequestEntry | None = entry
        while last is not None and last.record.redirected_to_id is not UNSET:
            last = self.requests.find(last.record.redirected_to_id)
        return last
