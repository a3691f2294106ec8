"""Replies: fixed responses of routes, by which the coordinator answers (feature ``reply``).

A request is answered when its chain comes to a route with a reply.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define
from msgspec import UNSET

from trafficmock.core.http import response_rules
from trafficmock.core.http.observation import clock_reading
from trafficmock.core.ownership.contexts import context_of
from trafficmock.core.ownership.kept_reply import KeptResponse, Reply
from trafficmock.wire.features import CHAIN, REPLY
from trafficmock.wire.outbound import RequestReplied, RouteExpired
from trafficmock.wire.payloads import body

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trafficmock.core.effects import EffectList
    from trafficmock.core.http.decisions import Decisions
    from trafficmock.core.ownership.registry import RegisteredRoute, RegisteredTest, Registry
    from trafficmock.core.settings import Settings
    from trafficmock.core.state.lifecycle import PendingRequest
    from trafficmock.core.state.peers import Worker
    from trafficmock.wire.inbound import RecordedReply, RouteRegister
    from trafficmock.wire.payloads.serialized_request import SerializedRequest
    from trafficmock.wire.payloads.serialized_response import SerializedResponse


class ReplyError(ValueError):
    """A route cannot have this reply; the message is the reason."""


@define
class Replies:
    """Keeps replies, answers requests by them, and counts their uses."""

    settings: Settings
    registry: Registry
    decisions: Decisions

    def read(self, worker: Worker, message: RouteRegister, out: EffectList) -> Reply | None:
        """Return the reply of a route that is being registered.

        :returns: ``None`` for a route without a reply.
        :raises ReplyError: for a reply that is no valid HTTP response, and for a reply of a route
            for WebSockets.
        """
        knows = {CHAIN, REPLY} <= worker.features
        if not knows or (message.reply is UNSET and not message.replies):
            return None
        if message.kind != "http":
            raise ReplyError("only a route for HTTP requests has one")
        if message.reply is UNSET:
            return self._recorded(worker, message.replies or (), out)
        try:
            response = response_rules.sendable_response(message.reply)
        except response_rules.UnsendableMockError as error:
            raise ReplyError(str(error)) from error
        size = _size(response)
        if not self._has_room(size):
            self._note_no_room(size, worker, out)
            return Reply(None)
        return Reply(KeptResponse(response, message.reply.headers_list), size=size)

    def _recorded(
        self, worker: Worker, replies: Iterable[RecordedReply], out: EffectList
    ) -> Reply | None:
        """Keep the responses that are valid and fit in ``--reply-bytes``; the worker has all."""
        kept: dict[tuple[str, str], KeptResponse] = {}
        size = without_room = 0
        for each in replies:
            try:
                response = response_rules.sendable_response(each.response)
            except response_rules.UnsendableMockError:
                # The worker answers such a request, and its test then gets the error.
                continue
            more = _size(response) + len(each.method) + len(each.url)
            if self._has_room(size + more):
                kept[each.method, each.url] = KeptResponse(response, each.response.headers_list)
                size += more
            else:
                without_room += more
        if without_room:
            self._note_no_room(without_room, worker, out)
        return Reply(None, kept, size) if kept else None

    def _has_room(self, size: int) -> bool:
        limit = self.settings.reply_bytes
        return not limit or self.registry.reply_bytes + size <= limit

    def _note_no_room(self, size: int, worker: Worker, out: EffectList) -> None:
        limit = self.settings.reply_bytes
        text = f"No room for a reply of {size} bytes: --reply-bytes allows {limit} for all"
        out.note("warn", f"{text}. Its test answers by itself: {worker.client_id}")

    def answers(
        self,
        pending: PendingRequest,
        owner: RegisteredTest,
        route: RegisteredRoute,
        request: SerializedRequest,
        out: EffectList,
    ) -> bool:
        """Answer a request to whose route a chain has come by the route's reply, if it has one.

        The owner is informed, and the use of the route is counted.

        :param request: the request with the changes of the handlers before.
        """
        kept = None if route.reply is None else route.reply.response_to(request)
        if kept is None:
            return False
        worker = owner.worker
        told = RequestReplied(
            pending.id,
            request,
            pending.client_id,
            route.id,
            owner.id,
            context_of(pending.made_for),
            clock_reading(worker, pending.announced_at),
        )
        out.send(worker.id, told)
        if self.registry.count(route):
            out.send(worker.id, RouteExpired(route.id))
        self.decisions.reply(pending, request.url, kept.response, kept.headers_list, out)
        return True


def _size(response: SerializedResponse) -> int:
    """Return the size of a response in characters: its body as base64, and its headers."""
    pairs = () if response.headers_list is UNSET else response.headers_list
    headers = (*response.headers.items(), *pairs)
    return body.letters(response.body_base64) + sum(len(n) + len(v) for n, v in headers)
