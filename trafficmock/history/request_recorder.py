"""What may happen to a request, and what is then remembered."""

from typing import Literal

from msgspec import UNSET

from trafficmock.history.entry import Owner
from trafficmock.history.recorder import Recorder
from trafficmock.history.request_entry import RequestEntry, announced, weigh, without_body
from trafficmock.history.rest_records import RequestOutcome, RequestRecord
from trafficmock.history.stored_bodies import Body
from trafficmock.wire.serialized_matcher import RouteMatchDiagnostic
from trafficmock.wire.serialized_request import SerializedOverrides, SerializedRequest
from trafficmock.wire.serialized_response import SerializedError, SerializedResponse

AWAITS_RESPONSE = frozenset({"continue", "passthrough"})
"""The actions after which an agent reports what came from upstream."""


class RequestRecorder(Recorder):
    """The stages of a request (protocol 3)."""

    __slots__ = ()

    def request_observed(
        self,
        request_id: str,
        client_id: str,
        request: SerializedRequest,
        at: int,
        *,
        body_pending: bool = False,
        prior_id: str | None = None,
    ) -> None:
        """Begin an entry: a request is paused and waits for a decision.

        :param body_pending: its body has not arrived.
        :param prior_id: the request whose redirect the client follows with it.
        """
        if self.capture != "none":
            entry = self._new_request(request_id, client_id, request, at)
            if body_pending:
                entry.record.request, entry.request_body = announced(request)
            entry.log(self._event_id(), at, "observed")
            self._link(entry, prior_id, client_id)
            self.requests.add(entry)

    def request_body_came(self, request_id: str, request: SerializedRequest) -> None:
        """Attach the body of a request that was observed without it, or as much as there is."""
        entry = self.requests.find(request_id)
        if entry is None:
            return
        self.requests.release(entry.request_body)
        entry.receive(request)
        entry.changed()
        self._hold(entry, entry.request_body)

    def request_passed_through(self, request_id: str, at: int) -> None:
        """Note that nobody wanted it: it goes upstream unchanged."""
        entry = self._pending_request(request_id)
        if entry is None:
            return
        if self.capture == "handled":
            self.requests.remove(entry)
            return
        entry.settle("passthrough", RequestOutcome("passthrough"), None, at)
        entry.log(self._event_id(), at, "passthrough")
        self.requests.settle(entry)

    def request_continued(
        self, request_id: str, owner: Owner, overrides: SerializedOverrides | None, at: int
    ) -> None:
        """Note that a handler sent it upstream, changed or not."""
        entry = self._pending_request(request_id)
        if entry is None:
            return
        entry.settle("continue", RequestOutcome("continued"), owner, at)
        entry.log(self._event_id(), at, "continue")
        grown = 0 if overrides is None else entry.override(overrides)
        self._settled(entry, entry.overrides_body, grown)

    def request_fulfilled(
        self, request_id: str, owner: Owner, response: SerializedResponse, at: int
    ) -> None:
        """Note that a handler answered it."""
        entry = self._pending_request(request_id)
        if entry is None:
            return
        outcome = RequestOutcome("mocked", route_id=owner.route_id, test_id=owner.test_id)
        entry.settle("fulfill", outcome, owner, at)
        entry.log(self._event_id(), at, "fulfill")
        grown = entry.answer(response)
        self._settled(entry, entry.response_body, grown)

    def request_aborted(
        self, request_id: str, owner: Owner | None, error_code: str, detail: str, at: int
    ) -> None:
        """Note that a handler aborted it, or that the application gave it up.

        :param detail: what the timeline says about it; may be empty.
        """
        entry = self._pending_request(request_id)
        if entry is None:
            return
        entry.settle("abort", RequestOutcome("aborted", error_code=error_code), owner, at)
        entry.log(self._event_id(), at, "abort", detail)
        self._settled(entry, None, len(error_code))

    def request_failed(  # noqa: PLR0917 - the order of the core's record
        self,
        request_id: str,
        owner: Owner | None,
        code: str,
        message: str,
        matches: list[RouteMatchDiagnostic] | None,
        at: int,
    ) -> None:
        """Note that nobody could decide; ``matches`` are the claimants of an ambiguous request."""
        entry = self._pending_request(request_id)
        if entry is None:
            return
        outcome = RequestOutcome("error", message=message, code=code, matches=matches or UNSET)
        entry.settle("error", outcome, owner, at)
        entry.log(self._event_id(), at, "error", message)
        self._settled(entry, None, len(message))

    def response_reported(
        self,
        request_id: str,
        response: SerializedResponse | None,
        error: SerializedError | None,
        at: int,
        *,
        body_pending: bool = False,
    ) -> None:
        """Note what came from upstream after passthrough or continue.

        A response and an error together are a response that broke off. An error with the code
        ``aborted`` is the application's doing: it gave the request up. An error that is
        reported for a hop which has already been redirected belongs to the last hop of the
        chain: the npm agent names the first.

        :param body_pending: the response is only a head; its body will be reported with it.
        """
        entry = self.requests.find(request_id)
        if response is None and entry is not None:
            entry = self._tail(entry)
        if entry is None or entry.action not in AWAITS_RESPONSE:
            return
        entry.time(at)
        if response is not None:
            self._answered(entry, response, at, body_pending=body_pending)
        elif entry.break_off():
            self.requests.release(entry.response_body)
        if response is None or error is not None:
            given_up = error is not None and error.code == "aborted"
            if given_up and entry.record.outcome.response is UNSET:
                outcome = RequestOutcome("aborted", error_code="aborted")
                entry.settle("abort", outcome, None, at)
            kind = "abort" if given_up else "upstream_error"
            entry.log(self._event_id(), at, kind, error.message if error else "")
            entry.changed()

    def _answered(
        self, entry: RequestEntry, response: SerializedResponse, at: int, *, body_pending: bool
    ) -> None:
        begun = entry.body_arrives
        self.requests.release(entry.response_body)
        grown = entry.begin_answer(response) if body_pending else entry.answer(response)
        if not begun:
            text = f"{response.status} {response.status_text}".rstrip()
            entry.log(self._event_id(), at, "response", text)
        self._settled(entry, entry.response_body, grown)

    def hop_observed(  # noqa: PLR0917 - the order of the core's record
        self,
        request_id: str,
        client_id: str,
        request: SerializedRequest,
        prior_id: str | None,
        action: Literal["continue", "passthrough"],
        owner: Owner | None,
        at: int,
    ) -> None:
        """Begin an entry for a redirect that an agent follows by itself, which nobody decides.

        :param prior_id: the hop before, linked both ways when it is still remembered.
        :param action: what was decided about the first request of the chain.
        :param owner: who decided it.
        """
        if self.capture == "none" or (self.capture == "handled" and action == "passthrough"):
            return
        entry = self._new_request(request_id, client_id, request, at)
        entry.record.action = action
        entry.record.outcome = RequestOutcome("continued" if action == "continue" else action)
        entry.own(owner)
        entry.log(self._event_id(), at, "observed", "redirect hop")
        self._link(entry, prior_id, None)
        self.requests.add(entry)

    def _link(self, entry: RequestEntry, prior_id: str | None, client_id: str | None) -> None:
        """Link an entry with the one that redirected to it, if that is still remembered.

        :param client_id: whose it must be.
        """
        prior = None if prior_id is None else self.requests.find(prior_id)
        if prior is None or prior is entry or prior_id == entry.id:
            return
        if client_id is not None and prior.record.client_id != client_id:
            return
        entry.record.redirected_from_id = prior.id
        prior.record.redirected_to_id = entry.id
        prior.changed()

    def _new_request(
        self, request_id: str, client_id: str, request: SerializedRequest, at: int
    ) -> RequestEntry:
        head, body = without_body(request)
        record = RequestRecord(
            id=request_id,
            timestamp=at,
            client_id=client_id,
            request=head,
            outcome=RequestOutcome("pending"),
            action="pending",
            events=[],
        )
        return RequestEntry(
            record=record,
            on_change=self.requests.touch,
            weight=weigh(request),
            request_body=body,
        )

    def _pending_request(self, request_id: str) -> RequestEntry | None:
        entry = self.requests.find(request_id)
        return entry if entry is not None and entry.pending else None

    def _settled(self, entry: RequestEntry, body: Body | None, grown: int) -> None:
        self.requests.settle(entry)
        self._hold(entry, body)
        self.requests.weigh(entry, grown)

    def _hold(self, entry: RequestEntry, body: Body | None) -> None:
        if body is not None and body.is_kept:
            self.requests.hold(entry, body, len(body.text))

    def _tail(self, entry: RequestEntry) -> RequestEntry | None:
        """Follow the redirects to the last hop; ``None`` when that is no longer remembered.

        It ends: a hop is always younger than the one it came from.
        """
        last: RequestEntry | None = entry
        while last is not None and last.record.redirected_to_id is not UNSET:
            last = self.requests.find(last.record.redirected_to_id)
        return last
