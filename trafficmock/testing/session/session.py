"""One test as the protocol knows it: its routes, its traffic, its waits and its errors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal

from attrs import define, field, frozen
from msgspec import UNSET, UnsetType

from trafficmock.testing.errors import (
    ConnectionLostError,
    IsolationError,
    MixedContextError,
    MixedContextWarning,
    RoutingError,
    UnseenTrafficWarning,
)
from trafficmock.testing.promise import Promise, all_of, mapped
from trafficmock.testing.session import required_routes
from trafficmock.testing.session.arguments.allow_patterns import Allowed, allow_patterns
from trafficmock.testing.session.arguments.flags import check_flag
from trafficmock.testing.session.handlers import handler_errors
from trafficmock.testing.session.handlers.handler_fetches import HandlerFetches
from trafficmock.testing.session.handlers.http_routes import HttpRoutes
from trafficmock.testing.session.handlers.websocket_routes import WebSocketRoutes
from trafficmock.testing.session.handlers.written_stream import WrittenStreams
from trafficmock.testing.session.har_use import HarUse
from trafficmock.testing.session.observation.proxy_clock import ProxyClock
from trafficmock.testing.session.observation.request_state import RequestState
from trafficmock.testing.session.observation.traffic import ObservedTraffic, RecordedTraffic
from trafficmock.testing.session.observation.waiting import Observation
from trafficmock.testing.session.traffic_context import (
    Isolation,
    TrafficContext,
    application_of,
    browser_proxy,
    check_isolation,
)
from trafficmock.wire import outbound
from trafficmock.wire.inbound import (
    Message,
    RequestResponse,
    RouteKind,
    RouteRegister,
    RouteUnregister,
    StreamAck,
    StreamClosed,
    Strict,
    TestRegister,
    TestStrict,
    TestSubscribe,
    TestUnregister,
)
from trafficmock.wire.outbound import MIXED_CONTEXT, REFUSED_CONTEXT, TestWarning
from trafficmock.wire.payloads.application_origins import CalledServers
from trafficmock.wire.payloads.serialized_matcher import SerializedMatcher
from trafficmock.wire.payloads.serialized_response import SerializedResponse

if TYPE_CHECKING:
    from trafficmock.testing.session.handlers.http_routes import RouteEntry
    from trafficmock.testing.session.handlers.routed_request import RoutedRequest
    from trafficmock.testing.session.ports import Adapter
    from trafficmock.testing.session.worker_client import WorkerClient

Scope = Literal["worker", "run"]
"""Which tests shared routes serve."""

EVERYTHING = ("*",)
"""The pattern that allows every host."""


def _flag() -> bool:
    flag: bool = field(default=False, validator=lambda _, flag, given: check_flag(flag.name, given))
    return flag


@frozen(kw_only=True)
class TestInfo:
    """The name and the settings of one test.

    :param title: the test's name in errors, in the history and on the dashboard.
    :param file: the test's file, for the same places.
    :param base_url: the URL that relative globs are resolved against.
    :param isolation: with ``auto`` the test has a context, with ``off`` it has none; with
        ``required`` a matching request without the context fails it.
    :param origins: the origins of the application, for a browser's cookies and its proxy.
    :param shared: its routes serve all tests of this worker, after their own; or those of the run,
        after all others, and are one route although each worker registers them.
    :param browser_proxy: the service opens a port for the test's browser, a proxy that adds the
        context.
    :param door: the older name of ``browser_proxy``.
    :param strict: requests of the test that no route matches are refused.
    :param allow: what strict mode lets through, see :func:`.allow_patterns`.
    :param exempt: the test is not strict, even if the whole service is.
    :param required: the test fails if a route of it meets no request.
    :param root: the directory of relative file names, by default the working directory.
    """

    __test__ = False

    title: str = "test"
    file: str = ""
    base_url: str | None = None
    isolation: Isolation = field(default="auto", validator=lambda *args: check_isolation(args[2]))
    origins: Sequence[str] = ()
    shared: Scope | None = None
    browser_proxy: bool = _flag()
    door: bool = _flag()
    strict: bool = _flag()
    allow: tuple[str | SerializedMatcher, ...] = field(default=(), converter=allow_patterns)
    exempt: bool = _flag()
    required: bool = _flag()
    root: str = ""

    @property
    def has_browser_proxy(self) -> bool:
        return self.browser_proxy or self.door


@define(eq=False)
class Session:
    """A registered test.

    :param id: the id of the test in protocol 3.
    :param client: the worker client of its connection.
    :param adapter: runs the functions of the test.
    :ivar finishing: functions that are called at the end; the test is unregistered after that.
    :ivar passed: the result of the test, which its runner sets before :meth:`finish`; ``None``
        where it is not known.
    :ivar started_at: the time of the registration by the proxy's clock, in epoch milliseconds.
    :ivar warnings: what the proxy warned of, which does not fail the test.
    :ivar allow: the patterns that strict mode lets through; ``None`` for a test that is not strict.
    :ivar untagged: origins to which the test's browser sent requests without the context.
    :ivar called: returns to which servers clients of the test sent its context, at its end.
    :ivar said_unmet: whether an error names the required routes that no request met.
    :ivar hars: what it has used of HARs, by the path of the file.
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
    streams: WrittenStreams = field(init=False, factory=WrittenStreams)
    errors: list[BaseException] = field(init=False, factory=list)
    warnings: list[Warning] = field(init=False, factory=list)
    finishing: list[Callable[[], Promise[None]]] = field(init=False, factory=list)
    ended: bool = field(init=False, default=False)
    judged: bool = field(init=False, default=False)
    passed: bool | None = field(init=False, default=None)
    started_at: int | None = field(init=False, default=None)
    clock: ProxyClock | None = field(init=False, default=None)
    context: TrafficContext = field(init=False, factory=TrafficContext)
    _registered: outbound.TestRegistered | None = field(init=False, default=None)
    allow: tuple[str | SerializedMatcher, ...] | None = field(init=False, default=None)
    untagged: list[str] = field(init=False, factory=list)
    called: Callable[[], CalledServers | UnsetType] = field(init=False, default=lambda: UNSET)
    said_unmet: bool = field(init=False, default=False)
    hars: dict[str, HarUse] = field(init=False, factory=dict)
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
        """The URL that relative globs and URLs are resolved against."""
        return self.info.base_url

    def send(self, message: Message) -> None:
        """Send a message for this test."""
        self.client.send(message)

    def har_use(self, path: str, entries: int) -> HarUse:
        """Return what the test has used of a HAR so far.

        :param path: the absolute path of the file.
        :param entries: the number of its entries now.
        """
        use = self.hars.setdefault(path, HarUse())
        use.entries = entries
        return use

    def register_route(
        self,
        entry: RouteEntry,
        kind: RouteKind = "http",
        place: str | UnsetType = UNSET,
        times: int | UnsetType = UNSET,
    ) -> Promise[Any]:
        """Register a route; the promise is resolved when all later requests are compared with it.

        :param place: the file and line of the test's call.
        :param times: the number of requests that the route takes; by default no limit.
        """
        message = RouteRegister(
            entry.id,
            self.id,
            entry.matcher.wire,
            kind,
            place,
            UNSET if entry.options is None else entry.options,
            UNSET if entry.stream is None else entry.stream,
            UNSET if entry.har is None else entry.har,
            times,
            UNSET if entry.record is None else entry.record,
        )
        return self.client.ask(("route:register", entry.id), message)

    # Begin and end

    def start(self) -> Promise[None]:
        """Register the test; the promise is resolved when it counts for all later requests."""
        info = self.info
        if info.isolation != "off":
            self.context = TrafficContext(self.client.link.new_context())
        if info.strict:
            self.allow = info.allow
        patterns = EVERYTHING if info.exempt else self.allow
        message = TestRegister(
            self.id,
            info.title,
            info.file,
            self.client.identity.worker_id,
            context=UNSET if self.context.id is None else self.context.id,
            scope=info.shared or UNSET,
            browser_proxy=application_of(info.origins, info.base_url)
            if info.has_browser_proxy and self.context.id
            else UNSET,
            strict=UNSET if patterns is None else Strict(list(patterns)),
        )
        self.client.sessions[self.id] = self
        asked_at = self.client.link.monotonic_us()
        asked = self.client.ask(("test:register", self.id), message)

        def registered(answer: outbound.TestRegistered) -> None:
            self.clock = ProxyClock(answer.clock, asked_at, self.client.link.monotonic_us())
            self.started_at = None if answer.at is UNSET else answer.at
            self._registered = answer

        def forget_if_refused(answer: Promise[Any]) -> None:
            if answer.error is not None:
                del self.client.sessions[self.id]

        asked.watch(forget_if_refused)
        return mapped(asked, registered)

    def make_strict(self, allow: Iterable[Allowed]) -> Promise[Any]:
        """Refuse requests of this test that no route matches, from now on.

        :param allow: what is let through in addition.
        :raises UsageError: a pattern is invalid.
        """
        more = allow_patterns(allow)
        self.allow = (*(self.info.allow if self.allow is None else self.allow), *more)
        message = TestStrict(self.id, list(self.allow))
        return self.client.ask(("test:strict", self.id), message)

    def browser_proxy(self) -> dict[str, str] | None:
        """Return the browser proxy of this test as Playwright's ``proxy``; ``None`` without one.

        :raises RoutingError: the service could not open it.
        """
        client = self.client
        return browser_proxy(self._registered, client.link.proxy_url, client.identity.token)

    def finish(self) -> Promise[list[BaseException]]:
        """End the test: unregister it, and return a promise of its errors."""
        result: Promise[list[BaseException]] = Promise()
        tasks = [task() for task in self.finishing]

        def finished(_: Promise[None]) -> None:
            lost = ConnectionLostError  # which unregistering says, too
            self.errors += [t.error for t in tasks if t.error and not isinstance(t.error, lost)]
            checked, end = required_routes.check(self), lambda acks: self._end(acks, result)
            checked.watch(lambda _: self._unregister().watch(end))

        all_of(tasks).watch(finished)
        return result

    def _unregister(self) -> Promise[None]:
        passed = UNSET if self.passed is None else self.passed and not self.errors
        try:
            gone = self.client.ask(("route:unregister", self.id), RouteUnregister(test_id=self.id))
            message = TestUnregister(self.id, passed, self.called())
            ended = self.client.ask(("test:unregister", self.id), message)
            return all_of([gone, ended])
        except Exception as error:  # noqa: BLE001 - it becomes one of the test's errors
            failed: Promise[None] = Promise()
            failed.reject(error)
            return failed

    def _end(self, acks: Promise[None], result: Promise[list[BaseException]]) -> None:
        self.ended = True
        self.client.sessions.pop(self.id, None)
        if acks.error is not None:
            # It is about the connection: no code of the test is on the stack.
            self.errors.append(acks.error.with_traceback(None))
        self.observation.end()
        self.fetches.end()
        self.streams.end()
        self.recorded.end()
        if self.passed is not False and not self.errors:
            self.warnings += required_routes.unused_replays(self)
        errors, self.errors = self.errors, []
        handler_errors.add_notes(errors, self.untagged)
        result.resolve(errors)

    def stream_moved(self, message: StreamAck | StreamClosed) -> None:
        """Handle what became of the pieces of a streamed answer."""
        stream = self.streams.find(message.request_id)
        if stream is None:
            return
        if isinstance(message, StreamClosed):
            stream.gone(message)
        else:
            stream.acknowledged(message)

    def connection_lost(self, error: Exception) -> None:
        """Fail all waits and fetches, because the connection is lost."""
        self.observation.end(error)
        self.fetches.end(error)
        self.streams.end(error)
        self.recorded.end(error)

    def take_errors(self) -> Promise[list[BaseException]]:
        """Return a promise of the errors so far, with those that the proxy has sent already."""

        def take(_: Any) -> list[BaseException]:
            taken, self.errors[:] = list(self.errors), []
            handler_errors.add_notes(taken, self.untagged)
            return taken

        return mapped(self.client.barrier(), take)

    # Observation

    def subscribe(self) -> Promise[Any]:
        """Subscribe to all traffic; the promise is resolved when no later request is missed."""
        if self._subscribed is None:
            message = TestSubscribe(self.id)
            self._subscribed = self.client.ask(("test:subscribe", self.id), message)
        return self._subscribed

    def answered_here(self, request: RequestState, response: SerializedResponse) -> None:
        """Record the response of a handler, if the proxy does not report it to this test."""
        if self._subscribed is None:
            self.traffic.respond(request, response)

    def answered_there(self, request: RequestState, response: SerializedResponse) -> None:
        """Record a fixed response that the proxy sent, if the proxy does not report it."""
        if self._subscribed is None or not self._subscribed.done:
            self.traffic.respond(request, response)

    # Messages

    def observed(self, message: outbound.RequestObserved) -> None:
        """Record a request that an application sent."""
        self.traffic.observe(message)

    def responded(self, message: RequestResponse) -> None:
        """Record the end of a request."""
        state = self.traffic.requests.get(message.request_id)
        if state is None:
            self.recorded.responded(message)
        elif message.ok and message.response is not UNSET:
            self.traffic.respond(state, message.response)
        else:
            state.answer(None)

    # Errors

    def proxy_error(self, message: outbound.ProxyError) -> None:
        """Add an error that the proxy reports for this test, or count it as a repeat."""
        error = handler_errors.from_proxy(message, self.id)
        for known in self.errors:
            if isinstance(known, RoutingError) and handler_errors.is_repeated(known, error):
                known.repeats += 1
                for note in getattr(error, "__notes__", ()):
                    known.add_note(note)
                return
        self.errors.append(error)

    def warned(self, message: TestWarning) -> None:
        """Keep a warning; a test that requires its context fails by a mixed up one."""
        if message.code == MIXED_CONTEXT and self.info.isolation == "required":
            self.errors.append(MixedContextError(message.message))
            return
        is_mixed = message.code in {MIXED_CONTEXT, REFUSED_CONTEXT}
        kind = MixedContextWarning if is_mixed else UnseenTrafficWarning
        self.warnings.append(kind(message.message))

    def is_foreign(self, request_id: str) -> bool:
        """Return whether a recorded request carries the context of another test.

        A request without a context may be this test's, whichever test decided it.
        """
        entry = self.recorded.entries.get(request_id)
        if self.context.id is None or entry is None or not entry.has_context:
            return False
        if entry.test_id in (UNSET, self.id):
            return False
        other = self.client.sessions.get(entry.test_id)
        return other is None or not other.info.shared

    def check_context(self, message: outbound.HandlerRun | outbound.RequestReplied) -> None:
        """Add an error for a request without the context, where the test requires it.

        Requests with the same method and URL are one error, which counts them.
        """
        if message.context is not UNSET or self.info.isolation != "required":
            return
        key = f"{message.request.method} {message.shown_url or message.request.url}"
        if known := self._without_context.get(key):
            known.repeats += 1
            return
        lost = "" if message.lost is UNSET else message.lost
        self._without_context[key] = error = IsolationError(key, message.client_id, lost)
        self.errors.append(error)

    def record(self, error: BaseException, routed: RoutedRequest, entry: RouteEntry | None) -> None:
        """Add the error of a handler to the test's errors, with the handler's place."""
        if entry is not None:
            handler_errors.point_at(error, entry, routed.request)
        self.errors.append(error)
