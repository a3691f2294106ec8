"""The requests of a test: those that it observed, and those in the proxy's history."""

from itertools import zip_longest

import msgspec
from attrs import define, field
from msgspec import UNSET, Struct, UnsetType

from trafficmock.testing.errors import TestEndedError
from trafficmock.testing.session.observation.request_state import RequestState, ResponseState
from trafficmock.wire.inbound import RequestResponse
from trafficmock.wire.outbound import (
    HandlerRun,
    HistoryResult,
    RequestObserved,
    RequestReplied,
)
from trafficmock.wire.payloads.serialized_request import SerializedRequest
from trafficmock.wire.payloads.serialized_response import SerializedResponse, redirect_target

Hop = tuple[str, str]
"""A client id and a URL, by which the hops of a redirect are linked."""


@define
class ObservedTraffic:
    """The requests that the test observed, by id, in the order of their first messages."""

    requests: dict[str, RequestState] = field(factory=dict)
    sequence: int = 0
    _awaited_hops: dict[Hop, list[RequestState]] = field(factory=dict)
    _unlinked: dict[Hop, list[RequestState]] = field(factory=dict)

    def observe(self, message: RequestObserved | HandlerRun | RequestReplied) -> RequestState:
        """Add a request, unless it is known; return its state."""
        request_id, client_id, wire = message.request_id, message.client_id, message.request
        known = self.requests.get(request_id)
        if known is not None:
            return known
        self.sequence += 1
        shown = message.shown_url or wire.url
        state = RequestState(request_id, client_id, wire, shown, self.sequence)
        self.requests[request_id] = state
        place = client_id, wire.url
        before = self._awaited_hops.get(place)
        if before:
            _link(before.pop(0), state)
        else:
            self._unlinked.setdefault(place, []).append(state)
        return state

    def respond(self, state: RequestState, wire: SerializedResponse) -> None:
        """Set the response of a request that has none, and link it with the next hop."""
        response = ResponseState(state, wire)
        if not state.answer(response) or not wire.is_redirect():
            return
        target = redirect_target(response.url, wire.headers["location"])
        if target is None:
            return
        place = state.client_id, target
        for candidate in self._unlinked.get(place, []):
            if candidate.sequence > state.sequence:
                self._unlinked[place].remove(candidate)
                _link(state, candidate)
                return
        self._awaited_hops.setdefault(place, []).append(state)


def _link(first: RequestState, second: RequestState) -> None:
    first.redirected_to, second.redirected_from = second, first


_WILL_NOT_ANSWER = frozenset({"aborted", "error"})


class RecordedOutcome(Struct, frozen=True):
    """The outcome of a request in the history."""

    kind: str
    response: SerializedResponse | UnsetType = UNSET

    def __repr__(self) -> str:
        return f"RecordedOutcome({self.kind!r})"


class RecordedRequest(Struct, frozen=True, rename="camel"):
    """One request of the proxy's history.

    :param test_id: the test that owned it, or whose context it carries.
    :param has_context: whether it carries the context of that test.
    """

    id: str
    client_id: str
    request: SerializedRequest
    outcome: RecordedOutcome
    redirected_from_id: str | UnsetType = UNSET
    test_id: str | UnsetType = UNSET
    has_context: bool = False

    def __repr__(self) -> str:
        return f"RecordedRequest({self.id!r})"


_decoder = msgspec.json.Decoder(RecordedRequest)


@define(repr=False)
class RecordedTraffic:
    """Merges the proxy's history with the requests that this test observed.

    :param traffic: the observed requests.
    :param capture: what the history keeps (``--history-capture``); ``None`` for everything.
    :param entries: the requests of the last answer of the history, by id.
    """

    traffic: ObservedTraffic
    capture: str | None = None
    entries: dict[str, RecordedRequest] = field(factory=dict)
    _recorded: dict[str, RequestState] = field(factory=dict)

    def merge(self, result: HistoryResult) -> list[RequestState]:
        """Return all requests since the test began, oldest first.

        Observed requests that the history does not have come last.
        """
        self.capture = None if result.capture in (UNSET, "all") else str(result.capture)
        rows = zip_longest(result.entries, result.shown_urls or (), fillvalue="")
        found = [(_decoder.decode(raw), shown) for raw, shown in rows]
        entries = [entry for entry, _ in reversed(found)]
        self.entries = {entry.id: entry for entry in entries}
        states = {entry.id: self._state(entry, shown) for entry, shown in reversed(found)}
        for entry in entries:
            self._link(states, entry)
        return [
            *states.values(),
            *(state for key, state in self.traffic.requests.items() if key not in states),
        ]

    def responded(self, message: RequestResponse) -> None:
        """Set the response of a request that only the history has."""
        state = self._recorded.get(message.request_id)
        if state is not None:
            found = message.response if message.ok else UNSET
            state.answer(None if found is UNSET else ResponseState(state, found))

    def end(self, error: Exception | None = None) -> None:
        """Fail the waits for responses of requests that are still open."""
        text = "the test ended while waiting for the response"
        for state in (*self._recorded.values(), *self.traffic.requests.values()):
            state.answered.reject(error or TestEndedError(text))

    def _state(self, entry: RecordedRequest, shown_url: str) -> RequestState:
        return self.traffic.requests.get(entry.id) or self._recorded_state(entry, shown_url)

    def _recorded_state(self, entry: RecordedRequest, shown_url: str) -> RequestState:
        """Return the state of a request that this test did not observe."""
        state = self._recorded.get(entry.id)
        if state is None:
            shown = shown_url or entry.request.url
            state = RequestState(entry.id, entry.client_id, entry.request, shown, 0)
            self._recorded[entry.id] = state
        response = entry.outcome.response
        if response is not UNSET:
            state.answer(ResponseState(state, response))
        elif entry.outcome.kind in _WILL_NOT_ANSWER:
            state.answer(None)
        return state

    @staticmethod
    def _link(states: dict[str, RequestState], entry: RecordedRequest) -> None:
        before = states.get(entry.redirected_from_id or "")
        if before is not None and before.redirected_to is None:
            before.redirected_to = states[entry.id]
            states[entry.id].redirected_from = before
