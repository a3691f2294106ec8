"""Bodies that come after their request was announced (feature ``stream``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, evolve
from msgspec import UNSET

from trafficmock.core import error_messages
from trafficmock.core.effects import Effects, Note, Send
from trafficmock.core.lifecycle import RequestStage
from trafficmock.wire import body
from trafficmock.wire.outbound import ProxyError

if TYPE_CHECKING:
    from trafficmock.core.decisions import Decisions
    from trafficmock.core.moment import Moment
    from trafficmock.core.peers import Agent
    from trafficmock.core.pending_request import PendingRequest
    from trafficmock.core.request_routing import Requests
    from trafficmock.core.settings import Settings
    from trafficmock.wire.inbound import RequestBody
    from trafficmock.wire.serialized_request import SerializedRequest

_MOST_DIGITS = 20
"""Of a content-length that people are shown: the largest 64-bit number has as many."""


@define
class Bodies:
    """Takes the body that an owner waits for, and the copy of one that went upstream."""

    settings: Settings
    requests: Requests
    decisions: Decisions

    def came(self, agent: Agent, message: RequestBody, now: Moment, out: Effects) -> None:
        """Take a body, once, from whom it is due."""
        request_id = message.request_id
        pending = agent.pending.get(request_id)
        report = agent.awaited.get(request_id)
        if pending is not None and pending.stage is RequestStage.AWAITS_BODY:
            self._hand_over(pending, message, now, out)
        elif report is not None and report.untold is not None:
            report.tell(out, message, limit=self.settings.history_body_bytes)
        else:
            text = error_messages.body_not_due(request_id)
            out.append(Note("warn", f"{agent.client_id}: {text}"))
            out.append(Send((agent.id,), ProxyError("invalid_message", text)))

    def unreadable(self, agent: Agent, request_id: str, text: str, out: Effects) -> None:
        """Do without a body that came in a message which is not valid."""
        pending = agent.pending.get(request_id)
        report = agent.awaited.get(request_id)
        if pending is not None and pending.stage is RequestStage.AWAITS_BODY:
            self.decisions.fail_owner(pending, "internal", text, out)
        elif report is not None:
            report.tell(out)

    def overdue(self, pending: PendingRequest, out: Effects) -> None:
        """Fail a request whose body the application does not finish."""
        milliseconds = round(self.settings.body_timeout * 1000)
        text = error_messages.body_overdue(
            str(pending), milliseconds, _declared_length(pending.request)
        )
        self.decisions.fail_owner(pending, "internal", text, out)

    def _hand_over(
        self, pending: PendingRequest, message: RequestBody, now: Moment, out: Effects
    ) -> None:
        """Give the owner what it waits for, if it still wants it."""
        self.decisions.deadlines.end(pending)
        pending.tell(out, message)
        if message.truncated is True:
            self.decisions.fail_owner(pending, "internal", self._cut(pending, message), out)
        elif self._still_wanted(pending):
            self.requests.hand_over(pending, now, out)
        else:
            self.decisions.pass_through(pending, out)

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
            pending.owner = evolve(owner, route_id=left[0])
        return bool(left)


def _declared_length(request: SerializedRequest) -> str | None:
    """Give the content-length of a request's head, if it has one that is a number."""
    for name, value in request.headers.items():
        if name.lower() == "content-length" and value.isascii() and value.isdecimal():
            return value[:_MOST_DIGITS]
    return None
