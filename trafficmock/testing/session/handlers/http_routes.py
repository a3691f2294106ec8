"""The HTTP handlers of a test, and the requests that they have not decided yet.

The proxy knows the order of the handlers and counts their requests; it has single ones run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import ceil
from typing import TYPE_CHECKING, Any, get_args
from weakref import WeakValueDictionary

from attrs import define, field
from msgspec import UNSET, UnsetType, structs

from trafficmock.testing.errors import UsageError
from trafficmock.testing.promise import Promise, all_of, mapped
from trafficmock.testing.session.arguments.callables import code_of, describe, outcome_of
from trafficmock.testing.session.arguments.url_matchers import Matcher
from trafficmock.testing.session.handlers.routed_request import RoutedRequest, body_in
from trafficmock.testing.session.observation.request_state import RequestState
from trafficmock.wire.inbound import (
    Behavior,
    HandlerResult,
    RequestClaimResult,
    RouteMatch,
    RouteUnregister,
)
from trafficmock.wire.outbound import (
    HandlerRun,
    RequestClaim,
    RequestReplied,
    RouteExpired,
    RouteRegistered,
)
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.answer import Fallback
from trafficmock.wire.payloads.numbers import SAFE_INTEGER
from trafficmock.wire.payloads.serialized_har import SerializedHar, SerializedRecording
from trafficmock.wire.payloads.serialized_response import SerializedResponse

if TYPE_CHECKING:
    from trafficmock.testing.session.ports import Done
    from trafficmock.testing.session.session import Session


@define(eq=False)
class RouteEntry:
    """One registered handler.

    :param handler: the test's handler, for ``unroute``; ``None`` for a mock.
    :param run: runs the handler on a routed request, and calls ``done`` when it has returned.
    :param began: when it was registered, in microseconds of this process's monotonic clock.
    :param options: those of the answers that the proxy gives instead of the handler.
    :param stream: those of the stream that the handler will begin.
    :param har: likewise.
    :param record: likewise, from the real server; it is recorded.
    :param handled: the number of its requests so far.
    :param active: whether it was neither removed nor used up.
    :param ignore_errors: whether errors of its running calls are ignored from now on.
    :param running: a promise for each call that has not returned.
    :param live_in: the list that it was added to.
    :param place: the file and line of the test's call.
    :param required: whether the test fails if no request meets it.
    """

    id: str
    matcher: Matcher
    handler: Any
    run: Callable[[RoutedRequest, Done], None] = field(repr=False)
    began: int
    options: dict[str, Any] | None = field(default=None, repr=False)
    stream: dict[str, Any] | None = field(default=None, repr=False)
    har: SerializedHar | None = field(default=None, repr=False)
    record: SerializedRecording | None = None
    handled: int = 0
    active: bool = True
    ignore_errors: bool = False
    running: list[Promise[None]] = field(factory=list)
    live_in: RouteList | None = field(default=None, repr=False)
    _met: WeakValueDictionary[int, RequestState] = field(factory=WeakValueDictionary, repr=False)
    """The requests by their number, as long as their tests have them."""
    place: str = ""
    required: bool = False
    registered: Promise[RouteRegistered] = field(init=False, factory=Promise, repr=False)

    @property
    def name(self) -> str:
        """The handler's name, with the file and line of its definition, or else of the call."""
        place = str(self.place or "")
        if self.options is not None:
            sequence, status = self.options.get("sequence"), self.options.get("status") or 200
            what = f"a sequence of {len(sequence)} answers" if sequence else f"status {status}"
            return f"handler of a mock with {what} ({place})"
        name = describe(self.handler)
        # The handler of a stream says its place itself.
        return name if code_of(self.handler) or place in name else f"{name} ({place})"

    def response_of(self, message: RequestReplied) -> SerializedResponse | None:
        """Return the response that the proxy gave; ``None`` where it reports the outcome."""
        known = None if self.registered.error else self.registered.value.responses
        if self.options is None or not known:
            return None
        step = message.step or 0
        head, given = known[step], (self.options.get("sequence") or [self.options])[step]
        content = body_in(given) if isinstance(given, dict) else b""
        return head and structs.replace(head, body_base64=body.from_bytes(content))

    def meet(self, request: RequestState) -> None:
        """Count a request that the handler gets, or that the proxy answers."""
        self.handled += 1
        self._met[self.handled] = request

    def requests(self) -> list[RequestState]:
        """Return the requests that were met, oldest first, without those of ended tests."""
        return [request for _, request in sorted(self._met.items())]

    def begin_call(self) -> Promise[None]:
        """Record that a call begins; resolve the promise when it ends."""
        call: Promise[None] = Promise()
        self.running.append(call)
        return call


def read_times(times: float | None) -> int | UnsetType:
    """Read the argument ``times``: ``None`` and NaN are no limit, less than one counts as one.

    :returns: the number for the proxy, ``UNSET`` without a limit.
    :raises UsageError: it is not a number.
    """
    if isinstance(times, bool) or not isinstance(times, int | float | None):
        raise UsageError(f"times is a number of requests, not {times!r}")
    if times is None or times != times or times > SAFE_INTEGER:  # noqa: PLR0124 - NaN
        return UNSET
    return ceil(max(times, 1))


@define
class RouteList:
    """The live HTTP handlers of a test."""

    _entries: list[RouteEntry] = field(factory=list)

    def __iter__(self) -> Iterator[RouteEntry]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def add(self, entry: RouteEntry) -> None:
        """Insert a handler before all others."""
        self._entries.insert(0, entry)
        entry.live_in = self

    def remove(self, entry: RouteEntry) -> None:
        """Remove a handler; chains of requests that still have it skip it."""
        entry.active = False
        self._entries.remove(entry)

    def select(self, matcher: Matcher | None, handler: Any) -> list[RouteEntry]:
        """Return the handlers that ``unroute`` removes; without arguments all."""
        return [
            entry
            for entry in self._entries
            if (matcher is None or entry.matcher.same_as(matcher))
            and (handler is None or entry.handler is handler or entry.handler == handler)
        ]


@define(eq=False)
class HttpRoutes:
    """The HTTP handlers of one test, newest first, and its requests.

    :ivar live: the registered handlers.
    :ivar known: all handlers by id, with those that were removed.
    :ivar open: the undecided requests, by id.
    :ivar decisions: the decision about each request that the test owned, as a word for reports.
    """

    session: Session
    live: RouteList = field(init=False, factory=RouteList)
    known: dict[str, RouteEntry] = field(init=False, factory=dict)
    open: dict[str, RoutedRequest] = field(init=False, factory=dict)
    decisions: dict[str, str] = field(init=False, factory=dict, repr=False)

    def route(
        self,
        matcher: Matcher,
        handler: Any,
        times: float | None = None,
        run: Callable[[RoutedRequest, Done], None] | None = None,
        place: str | UnsetType = UNSET,
        *,
        options: dict[str, Any] | None = None,
        stream: dict[str, Any] | None = None,
        har: SerializedHar | None = None,
        record: SerializedRecording | None = None,
        required: bool = False,
    ) -> Promise[RouteEntry]:
        """Register a handler before all others.

        :param run: runs the handler; by default the adapter does.
        :param place: the file and line of the test's call.
        :param options: those of the answers that the proxy gives instead of the handler. If it
            cannot, it refuses the route: the promise is rejected and the route removed.
        :param stream: those of the stream that the handler will begin, which may be refused, too.
        :param har: likewise.
        :param record: likewise.
        :param required: whether the test fails if no request meets it.
        :returns: resolved with the route when every later request is compared with it.
        """
        entry = RouteEntry(
            self.session.client.link.new_id(),
            matcher,
            handler,
            run or (lambda routed, done: self.session.adapter.run_handler(handler, routed, done)),
            self.session.client.link.monotonic_us(),
            options=options,
            stream=stream,
            har=har,
            record=record,
            place=place or "",
            required=required,
        )
        sent = read_times(times)
        self.live.add(entry)
        self.known[entry.id] = entry
        registered = self.session.register_route(entry, place=place, times=sent)
        entry.registered = registered

        def forget_if_refused(_: Promise[Any]) -> None:
            if registered.error is not None and entry.active:
                self.live.remove(entry)

        registered.watch(forget_if_refused)
        return mapped(registered, lambda _: entry)

    def unroute(self, matcher: Matcher | None, handler: Any) -> Promise[None]:
        """Remove handlers; the promise is resolved when no later request reaches them."""
        return self.remove(self.live.select(matcher, handler))

    def unroute_all(self, behavior: Behavior) -> Promise[None]:
        """Remove all handlers of HTTP requests.

        :param behavior: what happens to handlers that still run: ``default`` sends their requests
            upstream, ``wait`` waits until they return, ``ignoreErrors`` does neither and ignores
            errors that they raise from now on.
        :raises UsageError: another ``behavior``.
        """
        if behavior not in get_args(Behavior):
            raise UsageError(
                f"behavior is one of {', '.join(get_args(Behavior))}, not {behavior!r}"
            )
        entries = list(self.live)
        for entry in entries:
            self.live.remove(entry)
            entry.ignore_errors = behavior == "ignoreErrors"
        if behavior == "default":
            for routed in list(self.open.values()):
                if routed.entry in entries:
                    routed.let_go()
        message = RouteUnregister(test_id=self.session.id, behavior=behavior)
        asked = self.session.client.ask(("route:unregister", self.session.id), message)
        running = [call for entry in entries for call in entry.running]
        return all_of([asked, *running] if behavior == "wait" else [asked])

    def remove(self, entries: list[RouteEntry]) -> Promise[None]:
        """Remove live handlers; the promise is resolved when no later request reaches them."""
        for entry in entries:
            self.live.remove(entry)
        return all_of(
            [
                self.session.client.ask(("route:unregister", entry.id), RouteUnregister(entry.id))
                for entry in entries
            ]
        )

    def _judge(self, entry: RouteEntry, claim: RequestClaim) -> bool:
        matcher, url = entry.matcher, claim.request.url
        # The proxy has compared the method and the client.
        met, error = outcome_of(
            lambda: matcher.matches_url(url) and matcher.matches_values(claim.values)
        )
        if error is not None:
            what = "a predicate of" if matcher.checks else "the URL predicate"
            error.add_note(f"in {what} {matcher}, asked about {claim.shown_url or url}")
            self.session.errors.append(error)
        return bool(met)

    # Messages

    def claimed(self, message: RequestClaim) -> None:
        """Answer the proxy's ``request:claim`` with those of its routes that match the request."""
        entries = [self.session.client.route(each) for each in message.route_ids or ()]
        matches = [
            RouteMatch(entry.id)
            for entry in entries
            if entry is not None and self._judge(entry, message)
        ]
        self.session.send(RequestClaimResult(message.request_id, self.session.id, matches))

    def run(self, message: HandlerRun) -> None:
        """Run a handler on a request that this test owns."""
        session = self.session
        state = session.traffic.observe(message)
        state.current = message.request
        state.shown_url = message.shown_url or message.request.url
        if state.id not in self.decisions:
            session.check_context(message)
        entry = session.client.route(message.route_id)
        if entry is None:
            # Its test has ended meanwhile; another one's handlers may be left.
            session.send(HandlerResult(state.id, Fallback(), message.run_id))
            return
        routed = RoutedRequest(session, state, entry, message.run_id)
        self.open[state.id] = routed
        self.decisions[state.id] = "undecided"
        routed.run()

    def replied(self, message: RequestReplied) -> None:
        """Record what the proxy did by a fixed response or a HAR of the test."""
        session, entry = self.session, self.session.client.route(message.route_id)
        state = session.traffic.observe(message)
        if state.id not in self.decisions:
            session.check_context(message)
        if entry is not None:
            entry.meet(state)
            if message.entries is not UNSET:
                entry.handler.use.used.update(message.entries)
        match message.action:
            case "fallback":
                # Unless a handler follows, which then decides.
                self.decisions[state.id] = "continue"
            case "abort":
                self.decisions[state.id] = f"abort: {message.message}"
                state.answer(None)
            case _:
                self.decisions[state.id] = "fulfill"
                if entry is not None:
                    # The request may come before the route is acknowledged.
                    entry.registered.watch(lambda _: self._given(state, entry, message))

    def _given(self, state: RequestState, entry: RouteEntry, message: RequestReplied) -> None:
        response = entry.response_of(message)
        if response is not None:
            response = structs.replace(response, url=state.wire.url)
            self.session.answered_there(state, response)

    def expired(self, message: RouteExpired) -> None:
        """Remove a route that has taken ``times`` requests."""
        entry = self.known.get(message.route_id)
        if entry is not None and entry.active and entry.live_in is not None:
            entry.live_in.remove(entry)
