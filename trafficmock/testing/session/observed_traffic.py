"""What a test saw of the application's traffic, redirects linked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import ada_url
from attrs import define, field

from trafficmock.testing.objects.response import ResponseState
from trafficmock.testing.session.request_state import RequestState

if TYPE_CHECKING:
    from trafficmock.wire.serialized_request import SerializedRequest
    from trafficmock.wire.serialized_response import SerializedResponse

Place = tuple[str, str]
"""A client id and a URL: how hops are told to belong together."""


@define
class ObservedTraffic:
    """Requests by id, in the order in which they were first heard of."""

    requests: dict[str, RequestState] = field(factory=dict)
    sequence: int = 0
    _awaited_hops: dict[Place, list[RequestState]] = field(factory=dict)
    _unlinked: dict[Place, list[RequestState]] = field(factory=dict)

    def observe(
        self, request_id: str, wire: SerializedRequest, client_id: str
    ) -> tuple[RequestState, bool]:
        """Take note of a request; tell whether it is new."""
        known = self.requests.get(request_id)
        if known is not None:
            return known, False
        self.sequence += 1
        state = RequestState(request_id, client_id, wire, self.sequence)
        self.requests[request_id] = state
        place = client_id, wire.url
        before = self._awaited_hops.get(place)
        if before:
            _link(before.pop(0), state)
        else:
            self._unlinked.setdefault(place, []).append(state)
        return state, True

    def respond(
        self, state: RequestState, wire: SerializedResponse
    ) -> tuple[ResponseState | None, RequestState | None]:
        """Take note of a response.

        :returns: it, unless the request had one; and the next hop if that was seen before.
        """
        response = ResponseState(state, wire)
        if not state.answer(response):
            return None, None
        if not wire.is_redirect():
            return response, None
        place = state.client_id, _target(response, wire.headers["location"])
        for candidate in self._unlinked.get(place, []):
            if candidate.sequence > state.sequence:
                self._unlinked[place].remove(candidate)
                _link(state, candidate)
                return response, candidate
        self._awaited_hops.setdefault(place, []).append(state)
        return response, None


def _target(response: ResponseState, location: str) -> str:
    try:
        return ada_url.URL(location, response.url).href
    except ValueError:
        return location


def _link(first: RequestState, second: RequestState) -> None:
    first.redirected_to, second.redirected_from = second, first
