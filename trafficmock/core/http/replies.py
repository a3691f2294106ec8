"""Replies, by which the coordinator answers in the place of a handler (feature ``reply``).

The reply of a route is a fixed response, a sequence of answers, or a HAR. A request is answered
when its chain comes to such a route; a HAR without an answer may leave it to the next one.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from attrs import define
from msgspec import UNSET, structs

from trafficmock.core import error_messages
from trafficmock.core.har.har_lookup import HarAnswer, HarLookup
from trafficmock.core.har.har_parts import HarEntryError
from trafficmock.core.har.match_rules import HarQuestion, MatchRuleError
from trafficmock.core.http.nearest_entry import missing_entry
from trafficmock.core.http.observation import clock_reading
from trafficmock.core.http.recorded_answers import RecordedAnswer
from trafficmock.core.mocks import response_rules
from trafficmock.core.mocks.body_pacing import Pacing, as_recorded, at_rate, in_pieces
from trafficmock.core.ownership.kept_reply import KeptResponse, KeptStep, Reply, ReplySequence
from trafficmock.core.ownership.registry import with_observer
from trafficmock.core.state.har_recording import HarRecording
from trafficmock.core.state.lifecycle import context_of
from trafficmock.wire.features import CHAIN, REPLY
from trafficmock.wire.outbound import DecisionAbort, RequestReplied, RouteExpired
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.handler_action import Abort

if TYPE_CHECKING:
    from collections.abc import Sequence

    from msgspec import UnsetType

    from trafficmock.core.effects import EffectList
    from trafficmock.core.http.decisions import Decisions
    from trafficmock.core.http.streamed_replies import StreamedReplies
    from trafficmock.core.shared_state import SharedState
    from trafficmock.core.state.lifecycle import Chain, PendingRequest
    from trafficmock.core.state.peers import Worker
    from trafficmock.core.state.registered import RegisteredRoute
    from trafficmock.wire.inbound import RouteRegister
    from trafficmock.wire.outbound import ReplyAction
    from trafficmock.wire.payloads.handler_action import SequenceStep
    from trafficmock.wire.payloads.serialized_har import SerializedHar
    from trafficmock.wire.payloads.serialized_response import SerializedResponse

_STEP_SIZE, _PIECE_SIZE = 200, 8
"""What an answer of a sequence and the size of a piece count for in ``--reply-bytes``."""

_RECORDED = "the failure that was recorded"


class ReplyError(ValueError):
    """A route cannot have this reply; the message is the reason."""


@define
class Replies:
    """Keeps replies, and answers requests by them."""

    state: SharedState
    decisions: Decisions
    streams: StreamedReplies

    def read(self, worker: Worker, message: RouteRegister) -> Reply | None:
        """Return the reply of a route that is being registered.

        :returns: ``None`` for a route without a reply.
        :raises ReplyError: for a reply that is no valid HTTP response or exceeds
            ``--reply-bytes``, and for a reply of a route for WebSockets.
        """
        knows = {CHAIN, REPLY} <= worker.features
        reply, har, sequence = message.reply, message.har, message.sequence
        recorded = message.record
        if not knows or all(each is UNSET for each in (reply, har, sequence, recorded)):
            return None
        if message.kind != "http":
            raise ReplyError("only a route for HTTP requests has one")
        if reply is not UNSET:
            return self._fixed(reply, message.delay_ms)
        if sequence is not UNSET:
            return self._sequence(sequence)
        if recorded is not UNSET:
            return Reply(HarRecording(recorded))
        return None if har is UNSET else self._from_har(har)

    def _from_har(self, har: SerializedHar) -> Reply:
        try:
            lookup = HarLookup.of(har)
        except MatchRuleError as error:
            raise ReplyError(str(error)) from None
        self._check_room(lookup.size, f"the HAR {har.name}")
        return Reply(lookup, lookup.size)

    def _fixed(self, given: SerializedResponse, delay_ms: int | UnsetType) -> Reply:
        kept = _checked(given)
        size = _size(kept.response)
        self._check_room(size, "it")
        return Reply(_alone(kept), size, delay_ms)

    def _sequence(self, given: list[SequenceStep]) -> Reply:
        if not given:
            raise ReplyError("a sequence has one answer at least")
        steps = tuple(_kept_step(step, number) for number, step in enumerate(given, 1))
        size = sum(_size_of_step(step) for step in steps)
        self._check_room(size, "its sequence")
        return Reply(ReplySequence(steps), size)

    def _check_room(self, size: int, what: str) -> None:
        limit, used = self.state.settings.reply_bytes, self.state.registry.reply_bytes
        if limit and used + size > limit:
            raise ReplyError(error_messages.no_room_for_reply(what, size, used, limit))

    def answer(
        self, pending: PendingRequest, chain: Chain, route: RegisteredRoute, out: EffectList
    ) -> bool | None:
        """Answer a request to whose route a chain has come by the route's reply.

        The owner is informed, and the use of the route is counted.

        :returns: ``None`` for a route without a reply; ``False`` for one with a HAR that leaves
            the request to the next route.
        """
        if route.reply is None:
            return None
        kept = route.reply.kept
        if isinstance(kept, HarLookup):
            return self._replay(kept, pending, chain, route, out)
        if isinstance(kept, HarRecording):
            # The owner does not have the response, so it is sent it.
            pending.observers = with_observer(pending.observers, chain.owner.worker.id)
            self._notify_owner(pending, chain, route, out)
            RecordedAnswer(self.decisions, kept, pending, chain, out.now).fetch(route.id, out)
        elif isinstance(kept, ReplySequence):
            self._step(*kept.next_step(), pending, chain, route, out)
        else:
            self._notify_owner(pending, chain, route, out)
            self._give(KeptStep(kept, route.reply.delay_ms), kept, pending, chain, out)
        return True

    def _step(  # noqa: PLR0917 - the answer, and what it is given to
        self,
        index: int,
        step: KeptStep,
        pending: PendingRequest,
        chain: Chain,
        route: RegisteredRoute,
        out: EffectList,
    ) -> None:
        """Answer a request by a step of a route's sequence."""
        if isinstance(step.answer, KeptResponse):
            self._notify_owner(pending, chain, route, out, step=index)
            self._give(step, step.answer, pending, chain, out)
            return
        code = step.answer.error_code
        why = f"answer {index + 1} of its sequence"
        self._notify_owner(pending, chain, route, out, "abort", why, step=index)
        decision = DecisionAbort(pending.id, code, UNSET)
        fail = partial(self.decisions.abort, pending, decision)
        self.decisions.delay(pending, step.delay_ms, fail, out)

    def _replay(
        self,
        lookup: HarLookup,
        pending: PendingRequest,
        chain: Chain,
        route: RegisteredRoute,
        out: EffectList,
    ) -> bool:
        """Answer a request from a HAR."""
        # The owner does not have the response, so it is sent it.
        pending.observers = with_observer(pending.observers, chain.owner.worker.id)
        question = HarQuestion.of(chain.request)
        try:
            found = lookup.find(question)
            missing = ""
            if found is None:
                missing = missing_entry(lookup, question, self.state.registry.pattern_cache)
            answer = found.outcome if found is not None else None
            kept = _kept(answer) if isinstance(answer, HarAnswer) else None
        except HarEntryError as error:
            self._notify_owner(pending, chain, route, out, "abort", "an error of the HAR")
            text = error_messages.har_failed(str(pending), str(error), route.place)
            self.decisions.fail_owner(pending, "handler_failed", text, out)
            return True
        entries = UNSET if found is None else [*found.entries]
        if kept is not None:
            self._notify_owner(pending, chain, route, out, entries=entries)
            step = KeptStep(kept, UNSET)
            recorded = answer.pieces if isinstance(answer, HarAnswer) else ()
            self._give(step, kept, pending, chain, out, recorded=recorded)
        elif isinstance(answer, str):
            self._notify_owner(pending, chain, route, out, "abort", _RECORDED, entries=entries)
            self.decisions.abort(pending, DecisionAbort(pending.id, answer), out)
        elif lookup.not_found == "fallback":
            self._notify_owner(pending, chain, route, out, "fallback")
            return False
        else:
            self._notify_owner(pending, chain, route, out, "abort", missing)
            self.decisions.abort(pending, DecisionAbort(pending.id, "failed", missing), out)
        return True

    def _give(
        self,
        step: KeptStep,
        kept: KeptResponse,
        pending: PendingRequest,
        chain: Chain,
        out: EffectList,
        *,
        recorded: Sequence[tuple[int, int]] = (),
    ) -> None:
        """Send an answer.

        :param recorded: the pauses and bytes of the pieces in which a recorded one came.
        """
        url, given, fault = chain.request.url, kept.headers_list, step.fault
        give = partial(self.decisions.reply, pending, url, kept.response, given, fault)
        size = body.size(kept.response.body_base64)
        pacing = as_recorded(recorded, size) if recorded else _pacing(step, kept.response)
        if pacing is None:
            self.decisions.delay(pending, step.delay_ms, give, out)
            return
        response, worker = structs.replace(kept.response, url=url), chain.owner.worker
        before = step.delay_ms if step.rate else UNSET
        self.streams.give(pending, worker, response, pacing, give, out, delay_ms=before)

    def _notify_owner(  # noqa: PLR0917 - what the message is made of
        self,
        pending: PendingRequest,
        chain: Chain,
        route: RegisteredRoute,
        out: EffectList,
        action: ReplyAction | UnsetType = UNSET,
        why: str | UnsetType = UNSET,
        *,
        step: int | UnsetType = UNSET,
        entries: list[int] | UnsetType = UNSET,
    ) -> None:
        """Send ``request:replied`` to the owner's worker, and count the request (``times``)."""
        worker = chain.owner.worker
        notice = RequestReplied(
            pending.id,
            chain.request,
            pending.client_id,
            route.id,
            chain.owner.id,
            context_of(pending.context_test),
            clock_reading(worker, pending.announced_at),
            action,
            why,
            step,
            entries,
            UNSET if pending.lost is None else str(pending.lost),
        )
        out.send(worker.id, notice)
        if self.state.registry.count(route):
            out.send(worker.id, RouteExpired(route.id))


def _pacing(step: KeptStep, response: SerializedResponse) -> Pacing | None:
    """Return the pacing of an answer; ``None`` if it is sent at once."""
    if step.rate:
        return at_rate(body.size(response.body_base64), step.rate)
    return in_pieces(step.pieces, step.delay_ms or 0) if step.pieces else None


def _kept(found: HarAnswer) -> KeptResponse:
    """Return a recorded response as it is sent.

    :raises HarEntryError: it is no valid HTTP response.
    """
    try:
        return _checked(found.response)
    except ReplyError as error:
        raise HarEntryError(f"{found.entry}: {error}") from None


def _kept_step(step: SequenceStep, number: int) -> KeptStep:
    """Return an answer of a sequence as it is kept.

    :raises ReplyError: it is no valid HTTP response.
    """
    if isinstance(step.result, Abort):
        return KeptStep(step.result, step.delay_ms)
    if step.result.stream:
        raise ReplyError(f"answer {number} of its sequence is a stream")
    try:
        kept = _alone(_checked(step.result.response))
    except ReplyError as error:
        raise ReplyError(f"answer {number} of its sequence: {error}") from None
    pieces = () if step.pieces is UNSET else tuple(filter(None, step.pieces))
    if pieces and sum(pieces) != len(body.to_bytes(kept.response.body_base64)):
        raise ReplyError(f"the pieces of answer {number} are not as long as its body")
    rate = 0 if step.rate is UNSET else step.rate
    if rate and (pieces or step.result.fault is not UNSET):
        raise ReplyError(f"answer {number} has a rate, and pieces or a fault")
    return KeptStep(kept, step.delay_ms, step.result.fault, pieces, rate)


def _alone(kept: KeptResponse) -> KeptResponse:
    """Return a response whose body does not keep the whole message that it came in."""
    lone = body.alone(kept.response.body_base64)
    return KeptResponse(structs.replace(kept.response, body_base64=lone), kept.headers_list)


def _checked(given: SerializedResponse) -> KeptResponse:
    """Return a response as it is sent.

    :raises ReplyError: it is no valid HTTP response.
    """
    try:
        response = response_rules.sendable_response(given)
    except response_rules.UnsendableMockError as error:
        raise ReplyError(str(error)) from error
    return KeptResponse(response, given.headers_list)


def _size_of_step(step: KeptStep) -> int:
    size = _STEP_SIZE + _PIECE_SIZE * len(step.pieces)
    return size + (_size(step.answer.response) if isinstance(step.answer, KeptResponse) else 0)


def _size(response: SerializedResponse) -> int:
    """Return the size of a response in characters: its body as base64, and its headers."""
    pairs = () if response.headers_list is UNSET else response.headers_list
    headers = (*response.headers.items(), *pairs)
    return body.letters(response.body_base64) + sum(len(n) + len(v) for n, v in headers)
