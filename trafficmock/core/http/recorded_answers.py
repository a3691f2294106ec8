"""Answers requests by the real server, and records both: the routes whose HAR is recorded."""

from __future__ import annotations

from functools import partial

from attrs import frozen
from msgspec import UNSET

from trafficmock.core.answers.giving import Answers
from trafficmock.core.effects import EffectList, Moment
from trafficmock.core.http import request_changes, upstream_fetches
from trafficmock.core.state.har_recording import Exchange, HarRecording
from trafficmock.core.state.lifecycle import Chain, PendingRequest
from trafficmock.wire.http_syntax import lower_case, on_wire
from trafficmock.wire.outbound import FetchDone
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.abort_codes import ABORT_CODES
from trafficmock.wire.payloads.answer import Abort, Fetch, Fulfill
from trafficmock.wire.payloads.serialized_response import (
    REQUEST_SETTLED,
    SerializedError,
    SerializedResponse,
)

MOST_MS = 30_000
"""The milliseconds in which the real server has to answer."""

_GIVEN_UP = "the application gave the request up during the fetch"


@frozen(eq=False)
class RecordedAnswer:
    """The answer of the real server to one request of a route; the request began with it."""

    answers: Answers
    recording: HarRecording
    pending: PendingRequest
    chain: Chain
    began: Moment

    def fetch(self, route_id: str, out: EffectList) -> None:
        """Fetch the answer; the application gets it when it was recorded."""
        pending, chain, fetch_id = self.pending, self.chain, f"recording-{route_id}"
        sent = request_changes.for_fetch(pending.request, chain.changes)
        most_redirects = UNSET if self.recording.options.follow_redirects else 0
        upstream_fetches.begin(pending, Fetch(fetch_id, sent, most_redirects), self._fetched, out)
        text = f"Timeout {MOST_MS}ms exceeded while fetching for request {pending.id}"
        late = SerializedError("Error", text)
        fail = partial(upstream_fetches.fail, pending.agent, pending.id, fetch_id, late)
        self.answers.decisions.state.planned.plan(pending, MOST_MS, fail, out)

    def _fetched(self, answer: FetchDone, out: EffectList) -> None:
        """Record an answer, or why there is none; pass it on if the request still waits."""
        pending, state = self.pending, self.answers.decisions.state
        if self.chain.owner.is_over:
            return
        waits = pending.id in state.pending
        if waits:
            state.planned.cancel(pending)
        if answer.response is not UNSET:
            self._record(answer.response, out)
            if waits:
                self.answers.give(pending, Fulfill(_given(answer.response)), out)
            return
        code, text = "", "the fetch failed"
        if answer.error is not UNSET:
            code, text = answer.error.code or "", answer.error.message
        text = _GIVEN_UP if code == REQUEST_SETTLED else text
        self._record(text, out)
        if waits:
            self.answers.give(pending, Abort(ABORT_CODES.get(code, "failed")), out)

    def _record(self, response: SerializedResponse | str, out: EffectList) -> None:
        took = round((out.now.seconds - self.began.seconds) * 1000)
        exchange = Exchange(self.chain.request, response, self.began.epoch_ms, took)
        state = self.answers.decisions.state
        limit = state.settings.recording_bytes
        room = limit - state.registry.recorded_bytes() if limit else None
        self.recording.add(exchange, room)


def _given(response: SerializedResponse) -> SerializedResponse:
    """Return a fetched response as the application gets it."""
    lines = lower_case(response.headers, response.headers_list)
    lines = [line for line in lines if line[0] != "transfer-encoding"]
    size = body.size(response.body_base64)
    if size and all(name != "content-length" for name, _ in lines):
        lines.append(("content-length", str(size)))
    headers, listed = on_wire(lines)
    return SerializedResponse(
        response.status,
        response.status_text,
        headers,
        response.body_base64,
        response.url,
        listed,
        trailers=response.trailers,
    )
