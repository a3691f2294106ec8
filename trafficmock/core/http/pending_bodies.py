"""Handles the bodies of requests that were announced without them (feature ``stream``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define
from msgspec import structs

from trafficmock.core import error_messages
from trafficmock.core.http.deferred_bodies import send_deferred, send_deferred_report
from trafficmock.core.state.lifecycle import RequestStage
from trafficmock.wire.outbound import ProxyError

if TYPE_CHECKING:
    from trafficmock.core.effects import EffectList
    from trafficmock.core.http.decisions import Decisions
    from trafficmock.core.http.request_routing import RequestRouting
    from trafficmock.core.shared_state import SharedState
    from trafficmock.core.state.lifecycle import PendingRequest
    from trafficmock.core.state.peers import Agent
    from trafficmock.wire.inbound import RequestBody
    from trafficmock.wire.payloads.serialized_request import SerializedRequest

_MOST_DIGITS = 20
"""The most digits of a content-length in a message: those of the largest 64-bit number."""


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
            self._fail(pending, text, out)
        elif report is not None:
            send_deferred_report(report, out)

    def overdue(self, pending: PendingRequest, out: EffectList) -> None:
        """Fail a request whose body did not arrive in time."""
        milliseconds = round(self.state.settings.body_timeout * 1000)
        text = error_messages.body_overdue(
            pending.subject, milliseconds, _declared_length(pending.request)
        )
        self._fail(pending, text, out)

    def _fail(self, pending: PendingRequest, text: str, out: EffectList) -> None:
        """Fail a request without a body, and the test that owns it, if that is known."""
        if pending.test is None:
            self.decisions.fail(pending, "internal", text, out)
        else:
            self.decisions.fail_owner(pending, "internal", text, out)

    def _hand_over(self, pending: PendingRequest, message: RequestBody, out: EffectList) -> None:
        """Send the request to the owner, if one of the matching routes is still registered.

        A request whose owner depends on its body gets one now.
        """
        self.state.body_deadlines.end(pending)
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


def _declared_length(request: SerializedRequest) -> str | None:
    """Return the content-length of a request, ``None`` without a valid one."""
    for name, value in request.headers.items():
        if name.lower() == "content-length" and value.isascii() and value.isdecimal():
            return value[:_MOST_DIGITS]
    return None
