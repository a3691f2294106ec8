"""Answers requests by their routes, in the place of a handler.

A route has a list of answers, a HAR, or records the real ones. A request is answered when its chain
comes to such a route; a HAR without an answer may leave it to the next one.
"""

from __future__ import annotations

from attrs import define
from msgspec import UNSET, UnsetType, structs

from trafficmock.core import error_messages
from trafficmock.core.answers.giving import Answers
from trafficmock.core.effects import EffectList
from trafficmock.core.har.har_lookup import HarLookup
from trafficmock.core.har.har_parts import HarEntryError
from trafficmock.core.har.match_rules import HarQuestion
from trafficmock.core.http.nearest_entry import missing_entry
from trafficmock.core.http.observation import clock_reading
from trafficmock.core.http.recorded_answers import RecordedAnswer
from trafficmock.core.ownership.registry import with_observer
from trafficmock.core.shared_state import SharedState
from trafficmock.core.state.lifecycle import Chain, PendingRequest, context_of
from trafficmock.core.state.registered import RegisteredRoute
from trafficmock.wire.outbound import ReplyAction, RequestReplied, RouteExpired
from trafficmock.wire.payloads.answer import Abort, Fulfill

_RECORDED = "the failure that was recorded"


@define
class RouteAnswers:
    """Answers requests by the answers of their routes."""

    state: SharedState
    answers: Answers

    def answer(
        self, pending: PendingRequest, chain: Chain, route: RegisteredRoute, out: EffectList
    ) -> bool | None:
        """Answer a request to whose route a chain has come.

        The owner is informed, and the use of the route is counted.

        :returns: ``None`` for a route whose requests a handler answers; ``False`` for one with a
            HAR that leaves the request to the next route.
        """
        kept = route.answers
        if kept is None:
            return None
        if kept.har is not None:
            return self._replay(kept.har, pending, chain, route, out)
        if kept.recording is not None:
            # The owner does not have the response, so it is sent it.
            pending.observers = with_observer(pending.observers, chain.owner.worker.id)
            self._notify_owner(pending, chain, route, out)
            recorded = RecordedAnswer(self.answers, kept.recording, pending, chain, out.now)
            recorded.fetch(route.id, out)
            return True
        met = (route if route.run is None else route.run).met
        index = min(met, len(kept.given) - 1)
        answer = kept.given[index]
        failed = isinstance(answer, Abort)
        self._notify_owner(
            pending,
            chain,
            route,
            out,
            "abort" if failed else UNSET,
            f"answer {index + 1} of its sequence" if failed else UNSET,
            step=index if len(kept.given) > 1 else UNSET,
        )
        self._give(pending, chain, answer, out)
        return True

    def _give(
        self, pending: PendingRequest, chain: Chain, answer: Fulfill | Abort, out: EffectList
    ) -> None:
        """Give an answer; the URL of a response is that of the request, with its changes."""
        if not isinstance(answer, Abort):
            response = structs.replace(answer.response, url=chain.request.url)
            answer = structs.replace(answer, response=response)
        self.answers.give(pending, answer, out, is_corrected=True)

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
        except HarEntryError as error:
            self._notify_owner(pending, chain, route, out, "abort", "an error of the HAR")
            text = error_messages.har_failed(pending.subject, error.text)
            self.answers.decisions.fail_owner(pending, "handler_failed", text, out)
            return True
        if found is not None:
            why = _RECORDED if isinstance(found.answer, Abort) else UNSET
            action: ReplyAction | UnsetType = "abort" if why else UNSET
            entries = [*found.entries]
            self._notify_owner(pending, chain, route, out, action, why, entries=entries)
            self._give(pending, chain, found.answer, out)
        elif lookup.not_found == "fallback":
            self._notify_owner(pending, chain, route, out, "fallback")
            return False
        else:
            self._notify_owner(pending, chain, route, out, "abort", missing)
            self._give(pending, chain, Abort("failed", missing), out)
        return True

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
            UNSET if pending.lost is None else pending.lost.text,
        )
        out.send(worker.id, notice)
        if self.state.registry.count(route):
            out.send(worker.id, RouteExpired(route.id))
