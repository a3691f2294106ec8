"""Handles the reports of agents about requests that they let pass without asking."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attrs import define
from msgspec import UNSET, structs

from trafficmock import records
from trafficmock.core.effects import Dated, EffectList, Moment
from trafficmock.core.http.awaited_reports import tell_of_ends
from trafficmock.core.http.observation import arrival_of, observers_of, send_observed
from trafficmock.core.local.local_decisions import LocalDecisions
from trafficmock.core.shared_state import SharedState
from trafficmock.core.state.lifecycle import AwaitedReport, DeferredObservation
from trafficmock.core.state.peers import Agent
from trafficmock.wire.features import CONTEXT, STREAM
from trafficmock.wire.local_reports import Batch, RequestPassed, Synced
from trafficmock.wire.outbound import RequestObserved
from trafficmock.wire.payloads import body


@define
class PassedRequests:
    """Records passed requests as if the agent had asked, and sends them to observers.

    :param handle: handles a message of a batch.
    """

    state: SharedState
    local: LocalDecisions
    handle: Callable[[Agent, Any, EffectList], None]

    def batch(self, agent: Agent, message: Batch, out: EffectList) -> None:
        """Handle ``batch``: each message with the time at which it was written."""
        now = out.now
        for each, ago in zip(message.messages, message.ago, strict=True):
            if not ago:
                self.handle(agent, each, out)
                continue
            then = Moment(now.seconds - ago / 1000, now.epoch_ms - ago)
            effects = EffectList(then)
            self.handle(agent, each, effects)
            out.extend(
                Dated(effect, then) if isinstance(effect, records.Record) else effect
                for effect in effects
            )

    def reported(self, agent: Agent, message: RequestPassed, out: EffectList) -> None:
        """Handle ``request:passed``: a request that the agent has sent upstream."""
        request_id, client_id, request = message.request_id, message.client_id, message.request
        local, state = agent.local, self.state
        if local is None or request_id in state.pending or request_id in state.awaited.holders:
            out.note("warn", f"{client_id!r} let {request_id!r} pass, which is not its to decide")
            return
        local.passed += 1
        body_pending = message.body_pending is True and STREAM in agent.features
        if body_pending:
            request = structs.replace(request, body_base64=body.NULL)
        context_test = None
        if message.context is not UNSET and CONTEXT in agent.features:
            context_test = self.state.contexts.seen(message.context, out.now.seconds)
        of_all = self.state.registry.observers
        if self.state.registry.framework_call(request.url) is not None:
            context_test, of_all = None, ()
        elif context_test is not None:
            of_all = observers_of(context_test, self.state.registry)
        since = self.local.observed_since
        observers = tuple([each for each in of_all if since.get(each, 0) <= message.n])
        seen = records.RequestSeen(
            request_id,
            client_id,
            request,
            body_pending=body_pending,
            carried=None if context_test is None else context_test.carried,
        )
        out.record(seen)
        out.record(records.RequestPassedThrough(request_id, ()))
        arrival = arrival_of(self.state.registry, out.now.seconds)
        deferred = None
        if body_pending:
            deferred = DeferredObservation(client_id, request, context_test, arrival)
        elif observers:
            observed = RequestObserved(request_id, request, client_id)
            send_observed(observed, observers, context_test, arrival, out)
        report = AwaitedReport(
            request_id=request_id,
            action="passthrough",
            owner=None,
            observers=observers,
            head=request_id,
            deferred=deferred,
            context_test=context_test,
            unasked=True,
        )
        self.state.awaited.add(agent, report, out)

    def synced(self, agent: Agent, message: Synced, out: EffectList) -> None:
        """Handle ``synced``: new observers get the ends of the requests that passed before."""
        local = agent.local
        if local is not None and local.acknowledged < message.n <= self.local.n:
            since, new = self.local.observed_since, range(local.acknowledged + 1, message.n + 1)
            tests = [each for each in self.state.registry.tests.values() if each.subscribed]
            for worker_id, worker in {each.worker.id: each.worker for each in tests}.items():
                if since.get(worker_id) in new:
                    tell_of_ends(agent, worker)
        self.local.acknowledged(agent, message, out)
