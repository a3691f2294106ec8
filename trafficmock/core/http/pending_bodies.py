"""Handles the bodies of requests that were announced without them (feature ``stream``)."""

from __future__ import annotations

from attrs import define
from msgspec import structs

from trafficmock.core import error_messages
from trafficmock.core.effects import EffectList
from trafficmock.core.http.decisions import Decisions
from trafficmock.core.http.deferred_bodies import send_deferred, send_deferred_report
from trafficmock.core.http.missing_bodies import fail_without_body
from trafficmock.core.http.request_routing import RequestRouting
from trafficmock.core.shared_state import SharedState
from trafficmock.core.state.lifecycle import PendingRequest
from trafficmock.core.state.peers import Agent
from trafficmock.core.state.stages import RequestStage
from trafficmock.wire.inbound import RequestBody
from trafficmock.wire.outbound import ProxyError


@define
class PendingBodies:
    """Handles ``request:body``: of requests whose owner waits, and of those sent upstream."""

    state: SharedState
    requests: RequestRouting
    decisions: Decisions

    def arrived(self, agent: Agent, message: RequestBody, out: EffectList) -> None:
        """Handle the body of a request that waits for it; any other body is an error."""
        request_id = message.request_id
        pending = agent.pending.get(request_id)
        report = agent.awaited.get(request_id)
        if pending is not None and pending.stage is RequestStage.AWAITS_BODY:
            self._hand_over(pending, message, out)
        elif report is not None and report.deferred is not None:
            send_deferred_report(report, out, message, limit=self.state.settings.history_body_bytes)
        else:
            text = error_messages.body_not_due(request_id)
            out.note("warn", f"{agent.client_id}: {text}")
            out.send(agent.id, ProxyError("invalid_message", text))

    def unreadable(self, agent: Agent, request_id: str, text: str, out: EffectList) -> None:
        """Handle an invalid ``request:body``: fail the request, or observe it without a body."""
        pending = agent.pending.get(request_id)
        report = agent.awaited.get(request_id)
        if pending is not None and pending.stage is RequestStage.AWAITS_BODY:
            fail_without_body(self.decisions, pending, text, out)
        elif report is not None:
            send_deferred_report(report, out)

    def _hand_over(self, pending: PendingRequest, message: RequestBody, out: EffectList) -> None:
        """Send the request to the owner, if one of the matching routes is still registered.

        A request whose owner depends on its body gets one now.
        """
        self.state.deadlines.cancel(pending.body_deadline)
        send_deferred(pending, out, message)
        if pending.test is None:
            self.requests.find_owner_with_body(pending, out)
        elif self._still_wanted(pending):
            self.requests.hand_over(pending, out)
        else:
            self.requests.unmatched(pending, out)

    @staticmethod
    def _still_wanted(pending: PendingRequest) -> bool:
        """Return whether a matching route of the owner is left: an upload may take long."""
        test, owner = pending.test, pending.owner
        if test is None or owner is None:
            return False
        if pending.chain is not None:
            # It skips the routes that are gone, and knows what happens if none is left.
            return True
        left = [route_id for route_id in pending.routes if route_id in test.routes]
        if left and owner.route_id not in left:
            pending.owner = structs.replace(
                owner, route_id=left[0], route=test.routes[left[0]].shown
            )
        return bool(left)
