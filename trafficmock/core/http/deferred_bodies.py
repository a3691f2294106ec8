"""Bodies that come after the announcement of their request (feature ``stream``).

Observers get a request only when its body is there, because a fixture takes the request of the
first message as complete: a handler would read a request without its body.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, evolve, frozen
from msgspec import UNSET, structs

from trafficmock.core import error_messages
from trafficmock.core.http.observation import send_observed
from trafficmock.core.state.lifecycle import RequestStage
from trafficmock.records import RequestBodyCame
from trafficmock.wire.outbound import BodyLimits, ProxyError, RequestObserved
from trafficmock.wire.payloads import body

if TYPE_CHECKING:
    from typing import TypeVar

    from trafficmock.core.effects import EffectList
    from trafficmock.core.http.decisions import Decisions
    from trafficmock.core.http.observation import Sighting
    from trafficmock.core.http.request_routing import RequestRouting
    from trafficmock.core.ownership.contexts import ContextTest
    from trafficmock.core.settings import Settings
    from trafficmock.core.state.lifecycle import PendingRequest
    from trafficmock.core.state.peers import Agent
    from trafficmock.wire.inbound import RequestBody
    from trafficmock.wire.payloads.serialized_request import SerializedRequest
    from trafficmock.wire.payloads.serialized_response import SerializedResponse

    HasBody = TypeVar("HasBody", SerializedRequest, SerializedResponse)


_AROUND = 2**20
"""The bytes of a message that are reserved for everything but the body."""


@frozen
class DeferredObservation:
    """The observation of a request that is sent when its body has arrived, or never will.

    :param request: the request without its body.
    :param made_for: the test whose context the request carries, if any.
    :param sighting: the time of the request's head, if an observer needs it.
    :param not_for: the connections of observers that began to observe after the request.
    """

    client_id: str
    request: SerializedRequest
    made_for: ContextTest | None = None
    sighting: Sighting | None = None
    not_for: frozenset[str] = frozenset()

    def without(self, observer: str) -> DeferredObservation:
        """Return a copy that is not sent to an observer, which began after the request."""
        return evolve(self, not_for=self.not_for | {observer})

    def send(
        self,
        request_id: str,
        content: RequestBody | None,
        observers: tuple[str, ...],
        out: EffectList,
        *,
        limit: int = 0,
    ) -> SerializedRequest:
        """Record the body, and send the request to the observers.

        :param content: the body; without it the request is marked as truncated.
        :param limit: the most bytes of the body, 0 for all.
        :returns: the request with its body.
        """
        if content is None:
            request = structs.replace(self.request, truncated=True)
        else:
            request = structs.replace(
                self.request,
                body_base64=content.body_base64,
                truncated=content.truncated,
                body_size=content.body_size,
            )
        request = clipped(request, limit)
        out.record(RequestBodyCame(request_id, request))
        observers = tuple([each for each in observers if each not in self.not_for])
        if observers:
            observed = RequestObserved(request_id, for_workers(request), self.client_id)
            send_observed(observed, observers, self.made_for, self.sighting, out)
        return request


def clipped(holder: HasBody, limit: int) -> HasBody:
    """Cut the body of a request or response to ``limit`` bytes, and mark it as truncated.

    :param limit: 0 for no limit.
    """
    size = body.size(holder.body_base64)
    if not limit or size <= limit:
        return holder
    known = size if holder.body_size is UNSET else max(size, holder.body_size)
    beginning = body.beginning(holder.body_base64, limit)
    return structs.replace(holder, body_base64=beginning, truncated=True, body_size=known)


def for_workers(holder: HasBody) -> HasBody:
    """Remove a truncated body: a test must not take a part of a body for the whole."""
    if holder.truncated is not True or body.is_empty(holder.body_base64):
        return holder
    return structs.replace(holder, body_base64=body.NULL)


def body_limits(settings: Settings) -> BodyLimits:
    """Return the most bytes of a body that an agent may send: at most what fits in a message."""
    message = settings.message_bytes
    most = max(message - _AROUND, message // 2) // 4 * 3
    return BodyLimits(
        history=min(settings.history_body_bytes or most, most),
        handler=min(settings.handler_body_bytes or most, most),
    )


_MOST_DIGITS = 20
"""The most digits of a content-length in a message: those of the largest 64-bit number."""


@define
class PendingBodies:
    """Handles ``request:body``: of requests whose owner waits, and of those sent upstream."""

    settings: Settings
    requests: RequestRouting
    decisions: Decisions

    def came(self, agent: Agent, message: RequestBody, out: EffectList) -> None:
        """Handle the body of a request that waits for it; any other body is an error."""
        request_id = message.request_id
        pending = agent.pending.get(request_id)
        report = agent.awaited.get(request_id)
        if pending is not None and pending.stage is RequestStage.AWAITS_BODY:
            self._hand_over(pending, message, out)
        elif report is not None and report.deferred is not None:
            report.send_deferred(out, message, limit=self.settings.history_body_bytes)
        else:
            text = error_messages.body_not_due(request_id)
            out.note("warn", f"{agent.client_id}: {text}")
            out.send(agent.id, ProxyError("invalid_message", text))

    def unreadable(self, agent: Agent, request_id: str, text: str, out: EffectList) -> None:
        """Handle an invalid ``request:body``: fail the request, or observe it without a body."""
        pending = agent.pending.get(request_id)
        report = agent.awaited.get(request_id)
        if pending is not None and pending.stage is RequestStage.AWAITS_BODY:
            self.decisions.fail_owner(pending, "internal", text, out)
        elif report is not None:
            report.send_deferred(out)

    def overdue(self, pending: PendingRequest, out: EffectList) -> None:
        """Fail a request whose body did not arrive in time."""
        milliseconds = round(self.settings.body_timeout * 1000)
        text = error_messages.body_overdue(
            str(pending), milliseconds, _declared_length(pending.request)
        )
        self.decisions.fail_owner(pending, "internal", text, out)

    def _hand_over(self, pending: PendingRequest, message: RequestBody, out: EffectList) -> None:
        """Send the request to the owner, if one of the matching routes is still registered."""
        self.decisions.deadlines.end(pending)
        pending.send_deferred(out, message)
        if message.truncated is True:
            self.decisions.fail_owner(pending, "internal", self._cut(pending, message), out)
        elif self._still_wanted(pending):
            self.requests.hand_over(pending, out)
        else:
            self.requests.unmatched(pending, out)

    def _cut(self, pending: PendingRequest, message: RequestBody) -> str:
        limit = self.settings.handler_body_bytes
        came = body.size(message.body_base64)
        size = came if message.body_size is UNSET else max(came, message.body_size)
        if limit and size > limit:
            return error_messages.too_big_for_handler(str(pending), size, limit)
        return error_messages.body_cut(str(pending), size)

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
