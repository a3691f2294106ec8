"""One test: its routes, what it saw, what it waits for, and what went wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from attrs import define, field, frozen
from msgspec import UNSET

from trafficmock.testing import complaints
from trafficmock.testing.exchange import Exchange, Stage
from trafficmock.testing.fetches import Fetches
from trafficmock.testing.hub import DECLINE, SUBSCRIBE
from trafficmock.testing.memory import Memory
from trafficmock.testing.promise import Promise, all_of, settled
from trafficmock.testing.routes import RouteEntry, Routes, limit
from trafficmock.testing.socket_routes import SocketRoutes
from trafficmock.testing.traffic import Traffic
from trafficmock.testing.waiters import Waiters
from trafficmock.wire import outbound
from trafficmock.wire.inbound import (
    RequestClaimResult,
    RouteMatch,
    RouteRegister,
    RouteUnregister,
    TestRegister,
    TestSubscribe,
    TestUnregister,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from trafficmock.testing.hub import Hub
    from trafficmock.testing.matchers import Matcher
    from trafficmock.testing.request import RequestState
    from trafficmock.testing.world import Done, World
    from trafficmock.wire.inbound import Message, RequestResponse
    from trafficmock.wire.response import Response

Behavior = Literal["default", "wait", "ignoreErrors"]


@frozen(kw_only=True)
class TestInfo:
    """How a test is called where it is named to people.

    :param base_url: for relative globs.
    """

    __test__ = False

    title: str
    file: str
    base_url: str | None = None


@define(eq=False)
class Session:
    """A registered test.

    :param open: the exchanges that are not decided.
    :param decisions: what became of each request that the test owned, in words.
    :param finishing: called at the end, before the test is unregistered.
    """

    id: str
    info: TestInfo
    hub: Hub
    world: World
    routes: Routes = field(init=False, factory=Routes)
    sockets: SocketRoutes = field(init=False)
    traffic: Traffic = field(init=False, factory=Traffic)
    memory: Memory = field(init=False)
    waiters: Waiters = field(init=False, factory=Waiters)
    fetches: Fetches = field(init=False)
    open: dict[str, Exchange] = field(init=False, factory=dict)
    decisions: dict[str, str] = field(init=False, factory=dict)
    errors: list[BaseException] = field(init=False, factory=list)
    finishing: list[Callable[[], None]] = field(init=False, factory=list)
    ended: bool = field(init=False, default=False)
    started_at: int | None = field(init=False, default=None)
    _subscribed: Promise[Any] | None = field(init=False, default=None)

    def __attrs_post_init__(self) -> None:
        self.fetches = Fetches(self.hub.link)
        self.sockets = SocketRoutes(self)
        self.memory = Memory(self.traffic)

    @property
    def base_url(self) -> str | None:
        """What relative globs and URLs are resolved against."""
        return self.info.base_url

    def send(self, message: Message) -> None:
        """Send a message for this test."""
        self.hub.send(message)

    # Begin and end

    def start(self) -> Promise[None]:
        """Register the test; kept when every later request is judged with it in mind."""
        self.hub.sessions[self.id] = self
        info = self.info
        message = TestRegister(self.id, info.title, info.file, self.hub.identity.worker_id)
        asked = self.hub.ask(("test:register", self.id), message)
        result: Promise[None] = Promise()

        def answered(answer: Promise[outbound.TestRegistered]) -> None:
            if answer.error is not None:
                del self.hub.sessions[self.id]
                result.reject(answer.error)
                return
            at = answer.value.at
            self.started_at = None if at is UNSET else at
            result.resolve(None)

        asked.watch(answered)
        return result

    def finish(self) -> Promise[list[BaseException]]:
        """Unregister the test, and promise the errors that are left."""
        for task in self.finishing:
            try:
                task()
            except Exception as error:  # noqa: BLE001 - whatever it is, the test is told of it
                self.errors.append(error)
        for exchange in list(self.open.values()):
            if exchange.stage is Stage.HELD:
                exchange.give_up("held the route to the end of the test")
        result: Promise[list[BaseException]] = Promise()
        self._unregister().watch(lambda acks: self._end(acks, result))
        return result

    def _unregister(self) -> Promise[None]:
        try:
            return all_of(
                [
                    self.hub.ask(("route:unregister", self.id), RouteUnregister(test_id=self.id)),
                    self.hub.ask(("test:unregister", self.id), TestUnregister(self.id)),
                ]
            )
        except Exception as error:  # noqa: BLE001 - it goes where all errors of the test go
            failed: Promise[None] = Promise()
            failed.reject(error)
            return failed

    def _end(self, acks: Promise[None], result: Promise[list[BaseException]]) -> None:
        self.ended = True
        self.hub.sessions.pop(self.id, None)
        if acks.error is not None:
            self.errors.append(acks.error)
        self.waiters.end()
        self.fetches.end()
        self.memory.end()
        errors, self.errors = self.errors, []
        result.resolve(errors)

    def connection_lost(self, error: Exception) -> None:
        """Fail everything that waits for the proxy."""
        self.waiters.end(error)
        self.fetches.end(error)
        self.memory.end(error)

    def take_errors(self) -> Promise[list[BaseException]]:
        """Promise the errors so far, those included that the proxy is about to tell of."""
        result: Promise[list[BaseException]] = Promise()

        def heard(barrier: Promise[Any]) -> None:
            if barrier.error is not None:
                result.reject(barrier.error)
                return
            taken, self.errors[:] = list(self.errors), []
            result.resolve(taken)

        self.hub.barrier().watch(heard)
        return result

    # Routes

    def route(
        self,
        matcher: Matcher,
        handler: Any,
        times: float | None = None,
        run: Callable[[Exchange, Done], None] | None = None,
    ) -> Promise[Any]:
        """Register a handler before all others; kept when every later request may meet it.

        :param run: how to run it; the world knows unless it is one of ours.
        """
        entry = RouteEntry(
            self.hub.link.new_id(),
            matcher,
            handler,
            run or (lambda exchange, done: self.world.handle(handler, exchange, done)),
            limit(times),
        )
        self.routes.add(entry)
        message = RouteRegister(entry.id, self.id, matcher.wire)
        return self.hub.ask(("route:register", entry.id), message)

    def unroute(self, matcher: Matcher | None, handler: Any) -> Promise[None]:
        """Remove handlers; kept when no later request meets them."""
        return self._remove(self.routes.select(matcher, handler))

    def unroute_all(self, behavior: Behavior) -> Promise[None]:
        """Remove all handlers of HTTP requests.

        :param behavior: of the handlers that still run: ``default`` lets their requests go
            on, ``wait`` waits for them, ``ignoreErrors`` does neither and swallows what
            they raise from now on.
        """
        entries = list(self.routes)
        for entry in entries:
            entry.ignore_errors = behavior == "ignoreErrors"
        result: Promise[None] = Promise()

        def removed(acks: Promise[None]) -> None:
            if acks.error is not None:
                result.reject(acks.error)
                return
            if behavior == "default":
                for exchange in list(self.open.values()):
                    if exchange.entry in entries:
                        exchange.force_continue()
            running = [call for entry in entries for call in entry.running]
            waited = all_of(running) if behavior == "wait" else settled(None)
            waited.watch(lambda _: result.resolve(None))

        self._remove(entries).watch(removed)
        return result

    def _remove(self, entries: list[RouteEntry]) -> Promise[None]:
        for entry in entries:
            self.routes.remove(entry)
        return all_of(
            [
                self.hub.ask(("route:unregister", entry.id), RouteUnregister(entry.id))
                for entry in entries
            ]
        )

    def count(self, entry: RouteEntry) -> None:
        """Note that a handler's call begins; it may be its last."""
        entry.handled += 1
        if entry.times is not None and entry.handled >= entry.times and entry.active:
            self.routes.remove(entry)
            self.send(RouteUnregister(entry.id))

    def judge(self, entry: RouteEntry, request: RequestState) -> bool:
        """Ask a route about a request as it is now."""
        return self._judge(entry, request.url, request.method, request.client_id)

    def _judge(self, entry: RouteEntry, url: str, method: str, client_id: str) -> bool:
        try:
            return entry.matcher.matches(url, method, client_id)
        except Exception as error:  # noqa: BLE001 - a test's predicate may raise anything
            error.add_note(f"in the URL predicate {entry.matcher}, asked about {url}")
            self.errors.append(error)
            return False

    def may_decline(self) -> bool:
        """Tell whether the proxy takes a match back."""
        return DECLINE in self.hub.features

    # Observation

    def subscribe(self) -> Promise[Any]:
        """Ask to be told of all traffic from now on; kept when nothing is missed any more."""
        if SUBSCRIBE not in self.hub.features:
            return settled(None)
        if self._subscribed is None:
            message = TestSubscribe(self.id)
            self._subscribed = self.hub.ask(("test:subscribe", self.id), message)
        return self._subscribed

    def answered_here(self, request: RequestState, response: Response) -> None:
        """Note a mock, where the proxy does not tell us of our own."""
        if SUBSCRIBE in self.hub.features and self._subscribed is None:
            self.traffic.respond(request, response)

    # Messages

    def observed(self, message: outbound.RequestObserved) -> None:
        """Take note of a request of some application."""
        state, new = self.traffic.observe(message.request_id, message.request, message.client_id)
        if new:
            self.waiters.request_came(state)

    def responded(self, message: RequestResponse) -> None:
        """Take note of how a request ended."""
        state = self.traffic.requests.get(message.request_id)
        if state is None:
            self.memory.responded(message)
        elif message.ok and message.response is not UNSET:
            response, hop = self.traffic.respond(state, message.response)
            if response is not None:
                self.waiters.response_came(response)
            if hop is not None:
                self.waiters.request_came(hop)
        else:
            state.answer(None)

    def claimed(self, message: outbound.RequestClaim | outbound.SocketClaim) -> None:
        """Answer which of our routes match."""
        if isinstance(message, outbound.SocketClaim):
            self.sockets.claimed(message)
            return
        request = message.request
        matches = [
            RouteMatch(entry.id)
            for entry in list(self.routes)
            if self._judge(entry, request.url, request.method, message.client_id)
        ]
        self.send(RequestClaimResult(message.request_id, self.id, matches))

    def matched(self, message: outbound.RequestMatched | outbound.SocketMatched) -> None:
        """Run our handlers on what is ours."""
        if isinstance(message, outbound.SocketMatched):
            self.sockets.matched(message)
            return
        state, new = self.traffic.observe(message.request_id, message.request, message.client_id)
        if new:
            self.waiters.request_came(state)
        exchange = Exchange(self, state, list(self.routes))
        self.open[state.id] = exchange
        self.decisions[state.id] = "undecided"
        exchange.proceed()

    # Errors

    def complaint(self, message: outbound.ProxyError) -> None:
        """Keep what the proxy has against this test."""
        self.errors.append(complaints.from_proxy(message, self.id))

    def record(self, error: BaseException, exchange: Exchange, entry: RouteEntry | None) -> None:
        """Keep what went wrong in a handler, with the place."""
        if entry is not None:
            complaints.point_at(error, entry, exchange.request)
        self.errors.append(error)
