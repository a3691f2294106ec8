"""What the proxy remembers of traffic that a test was not told of when it happened."""

import msgspec
from attrs import define, field
from msgspec import UNSET, Struct, UnsetType

from trafficmock.testing.errors import TestEndedError
from trafficmock.testing.objects.response import ResponseState
from trafficmock.testing.session.observed_traffic import ObservedTraffic
from trafficmock.testing.session.request_state import RequestState
from trafficmock.wire.inbound import RequestResponse
from trafficmock.wire.outbound import HistoryResult
from trafficmock.wire.serialized_matcher import RouteMatchDiagnostic
from trafficmock.wire.serialized_request import SerializedRequest
from trafficmock.wire.serialized_response import SerializedResponse

_WILL_NOT_ANSWER = frozenset({"aborted", "error"})


class RecordedOutcome(Struct, frozen=True):
    """How a recorded request ended, as far as it is known."""

    kind: str
    response: SerializedResponse | UnsetType = UNSET
    code: str | UnsetType = UNSET
    matches: list[RouteMatchDiagnostic] | UnsetType = UNSET


class RecordedRequest(Struct, frozen=True, rename="camel"):
    """One recorded request; ``title`` and ``path`` are those of the test that owned it."""

    id: str
    client_id: str
    request: SerializedRequest
    outcome: RecordedOutcome
    redirected_from_id: str | UnsetType = UNSET
    test_id: str | UnsetType = UNSET
    title: str | UnsetType = UNSET
    path: str | UnsetType = UNSET


_decoder = msgspec.json.Decoder(RecordedRequest)


@define
class RecordedTraffic:
    """Merges the proxy's history with what this test saw by itself.

    :param capture: what the history keeps, when that is not everything.
    :param entries: the recorded requests of the last answer, by id.
    """

    traffic: ObservedTraffic
    capture: str | None = None
    entries: dict[str, RecordedRequest] = field(factory=dict)
    _recorded: dict[str, RequestState] = field(factory=dict)

    def merge(self, result: HistoryResult) -> list[RequestState]:
        """List all requests since the test began, oldest first.

        Where the history does not keep everything, what the test saw comes after it.
        """
        self.capture = None if result.capture in (UNSET, "all") else str(result.capture)
        entries = [_decoder.decode(raw) for raw in reversed(result.entries)]
        self.entries = {entry.id: entry for entry in entries}
        states = {entry.id: self._state(entry) for entry in entries}
        for entry in entries:
            self._link(states, entry)
        return [
            *states.values(),
            *(state for key, state in self.traffic.requests.items() if key not in states),
        ]

    def responded(self, message: RequestResponse) -> None:
        """Settle a request that only the history told of."""
        state = self._recorded.get(message.request_id)
        if state is not None:
            found = message.response if message.ok else UNSET
            state.answer(None if found is UNSET else ResponseState(state, found))

    def end(self, error: Exception | None = None) -> None:
        """Fail those who wait for responses that will not be told of."""
        text = "the test ended while waiting for the response"
        for state in (*self._recorded.values(), *self.traffic.requests.values()):
            state.answered.reject(error or TestEndedError(text))

    def _state(self, entry: RecordedRequest) -> RequestState:
        seen = self.traffic.requests.get(entry.id)
        if seen is not None:
            return seen
        state = self._recorded.get(entry.id)
        if state is None:
            state = RequestState(entry.id, entry.client_id, entry.request, 0)
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
