"""One test: its routes, what it saw, what it waits for, and what went wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from attrs import define, field, frozen
from msgspec import UNSET, UnsetType

from trafficmock.testing.errors import IsolationError, RoutingError, UsageError
from trafficmock.testing.promise import Promise, all_of, mapped, settled
from trafficmock.testing.session.arguments.allow_patterns import allow_patterns
from trafficmock.testing.session.handlers import handler_errors
from trafficmock.testing.session.handlers.handler_fetches import HandlerFetches
from trafficmock.testing.session.handlers.http_routes import HttpRoutes
from trafficmock.testing.session.handlers.websocket_routes import WebSocketRoutes
from trafficmock.testing.session.observation.proxy_clock import ProxyClock
from trafficmock.testing.session.observation.traffic import ObservedTraffic, RecordedTraffic
from trafficmock.testing.session.observation.waiting import Observation
from trafficmock.testing.session.traffic_context import (
    Isolation,
    TrafficContext,
    check_isolation,
    origins_of,
)
from trafficmock.wire.features import CONTEXT, DECLINE, REPLY, STRICT, SUBSCRIBE
from trafficmock.wire.inbound import (
    Door,
    RecordedReply,
    RouteRegister,
    RouteUnregister,
    Strict,
    TestRegister,
    TestStrict,
    TestSubscribe,
    TestUnregister,
)
from trafficmock.wire.outbound import UNMATCHED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from trafficmock.testing.session.handlers.http_routes import RouteEntry
    from trafficmock.testing.session.handlers.routed_request import RoutedRequest
    from trafficmock.testing.session.observation.request_state import RequestState
    from trafficmock.testing.session.ports import Adapter
    from trafficmock.testing.session.worker_client import WorkerClient
    from trafficmock.wire import outbound
    from trafficmock.wire.inbound import Message, RequestResponse, RouteKind
    from trafficmock.wire.payloads.serialized_response import SerializedResponse


EVERYTHING = ("*",)
"""The pattern that allows every host."""


@frozen(kw_only=True)
class TestInfo:
    """How a test is called where it is named to people.

    :param base_url: for relative globs.
    :param isolation: ``auto`` gives it a context where the proxy knows contexts, ``required``
        fails it where its traffic comes without it, ``off`` does without.
    :param origins: URLs of the application, for cookies of browsers.
    :param shared: its routes serve all tests of this worker, after their own.
    :param door: the test has a browser, for which the proxy opens a port of its own.
    :param strict: its requests that no route wants are refused.
    :param allow: hosts and URL globs that strict mode allows all the same.
    :param exempt: not strict, also where the service is.
    :param root: the directory to which the places of routes are relative; the working
        directory unless given.
    """

    __test__ = False

    title: str
    file: str
    base_url: str | None = None
    isolation: Isolation = field(default="auto", validator=lambda *args: check_isolation(args[2]))
    origins: tuple[str, ...] = ()
    shared: bool = False
    door: bool = False
    strict: bool = False
    allow: tuple[str, ...] = field(default=(), converter=allow_patterns)
    exempt: bool = False
    root: str = ""


@define(eq=False)
class Session:
    """A registered test.

    :param finishing: called at the end, before the test is unregistered.
    :ivar door_port: of the forward proxy for this test's browser, where there is one.
    :ivar tagged: whether a request came with the test's context.
    :ivar allow: what strict mode allows; ``None`` for a test that is not strict.
    :ivar refused: the ids of the requests that strict mode refused.
    """

    id: str
    info: TestInfo
    client: WorkerClient
    adapter: Adapter
    http: HttpRoutes = field(init=False)
    sockets: WebSocketRoutes = field(init=False)
    traffic: ObservedTraffic = field(init=False, factory=ObservedTraffic)
    recorded: RecordedTraffic = field(init=False)
    observation: Observation = field(init=False)
    fetches: HandlerFetches = field(init=False)
    errors: list[BaseException] = field(init=False, factory=list)
    finishing: list[Callable[[], None]] = field(init=False, factory=list)
    ended: bool = field(init=False, default=False)
    started_at: int | None = field(init=False, default=None)
    clock: ProxyClock | None = field(init=False, default=None)
    context: TrafficContext = field(init=False, factory=TrafficContext)
    door_port: int | None = field(init=False, default=None)
    tagged: bool = field(init=False, default=False)
    allow: tuple[str, ...] | None = field(init=False, default=None)
    refused: set[str] = field(init=False, factory=set)
    _subscribed: Promise[Any] | None = field(init=False, default=None)
    _without_context: dict[str, IsolationError] = field(init=False, factory=dict)

    def __attrs_post_init__(self) -> None:
        self.fetches = HandlerFetches(self.client.link)
        self.http = HttpRoutes(self)
        self.sockets = WebSocketRoutes(self)
        self.recorded = RecordedTraffic(self.traffic)
        self.observation = Observation(self)

    @property
    def base_url(self) -> str | None:
        """What relative globs and URLs are resolved against."""
        return self.info.base_url

    def send(self, message: Message) -> None:
        """Send a message for this test."""
        self.client.send(message)

    def register_route(
        self,
        entry: RouteEntry,
        kind: RouteKind = "http",
        place: str | UnsetType = UNSET,
        times: int | UnsetType = UNSET,
    ) -> Promise[Any]:
        """Register a route; kept when every later request is compared with it.

        :param place: where the test states it.
        :param times: how often the proxy gives its reply.
        """
        message = RouteRegister(
            entry.id,
            self.id,
            entry.matcher.wire,
            kind,
            place if STRICT in self.client.features else UNSET,
            UNSET if entry.reply is None else entry.reply,
            [RecordedReply(*key, response) for key, response in entry.recorded.items()] or UNSET,
            times,
        )
        return self.client.ask(("route:register", entry.id), message)

    # Begin and end

    def start(self) -> Promise[None]:
        """Register the test; kept when it counts for every later request."""
        info = self.info
        self.context = self._make_context()
        if info.strict:
            self.client.check_strict()
            self.allow = info.allow
        patterns = EVERYTHING if info.exempt and STRICT in self.client.features else self.allow
        message = TestRegister(
            self.id,
            info.title,
            info.file,
            self.client.identity.worker_id,
            context=UNSET if self.context.id is None else self.context.id,
            scope="worker" if info.shared else UNSET,
            door=Door(origins_of(info.origins)) if info.door and self.context.id else UNSET,
            strict=UNSET if patterns is None else Strict(list(patterns)),
        )
        self.client.sessions[self.id] = self
        asked_at = self.client.link.monotonic_us()
        asked = self.client.ask(("test:register", self.id), message)

        def registered(answer: outbound.TestRegistered) -> None:
            self.clock = ProxyClock(answer.clock, asked_at, self.client.link.monotonic_us())
            self.started_at = None if answer.at is UNSET else answer.at
            self.door_port = None if answer.door_port is UNSET else answer.door_port

        def forget_if_refused(answer: Promise[Any]) -> None:
            if answer.error is not None:
                del self.client.sessions[self.id]

        asked.watch(forget_if_refused)
        return mapped(asked, registered)

    def _make_context(self) -> TrafficContext:
        isolation, link = self.info.isolation, self.client.link
        if CONTEXT in self.client.features:
            return TrafficContext(None if isolation == "off" else link.new_context())
        if isolation == "required" or self.info.shared:
            what = "shared routes are" if self.info.shared else "isolation is"
            raise UsageError(f"{what} asked for, and the proxy is one that knows no contexts")
        return TrafficContext()

    def make_strict(self, allow: Iterable[str]) -> Promise[Any]:
        """Refuse requests of this test that no route wants, from now on.

        :param allow: what is allowed in addition.
        :raises UsageError: the patterns cannot be read, or the proxy knows no strict mode.
        """
        more = allow_patterns(allow)
        self.client.check_strict()
        self.allow = (*(self.info.allow if self.allow is None else self.allow), *more)
        message = TestStrict(self.id, list(self.allow))
        return self.client.ask(("test:strict", self.id), message)

    def browser_proxy(self) -> dict[str, str] | None:
        """Give the proxy for a browser, with Playwright's keys; ``None`` where there is none."""
        if self.door_port is None:
            return None
        token = self.client.identity.token
        credentials = {} if token is None else {"username": "browser", "password": token}
        host = urlsplit(self.client.link.proxy_url).hostname or ""
        host = f"[{host}]" if ":" in host else host
        return {"server": f"http://{host}:{self.door_port}", **credentials}

    def finish(self) -> Promise[list[BaseException]]:
        """Unregister the test, and promise the errors that are left."""
        for task in self.finishing:
            try:
                task()
            except Exception as error:  # noqa: BLE001 - whatever it is, the test is told of it
                self.errors.append(error)
        self.http.end()
        result: Promise[list[BaseException]] = Promise()
        self._unregister().watch(lambda acks: self._end(acks, result))
        return result

    def _unregister(self) -> Promise[None]:
        try:
            return all_of(
                [
                    self.client.ask(
                        ("route:unregister", self.id), RouteUnregister(test_id=self.id)
                    ),
                    self.client.ask(("test:unregister", self.id), TestUnregister(self.id)),
                ]
            )
        except Exception as error:  # noqa: BLE001 - it goes where all errors of the test go
            failed: Promise[None] = Promise()
            failed.reject(error)
            return failed

    def _end(self, acks: Promise[None], result: Promise[list[BaseException]]) -> None:
        self.ended = True
        self.client.sessions.pop(self.id, None)
        if acks.error is not None:
            self.errors.append(acks.error)
        self.observation.end()
        self.fetches.end()
        self.recorded.end()
        errors, self.errors = self.errors, []
        handler_errors.note_repeats(errors)
        result.resolve(errors)

    def connection_lost(self, error: Exception) -> None:
        """Fail everything that waits for the proxy."""
        self.observation.end(error)
        self.fetches.end(error)
        self.recorded.end(error)

    def take_errors(self) -> Promise[list[BaseException]]:
        """Promise the errors so far, those included that the proxy is about to tell of."""

        def take(_: Any) -> list[BaseException]:
            taken, self.errors[:] = list(self.errors), []
            handler_errors.note_repeats(taken)
            return taken

        return mapped(self.client.barrier(), take)

    # What the proxy can do

    def may_decline(self) -> bool:
        """Tell whether the test may decline a match."""
        return DECLINE in self.client.features

    def keeps_replies(self) -> bool:
        """Tell whether the proxy takes fixed answers, and gives them by itself."""
        return REPLY in self.client.features

    # Observation

    def subscribe(self) -> Promise[Any]:
        """Ask to be told of all traffic from now on; kept when nothing is missed any more."""
        if SUBSCRIBE not in self.client.features:
            return settled(None)
        if self._subscribed is None:
            message = TestSubscribe(self.id)
            self._subscribed = self.client.ask(("test:subscribe", self.id), message)
        return self._subscribed

    def answered_here(self, request: RequestState, response: SerializedResponse) -> None:
        """Note a mock, where the proxy does not report a test's own mocks to it."""
        if SUBSCRIBE in self.client.features and self._subscribed is None:
            self.traffic.respond(request, response)

    def answered_there(self, request: RequestState, response: SerializedResponse) -> None:
        """Note a mock that the proxy gave, unless the proxy already reports responses."""
        subscribed = self._subscribed is not None and self._subscribed.done
        if SUBSCRIBE in self.client.features and not subscribed:
            self.traffic.respond(request, response)

    # Messages

    def observed(self, message: outbound.RequestObserved) -> None:
        """Record a request that an application sent."""
        state, new = self.traffic.observe(message)
        if new:
            self.observation.request_came(state)

    def responded(self, message: RequestResponse) -> None:
        """Record the end of a request."""
        state = self.traffic.requests.get(message.request_id)
        routed = self.http.open.get(message.request_id)
        if routed is not None and message.ok:
            routed.counted(given=True)
        if state is None:
            self.recorded.responded(message)
        elif message.ok and message.response is not UNSET:
            response, hop = self.traffic.respond(state, message.response)
            if response is not None:
                self.observation.response_came(response)
            if hop is not None:
                self.observation.request_came(hop)
        else:
            state.answer(None)

    # Errors

    def proxy_error(self, message: outbound.ProxyError) -> None:
        """Keep an error that the proxy reports for this test."""
        if message.code == UNMATCHED and isinstance(message.detail, dict):
            self.refused.add(str(message.detail.get("requestId")))
        error = handler_errors.from_proxy(message, self.id)
        for known in self.errors:
            if isinstance(known, RoutingError) and handler_errors.is_repeated(known, error):
                known.repeats += 1
                for note in getattr(error, "__notes__", ()):
                    known.add_note(note)
                return
        self.errors.append(error)

    def is_foreign(self, request_id: str) -> bool:
        """Tell whether a recorded request carries the context of another test.

        What carries none may be this test's, whoever decided about it: its waits see it, too.
        """
        entry = self.recorded.entries.get(request_id)
        if self.context.id is None or entry is None or not entry.has_context:
            return False
        if entry.test_id in (UNSET, self.id):
            return False
        other = self.client.sessions.get(entry.test_id)
        return other is None or not other.info.shared

    def check_context(self, message: outbound.RequestMatched | outbound.RequestReplied) -> None:
        """Keep that a request came without the context, where the test requires it.

        Requests of the same method and URL are one error, with their number.
        """
        if message.context is not UNSET:
            self.tagged = True
            return
        if self.info.isolation != "required":
            return
        key = f"{message.request.method} {message.request.url}"
        if known := self._without_context.get(key):
            known.repeats += 1
            return
        self._without_context[key] = error = IsolationError(key, message.client_id)
        self.errors.append(error)

    def record(self, error: BaseException, routed: RoutedRequest, entry: RouteEntry | None) -> None:
        """Keep what went wrong in a handler, with the place."""
        if entry is not None:
            handler_errors.point_at(error, entry, routed.request)
        self.errors.append(error)
