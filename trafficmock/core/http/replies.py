"""Replies: fixed responses of routes, by which the coordinator answers (feature ``reply``).

A request is answered at once if its owner is certain and the owner's newest matching route has a
reply. If a newer route of that test is undecidable, the worker gets the request instead, and runs
its handlers, one of which returns the reply.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define
from msgspec import UNSET, structs

from trafficmock.core.http import response_rules
from trafficmock.core.http.observation import clock_reading
from trafficmock.core.ownership.contexts import context_of
from trafficmock.core.ownership.kept_reply import KeptResponse, Reply
from trafficmock.core.ownership.registry import with_observer
from trafficmock.wire.features import REPLY
from trafficmock.wire.outbound import RequestReplied, RouteExpired
from trafficmock.wire.payloads import body

if TYPE_CHECKING:
    from collections.abc import Iterable

    from msgspec import UnsetType

    from trafficmock.core.effects import EffectList
    from trafficmock.core.http.decisions import Decisions
    from trafficmock.core.ownership.claims import Claimant
    from trafficmock.core.ownership.registry import RegisteredRoute, RegisteredTest, Registry
    from trafficmock.core.settings import Settings
    from trafficmock.core.state.lifecycle import PendingRequest
    from trafficmock.core.state.peers import Worker
    from trafficmock.wire.inbound import RecordedReply, RouteRegister
    from trafficmock.wire.outbound import Context
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
        if REPLY not in worker.features or (message.reply is UNSET and not message.replies):
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

    def route_for(self, pending: PendingRequest, claimant: Claimant) -> RegisteredRoute | None:
        """Return the route whose reply answers a request; ``None`` if the worker decides.

        :param claimant: the owner, and its matching routes.
        """
        test, routes = claimant
        newest = routes[0]
        for route in routes:
            if route.sequence > newest.sequence:
                newest = route
        reply = newest.reply
        if reply is None or test.id in pending.unsure:
            return None
        return newest if reply.response_to(pending.request) else None

    def give(self, pending: PendingRequest, test: RegisteredTest, out: EffectList) -> bool:
        """Answer a request by the reply of :attr:`.PendingRequest.reply`, and inform its owner.

        :returns: ``False`` if there is no such reply, or if the owner's routes have changed since
            they were compared (during a claim, or before the body arrived).
        """
        route = pending.reply
        if route is None or route.reply is None:
            return False
        kept = route.reply.response_to(pending.request)
        if kept is None:
            return False
        if test.routes.get(route.id) is not route or test.newest_route > pending.judged_at:
            return False
        self._answer(pending, test, route, kept, pending.request, out)
        return True

    def answers(
        self,
        pending: PendingRequest,
        owner: RegisteredTest,
        route: RegisteredRoute,
        request: SerializedRequest,
        out: EffectList,
    ) -> bool:
        """Answer a request to whose route a chain has come by the route's reply, if it has one.

        :param request: the request with the changes of the handlers before.
        """
        kept = None if route.reply is None else route.reply.response_to(request)
        if kept is not None:
            self._answer(pending, owner, route, kept, request, out)
        return kept is not None

    def _answer(  # noqa: PLR0917 - what a reply is made of
        self,
        pending: PendingRequest,
        owner: RegisteredTest,
        route: RegisteredRoute,
        kept: KeptResponse,
        request: SerializedRequest,
        out: EffectList,
    ) -> None:
        context: Context | UnsetType = context_of(pending.made_for)
        told = RequestReplied(
            pending.id,
            request,
            pending.client_id,
            route.id,
            owner.id,
            context,
            clock_reading(owner.worker, pending.announced_at),
        )
        out.send(owner.worker.id, told)
        self._count(route, owner.worker, out)
        self.decisions.reply(pending, request.url, kept.response, kept.headers_list, out)

    def given_by_worker(
        self, pending: PendingRequest, route_id: str, worker: Worker, out: EffectList
    ) -> bool:
        """Count a reply that the worker returned as the result of its handlers.

        :returns: ``False`` if the route is gone: then the worker runs the next handler.
        """
        route = self.registry.routes.get(route_id)
        test = None if route is None else route.test
        if route is None or route.reply is None or test is None or test.worker is not worker:
            out.send(worker.id, RouteExpired(route_id, pending.id))
            return False
        self._count(route, worker, out)
        pending.observers = with_observer(pending.observers, worker.id)
        if pending.owner is not None:
            pending.owner = structs.replace(pending.owner, route_id=route_id, route=route.shown)
        return True

    def _count(self, route: RegisteredRoute, worker: Worker, out: EffectList) -> None:
        if self.registry.count(route):
            out.send(worker.id, RouteExpired(route.id))


def _size(response: SerializedResponse) -> int:
    """Return the size of a response in characters: its body as base64, and its headers."""
    pairs = () if response.headers_list is UNSET else response.headers_list
    headers = (*response.headers.items(), *pairs)
    return body.letters(response.body_base64) + sum(len(n) + len(v) for n, v in headers)
