"""One request of a test, which passes through the handlers until one decides it."""

from __future__ import annotations

import enum
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from attrs import define, field
from msgspec import UNSET, structs

from trafficmock.testing.errors import (
    AlreadyHandledError,
    RequestSettledError,
    TestEndedError,
    UndecidedError,
    UsageError,
)
from trafficmock.testing.promise import mapped
from trafficmock.testing.session.arguments import request_overrides as ch
from trafficmock.testing.session.handlers import handler_errors, handler_fetches, mock_response
from trafficmock.testing.session.observation.request_state import ResponseState
from trafficmock.wire.features import STRICT
from trafficmock.wire.inbound import HandlerResult
from trafficmock.wire.payloads.handler_action import Abort, Continue, Decline, Fetch, Fulfill

if TYPE_CHECKING:
    from trafficmock.testing.promise import Promise
    from trafficmock.testing.session.handlers.http_routes import RouteEntry
    from trafficmock.testing.session.observation.request_state import RequestState
    from trafficmock.testing.session.session import Session
    from trafficmock.wire.payloads.handler_action import AbortCode
    from trafficmock.wire.payloads.serialized_response import SerializedResponse

ABORT_CODES: dict[str, AbortCode] = {
    "aborted": "aborted",
    "accessdenied": "failed",
    "addressunreachable": "failed",
    "blockedbyclient": "failed",
    "blockedbyresponse": "failed",
    "connectionaborted": "failed",
    "connectionclosed": "failed",
    "connectionfailed": "failed",
    "connectionrefused": "connectionrefused",
    "connectionreset": "connectionreset",
    "failed": "failed",
    "internetdisconnected": "failed",
    "namenotresolved": "namenotresolved",
    "timedout": "timedout",
}
"""Playwright's error codes, with the code of protocol 3 for each."""

GIVEN_UP = "aborted: the application gave the request up"
"""The outcome of a request that the application gave up, whatever its handler decides."""


class Stage(enum.Enum):
    """The states of a routed request."""

    RUNNING = "a handler runs"
    FALLEN_BACK = "the running handler left it to the next"
    COUNTED = "its reply is given unless that is used up, as the proxy will say"
    HELD = "the handler returned and somebody still holds the route"
    SETTLED = "decided"


@define(eq=False)
class RoutedRequest:
    """A request that this test owns.

    :param chain: the handlers that have not been tried, newest first.
    :ivar entry: the handler that runs or ran last.
    """

    session: Session
    request: RequestState
    chain: list[RouteEntry]
    stage: Stage = Stage.RUNNING
    entry: RouteEntry | None = None
    _asked: bool = field(init=False, default=False)
    _route_gone: bool = field(init=False, default=False)

    # The chain

    def proceed(self) -> None:
        """Run the next handler that matches the request with its changes, else send it upstream."""
        while self.chain:
            entry = self.chain.pop(0)
            if entry.active and self.session.http.judge(entry, self.request):
                self._run(entry)
                return
        self._exhausted()

    def _run(self, entry: RouteEntry) -> None:
        self.stage, self.entry, self._asked = Stage.RUNNING, entry, True
        self._route_gone = False
        self.session.http.count(entry)
        call = entry.begin_call()

        def done(_: Any, error: BaseException | None) -> None:
            if call.resolve(None):
                entry.running.remove(call)
                self._returned(entry, error)

        entry.run(self, done)

    def _returned(self, entry: RouteEntry, error: BaseException | None) -> None:
        if self.session.ended:
            return
        if isinstance(error, RequestSettledError):
            self._given_up()
            return
        if error is not None:
            error = handler_errors.translated(error)
        if error is not None and not entry.ignore_errors:
            self.session.record(error, self, entry)
        if self.stage in (Stage.SETTLED, Stage.COUNTED):
            return
        if error is not None and not entry.ignore_errors:
            self._settle(Abort("failed", str(error) or type(error).__name__))
        elif error is not None or self.stage is Stage.FALLEN_BACK:
            self.proceed()
        else:
            self.stage = Stage.HELD
            if self._route_gone:
                self.abandoned(entry)

    def _given_up(self) -> None:
        """Abort a request that the application gave up while its handler fetched."""
        if self.stage is not Stage.SETTLED:
            self._settle(Abort("aborted"))
            self.session.http.decisions[self.request.id] = GIVEN_UP

    def _exhausted(self) -> None:
        if not self._asked and self.session.may_decline():
            self._settle(Decline())
            return
        try:
            ch.check_scheme(self.request.wire.url, self.request.changes)
        except UsageError as error:
            self.session.record(error, self, self.entry)
            self._settle(Abort("failed", str(error)))
            return
        self._continue_unhandled()

    def abandoned(self, entry: RouteEntry | None) -> None:
        """Record that the route object was collected, so no decision can follow.

        :param entry: the handler that had the route; ignored unless it is the last one.
        """
        if entry is not self.entry:
            return
        self._route_gone = True
        if self.stage is Stage.HELD and not self.session.ended:
            self.give_up("returned without a decision and kept no hold on the route")

    def give_up(self, why: str) -> None:
        """Fail a request that no handler decided, and add an error to the test.

        :param why: what the handler did, for the text.
        """
        name = self.entry.name if self.entry else "its handler"
        error = UndecidedError(
            f"{self.request}: {name} {why}; call fulfill, continue_, abort or fallback"
        )
        self.session.record(error, self, None)
        self._settle(Abort("failed", str(error)))

    def force_continue(self) -> None:
        """Send an undecided request upstream, unless strict mode refuses it.

        Later decisions of its handler are errors.
        """
        if self.stage not in (Stage.SETTLED, Stage.COUNTED):
            self._continue_unhandled()

    # What handlers do

    def fulfill(self, mock: mock_response.Mock) -> None:
        """Answer the request with a response.

        :raises UsageError: an argument is invalid; the request is still undecided.
        """
        self._check_open()
        response = mock_response.build(mock, self.request.url)
        self._settle(Fulfill(response))
        self.session.answered_here(self.request, response)

    def fulfill_counted(self, response: SerializedResponse) -> None:
        """Answer with a fixed response whose ``times`` the proxy counts.

        The proxy reports the response, or ``route:expired`` if other requests have used it up.
        """
        self._check_open()
        if self.entry is not None:
            self.stage = Stage.COUNTED
            answer = structs.replace(response, url=self.request.url)
            self.session.send(HandlerResult(self.request.id, Fulfill(answer, self.entry.id)))

    def counted(self, *, given: bool) -> None:
        """Continue after the proxy has counted a fixed response.

        :param given: whether the proxy sent it; if it was used up, the next handler runs.
        """
        if self.stage is not Stage.COUNTED:
            return
        if not given:
            self.proceed()
            return
        self.stage = Stage.SETTLED
        del self.session.http.open[self.request.id]
        self.session.http.decisions[self.request.id] = "fulfill"

    def continue_(self, **overrides: Any) -> None:
        """Send the request upstream with all changes so far and these.

        :raises UsageError: a change is invalid; the request is still undecided.
        """
        self._check_open()
        changes = ch.merge(self.request.changes, **overrides)
        ch.check_scheme(self.request.wire.url, changes)
        self.request.changes = changes
        self._continue()

    def abort(self, code: str, why: str = "") -> None:
        """Fail the request with a network error.

        :param code: a key of :data:`ABORT_CODES`.
        :param why: the reason, for the report of a test that fails.
        :raises UsageError: another code; the request is still undecided.
        """
        self._check_open()
        if code not in ABORT_CODES:
            near = get_close_matches(str(code), ABORT_CODES, n=1)
            hint = f"did you mean {near[0]!r}? These" if near else "these"
            raise UsageError(
                f"abort: {code!r} is not an error code of Playwright; "
                f"{hint} are: {', '.join(ABORT_CODES)}"
            )
        self._settle(Abort(ABORT_CODES[code]))
        if why:
            self.session.http.decisions[self.request.id] = f"abort: {why}"

    def fallback(self, **overrides: Any) -> None:
        """Pass the request, with these changes, to the next handler.

        That runs when this handler has returned.

        :raises UsageError: a change is invalid; the request is still undecided.
        """
        self._check_open()
        self.request.changes = ch.merge(self.request.changes, **overrides)
        has_returned = self.stage is Stage.HELD
        self.stage = Stage.FALLEN_BACK
        if has_returned:
            self.proceed()

    def fetch(self, options: handler_fetches.FetchOptions) -> Promise[ResponseState]:
        """Send the request upstream and return a promise of the response; this is no decision.

        :raises UsageError: an option is invalid; nothing was sent.
        """
        self._check_open()
        base = self.session.base_url or self.request.url
        changes = handler_fetches.changes_of(self.request.changes, options, base)
        sent = ch.for_fetch(self.request.original_headers, changes)
        fetch_id, promise = self.session.fetches.begin(self.request.id, options.timeout)
        action = Fetch(
            fetch_id,
            UNSET if sent is None else sent,
            UNSET if options.max_redirects is None else options.max_redirects,
            UNSET if options.max_retries is None else options.max_retries,
        )
        self.session.send(HandlerResult(self.request.id, action))
        request = self.request.with_changes(changes)
        return mapped(promise, lambda response: ResponseState(request, response))

    # Ends

    def check_handler(self, entry: RouteEntry | None) -> None:
        """Check that the request is with a handler, and not with a later one.

        :raises AlreadyHandledError: the handler left it to the next one.
        """
        if entry is not self.entry and not self.session.ended:
            raise AlreadyHandledError(f"{self.request}: the route is already handled")

    def _check_open(self) -> None:
        if self.session.ended:
            raise TestEndedError(f"{self.request}: the test has ended")
        if self.stage is Stage.SETTLED or self.stage is Stage.FALLEN_BACK:
            raise AlreadyHandledError(f"{self.request}: the route is already handled")

    def _continue_unhandled(self) -> None:
        self._continue(unhandled=STRICT in self.session.client.features)

    def _continue(self, *, unhandled: bool = False) -> None:
        """Send the request upstream; strict mode may refuse an ``unhandled`` one."""
        sent = ch.for_continue(self.request.original_headers, self.request.changes)
        self._settle(Continue(UNSET if sent is None else sent, unhandled or UNSET))

    def _settle(self, action: Fulfill | Continue | Abort | Decline) -> None:
        self.stage = Stage.SETTLED
        self.session.http.open.pop(self.request.id, None)
        self.session.http.decisions[self.request.id] = _in_words(action)
        self.session.send(HandlerResult(self.request.id, action))
        if isinstance(action, Abort):
            self.request.answer(None)


def _in_words(action: Fulfill | Continue | Abort | Decline) -> str:
    """Return a decision as a word for reports; the text of a handler's error is not repeated."""
    name = type(action).__name__.lower()
    failed = isinstance(action, Abort) and action.message is not UNSET
    return f"{name} because of an error" if failed else name
