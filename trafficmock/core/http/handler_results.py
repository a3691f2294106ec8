"""Handles the results of handlers: their decisions and their fetches."""

from __future__ import annotations

from itertools import islice

from attrs import define
from msgspec import UNSET, UnsetType, structs

from trafficmock.core import error_messages
from trafficmock.core.answers.answer_reading import AnswerReader
from trafficmock.core.answers.giving import Answers
from trafficmock.core.answers.languages import WrongOptionError
from trafficmock.core.effects import EffectList
from trafficmock.core.http import request_changes, upstream_fetches
from trafficmock.core.http.decisions import Decisions
from trafficmock.core.http.request_routing import RequestRouting
from trafficmock.core.shared_state import SharedState
from trafficmock.core.state.lifecycle import PendingRequest
from trafficmock.core.state.peers import Agent, Worker
from trafficmock.core.state.stages import RequestStage
from trafficmock.texts.wording import Wording, url_text
from trafficmock.wire import outbound as to_client
from trafficmock.wire.features import SUBSCRIBE
from trafficmock.wire.inbound import FetchResult, HandlerResult
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.answer import (
    Abort,
    Continue,
    Fallback,
    Fetch,
    Fulfill,
    Written,
)
from trafficmock.wire.payloads.serialized_response import (
    REQUEST_SETTLED,
    SerializedError,
    SerializedResponse,
)

Action = Fulfill | Continue | Abort | Fetch | Fallback

_TOO_LATE = "The request is already settled, so nothing can be fetched for it."

_MATCHED = RequestStage.MATCHED  # as in `decisions`: looked up once, not for each request


@define
class HandlerResults:
    """Performs the actions of the handlers of requests."""

    state: SharedState
    requests: RequestRouting
    decisions: Decisions
    answers: Answers

    def result(self, worker: Worker, message: HandlerResult, out: EffectList) -> None:
        """Handle ``handler:result``: give an answer, go on to the next handler, or fetch."""
        action = message.result
        if isinstance(action, Written):
            self._read(worker, message, action, out)
        else:
            self._take(worker, message, action, out)

    def _read(self, worker: Worker, message: HandlerResult, made: Written, out: EffectList) -> None:
        """Read the options of a decision. One that is refused leaves the request undecided."""
        error: str | UnsetType = UNSET
        head: SerializedResponse | UnsetType = UNSET
        try:
            answer = AnswerReader(worker.language).decision(made)
        except WrongOptionError as refusal:
            error = str(refusal)
        else:
            if isinstance(answer, Fulfill) and SUBSCRIBE in worker.features:
                head = structs.replace(answer.response, body_base64=body.NULL)
            pending = self.state.pending.get(message.request_id)
            if isinstance(answer, Fulfill) and not answer.response.url and pending is not None:
                asked = pending.request if pending.chain is None else pending.chain.request
                response = structs.replace(answer.response, url=asked.url)
                answer = structs.replace(answer, response=response)
            self._take(worker, message, answer, out)
        run_id = message.run_id or ""
        out.send(worker.id, to_client.HandlerRead(message.request_id, run_id, error, head))

    def _take(
        self, worker: Worker, message: HandlerResult, action: Action, out: EffectList
    ) -> None:
        pending = self.state.pending.get(message.request_id)
        if pending is None or not _is_in_hand(pending, worker):
            self._not_yours(worker, message, action, pending, out)
        elif pending.chain is not None and message.run_id != pending.chain.run_id:
            self._not_yours(worker, message, action, None, out)
        else:
            self._act(pending, worker, action, out)

    def _act(
        self, pending: PendingRequest, worker: Worker, action: Action, out: EffectList
    ) -> None:
        chain = pending.chain
        match action:
            case Fetch():
                if chain is not None:
                    changes = request_changes.merged(chain.changes, action.overrides)
                    fetched = request_changes.for_fetch(pending.request, changes)
                    action = structs.replace(action, overrides=fetched)
                self._fetch(pending, worker, action, out)
            case Fallback() if chain is not None:
                self.requests.chains.fall_back(pending, chain, action.overrides)
                self.requests.proceed(pending, chain, out)
            case Fallback():
                text = "Only a worker that announced the feature 'chain' may fall back."
                self.decisions.fail_owner(pending, "handler_failed", text, out)
            case _:
                self.answers.give(pending, action, out)

    def _not_yours(
        self,
        worker: Worker,
        message: HandlerResult,
        action: Action,
        pending: PendingRequest | None,
        out: EffectList,
    ) -> None:
        """Drop a result that is late, or log one of a worker that does not own the request."""
        request_id = message.request_id
        if pending is not None:
            what = f"{worker.client_id} sent a result for a request it does not own: "
            out.note("warn", Wording(what, pending.subject))
        if isinstance(action, Fetch):
            code = REQUEST_SETTLED if pending is None else UNSET
            error = SerializedError("Error", _TOO_LATE, code=code)
            answer = to_client.FetchDone(request_id, action.fetch_id, ok=False, error=error)
            out.send(worker.id, answer)

    def _fetch(
        self, pending: PendingRequest, worker: Worker, action: Fetch, out: EffectList
    ) -> None:
        def tell(answer: to_client.FetchDone, out: EffectList) -> None:
            out.send(worker.id, answer)

        if not upstream_fetches.begin(pending, action, tell, out):
            what = f"{worker.client_id} used the fetch id {action.fetch_id} twice for "
            out.note("warn", Wording(what, pending.subject))

    def fetched(self, agent: Agent, message: FetchResult, out: EffectList) -> None:
        """Hand the result of a fetch over, also after the request was settled."""
        receiver = upstream_fetches.take(agent, message.request_id, message.fetch_id)
        if receiver is None:
            return
        response, error = message.response, message.error
        if message.ok and response is not UNSET:
            limit, size = self.state.settings.handler_body_bytes, body.size(response.body_base64)
            if limit and size > limit:
                subject = url_text(response.url or "the fetched URL")
                error = SerializedError(
                    "Error", error_messages.too_big_for_handler(subject, size, limit)
                )
                response = UNSET
        else:
            response = UNSET
            error = error or SerializedError(
                "Error", "The agent reported neither response nor error."
            )
        answer = to_client.FetchDone(
            message.request_id,
            message.fetch_id,
            ok=response is not UNSET,
            response=response,
            error=error if response is UNSET else UNSET,
        )
        receiver(answer, out)

    def agent_lost(self, agent: Agent, error: SerializedError, most: int, out: EffectList) -> int:
        """Answer by an error the fetches of a disconnected agent.

        :returns: the number of answered fetches, at most ``most``.
        """
        lost = list(islice(agent.fetches, most))
        for request_id, fetch_id in lost:
            upstream_fetches.fail(agent, request_id, fetch_id, error, out)
        return len(lost)


def _is_in_hand(pending: PendingRequest, worker: Worker) -> bool:
    """Return whether a handler of this worker has the request."""
    test = pending.test
    return test is not None and test.worker is worker and pending.stage is _MATCHED
