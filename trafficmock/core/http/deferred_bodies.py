"""Bodies that come after their request was announced (feature ``stream``).

Nobody observes a request before its body is there: a fixture takes the first message about a
request for the whole of it, so a request with half a body would cost the handler its data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, evolve, frozen
from msgspec import UNSET, structs

from trafficmock.core import error_messages
from trafficmock.core.http.observation import send_observed
from trafficmock.core.lifecycle import RequestStage
from trafficmock.records import RequestBodyCame
from trafficmock.wire.limits import MAX_MESSAGE_BYTES
from trafficmock.wire.outbound import BodyLimits, ProxyError, RequestObserved
from trafficmock.wire.payloads import body

if TYPE_CHECKING:
    from typing import TypeVar

    from trafficmock.core.effects import EffectList
    from trafficmock.core.http.decisions import Decisions
    from trafficmock.core.http.observation import Sighting
    from trafficmock.core.http.request_routing import RequestRouting
    from trafficmock.core.lifecycle import PendingRequest
    from trafficmock.core.ownership.contexts import ContextTest
    from trafficmock.core.peers import Agent
    from trafficmock.core.settings import Settings
    from trafficmock.wire.inbound import RequestBody
    from trafficmock.wire.payloads.serialized_request import SerializedRequest
    from trafficmock.wire.payloads.serialized_response import SerializedResponse

    HasBody = TypeVar("HasBody", SerializedRequest, SerializedResponse)


_AROUND = 2**20
"""Bytes that are left in a message for what is not its body."""


@frozen
class DeferredObservation:
    """The observation of a request that is sent when its body is there, or will never be.

    :param request: its head.
    :param made_for: the test whose context it carries, if any.
    :param sighting: when its head came, where observers want to know.
    :param not_for: observers who began after it.
    """

    client_id: str
    request: SerializedRequest
    made_for: ContextTest | None = None
    sighting: Sighting | None = None
    not_for: frozenset[str] = frozenset()

    def without(self, observer: str) -> DeferredObservation:
        """Leave out an observer who began after it."""
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
        """Record the body and send the observers the request.

        :param content: the body; without it the request counts as cut off.
        :param limit: bytes that are kept of it, 0 for all.
        :returns: the request as it is now known.
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
    """Cut the body of a request or response to ``limit`` bytes, 0 for no limit, and mark it."""
    size = body.size(holder.body_base64)
    if not limit or size <= limit:
        return holder
    known = size if holder.body_size is UNSET else max(size, holder.body_size)
    beginning = body.beginning(holder.body_base64, limit)
    return structs.replace(holder, body_base64=beginning, truncated=True, body_size=known)


def for_workers(holder: HasBody) -> HasBody:
    """Leave out a body that is not whole: a test must not take a part of it for all."""
    if holder.truncated is not True or body.is_empty(holder.body_base64):
        return holder
    return structs.replace(holder, body_base64=body.NULL)


def body_limits(settings: Settings) -> BodyLimits:
    """Tell an agent how much of a body it may send; never more than fits in a message."""
    frame = min(settings.frame_bytes or MAX_MESSAGE_BYTES, MAX_MESSAGE_BYTES)
    most = max(frame - _AROUND, frame // 2) // 4 * 3
    return BodyLimits(
        history=min(settings.history_body_bytes or most, most),
        handler=min(settings.handler_body_bytes or most, most),
    )


_MOST_DIGITS = 20
"""Of a content-length that people are shown: the largest 64-bit number has as many."""


@define
class PendingBodies:
    """Takes the body that an owner waits for, and the copy of one that went upstream."""

    settings: Settings
    requests: RequestRouting
    decisions: Decisions

    def came(self, agent: Agent, message: RequestBody, out: EffectList) -> None:
        """Accept the body of a request that waits for it; another one is an error."""
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
        """Do without a body that came in a message which is not valid."""
        pending = agent.pending.get(request_id)
        report = agent.awaited.get(request_id)
        if pending is not None and pending.stage is RequestStage.AWAITS_BODY:
            self.decisions.fail_owner(pending, "internal", text, out)
        elif report is not None:
            report.send_deferred(out)

    def overdue(self, pending: PendingRequest, out: EffectList) -> None:
        """Fail a request whose body the application does not finish."""
        milliseconds = round(self.settings.body_timeout * 1000)
        text = error_messages.body_overdue(
            str(pending), milliseconds, _declared_length(pending.request)
        )
        self.decisions.fail_owner(pending, "internal", text, out)

    def _hand_over(self, pending: PendingRequest, message: RequestBody, out: EffectList) -> None:
        """Give the owner the body that it waits for, if it still wants it."""
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
        """Look whether a route is left that matches: uploading may take its time."""
        test, owner = pending.test, pending.owner
        if test is None or owner is None:
            return False
        left = [route_id for route_id in pending.routes if route_id in test.routes]
        if left and owner.route_id not in left:
            pending.owner = structs.replace(owner, route_id=left[0])
        return bool(left)


def _declared_length(request: SerializedRequest) -> str | None:
    """Give the content-length of a request's head, if it has one that is a number."""
    for name, value in request.headers.items():
        if name.lower() == "content-length" and value.isascii() and value.isdecimal():
            return value[:_MOST_DIGITS]
    return None
