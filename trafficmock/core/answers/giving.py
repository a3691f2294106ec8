"""Gives a request its answer: after its delay, whole, in parts, or as a stream."""

from __future__ import annotations

from functools import partial

from attrs import define
from msgspec import structs

from trafficmock.core import error_messages
from trafficmock.core.answers import response_rules
from trafficmock.core.answers.streamed_answers import StreamedAnswers
from trafficmock.core.effects import EffectList
from trafficmock.core.http import request_changes
from trafficmock.core.http.decisions import Decisions
from trafficmock.core.state.lifecycle import PendingRequest
from trafficmock.wire.outbound import DecisionAbort
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.answer import Abort, Continue, Fulfill


@define
class Answers:
    """Gives answers, whoever they come from: a handler, a route, or a HAR."""

    decisions: Decisions
    streams: StreamedAnswers

    def give(
        self,
        pending: PendingRequest,
        answer: Fulfill | Continue | Abort,
        out: EffectList,
        *,
        is_corrected: bool = False,
    ) -> None:
        """Give a request its answer, after the delay of that.

        A mock that cannot be sent fails the request and the owner's test.

        :param is_corrected: whether :mod:`.response_rules` have corrected the response of a mock.
        """
        match answer:
            case Fulfill():
                mock = answer if is_corrected else self._corrected(pending, answer, out)
                if mock is None:
                    return
                give = partial(self._fulfill, pending, mock)
            case Continue():
                give = partial(self._continue, pending, answer)
            case Abort():
                decision = DecisionAbort(pending.id, answer.error_code, answer.message)
                give = partial(self.decisions.abort, pending, decision)
        self.decisions.delay(pending, answer.delay_ms, give, out)

    def _corrected(self, pending: PendingRequest, mock: Fulfill, out: EffectList) -> Fulfill | None:
        given, features = mock.response, pending.agent.features
        if mock.stream:
            given = structs.replace(given, body_base64=body.NULL)
        try:
            response = response_rules.sendable_response(given)
        except response_rules.UnsendableMockError as error:
            self.decisions.refuse_mock(pending, error, out)
            return None
        if response is mock.response:
            return mock
        response = response_rules.with_given_length(response, given, features)
        return structs.replace(mock, response=response)

    def _fulfill(self, pending: PendingRequest, answer: Fulfill, out: EffectList) -> None:
        if answer.stream:
            self.streams.begin(pending, answer.response, out)
        elif answer.pieces or (answer.rate and not answer.fault):
            self.streams.play(pending, answer, out)
        else:
            self.decisions.fulfill(pending, answer.response, out, answer.fault)

    def _continue(self, pending: PendingRequest, answer: Continue, out: EffectList) -> None:
        chain, overrides = pending.chain, answer.overrides or None
        if chain is not None:
            changes = request_changes.merged(chain.changes, answer.overrides)
            if not request_changes.has_scheme_of(pending.url, changes):
                text = error_messages.other_scheme(pending.subject, changes.url or "")
                self.decisions.fail_owner(pending, "handler_failed", text, out)
                return
            overrides = request_changes.for_continue(pending.request, changes)
        self.decisions.continue_(pending, overrides, out, fault=answer.fault, rate=answer.rate)
