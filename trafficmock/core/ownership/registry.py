"""The registry of tests and routes: keeps them by id, and finds those that match a request."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator

from attrs import Factory, define, field
from msgspec import UNSET, UnsetType, structs

from trafficmock.core.answers.kept_answers import KeptAnswers
from trafficmock.core.ownership.run_routes import RunRoutes
from trafficmock.core.state.peers import Worker
from trafficmock.core.state.registered import Kind, MatchingTests, RegisteredRoute, RegisteredTest
from trafficmock.matching import PatternCache, RouteIndex, RouteMatcher, compile_matcher
from trafficmock.matching.compiled_matcher import UrlCondition
from trafficmock.matching.necessary_texts import may_begin
from trafficmock.matching.patterns.framework_calls import FrameworkCall, framework_call
from trafficmock.matching.request_conditions import compile_condition
from trafficmock.matching.request_content import RequestContent
from trafficmock.wire.features import CHAIN, CLOCK, CONTEXT, SUBSCRIBE
from trafficmock.wire.inbound import RouteRegister, TestRegister
from trafficmock.wire.payloads.serialized_matcher import SerializedMatcher

MOST_ENDED = 1000
"""The most routes of ended shared tests that are kept."""

LONGEST_PLACE = 200
"""The most characters of the place of a route."""


@define
class Registry:
    """All tests and routes. Clients choose the ids; an id in use is refused to other clients.

    :param pattern_cache: keeps the compiled patterns of routes.
    :ivar observers: the connections of the workers that observe traffic.
    :ivar sequence: the number of the latest route, which a claim keeps as its bound.
    """

    pattern_cache: PatternCache = field(factory=PatternCache, kw_only=True)

    tests: dict[str, RegisteredTest] = field(factory=dict)
    routes: dict[str, RegisteredRoute] = field(factory=dict)
    observers: tuple[str, ...] = ()
    observers_of_all: tuple[str, ...] = ()
    """The observers without the feature ``context``: they also get the traffic of other tests."""
    asking_when: frozenset[str] = frozenset()
    """The observers with the feature ``clock``."""
    sequence: int = 0
    run_routes: RunRoutes = field(factory=RunRoutes)
    ended_shared: deque[RegisteredRoute] = field(factory=lambda: deque(maxlen=MOST_ENDED))
    """The routes of shared tests that have ended since another test was registered."""
    reply_bytes: int = 0
    """The size of the replies of all routes."""
    _indexes: dict[Kind, RouteIndex] = field(
        init=False, default=Factory(lambda self: self._make_indexes(), takes_self=True)
    )

    def next_sequence(self) -> int:
        """Return the number of the next route."""
        self.sequence += 1
        return self.sequence

    def add_test(self, worker: Worker, message: TestRegister) -> bool:
        """Register a test, and activate its routes that were registered before it.

        :returns: ``False`` if another worker uses the id.
        """
        known = self.tests.get(message.test_id)
        if known is not None:
            return known.worker is worker
        test = RegisteredTest(
            message.test_id,
            message.title,
            message.file,
            message.worker_id,
            worker,
            shared=message.scope is not UNSET and CONTEXT in worker.features,
            for_run=message.scope == "run" and CONTEXT in worker.features,
        )
        self.tests[test.id] = test
        if not test.shared:
            self.ended_shared.clear()
        if test.for_run:
            self.run_routes.tests[test.id] = test
        worker.tests[test.id] = test
        for route in [route for route in worker.inert.values() if route.test_id == test.id]:
            del worker.inert[route.id]
            self._activate(route, test)
        self._update_observers(worker)
        return True

    def subscribe(self, test: RegisteredTest) -> None:
        """Make the worker of this test an observer."""
        test.subscribed = True
        self._update_observers(test.worker)

    def remove_test(self, test: RegisteredTest) -> None:
        """Remove a test and its routes."""
        if test.shared:
            self.ended_shared += test.routes.values()
        for route in list(test.routes.values()):
            self.remove_route(test.worker, route.id)
        del self.tests[test.id]
        del test.worker.tests[test.id]
        self.run_routes.end_test(test)
        self._update_observers(test.worker)

    def recorded_bytes(self) -> int:
        """Return the size of all recordings; tests of a run may share one."""
        every = {
            id(each): each for test in self.tests.values() for each in test.recordings.values()
        }
        return sum(each.size for each in every.values())

    def add_route(
        self, worker: Worker, message: RouteRegister, answers: KeptAnswers | None = None
    ) -> bool:
        """Register a route; it is inactive until its test is registered.

        :param answers: of the route, if the coordinator answers its requests.
        :returns: ``False`` if the id is in use, or the test is another worker's.
        :raises RunRouteError: another worker gave this route of the run another answer.
        """
        test = self.tests.get(message.test_id)
        if message.route_id in self.routes or (test and test.worker is not worker):
            return False
        times, run = _uses(worker, message), None
        if test is not None and test.for_run:
            run = self.run_routes.join(test, message, answers, times)
            answers = run.answers
        if run is not None and run.is_used_up:
            return True
        route = RegisteredRoute(
            message.route_id,
            message.test_id,
            message.kind,
            message.matcher,
            self.next_sequence(),
            place=(_given(message.place) or "")[:LONGEST_PLACE] or None,
            answers=answers,
            times=times,
            run=run,
        )
        self.routes[route.id] = route
        if run is not None:
            run.copies[route.id] = route
        self.reply_bytes += answers.size if answers else 0
        if test is None:
            worker.inert[route.id] = route
        else:
            self._activate(route, test)
        if test is not None and answers is not None and answers.recording is not None:
            test.recordings[route.id] = answers.recording
        return True

    def count(self, route: RegisteredRoute) -> bool:
        """Count a request that has come to a route (``times``), and remove the route with the last.

        The request counts when the handler begins or the answer is given, also if it then falls
        back. A route of the run has one count, and is removed with all its copies.

        :returns: whether the route was removed.
        """
        counted = route if route.run is None else route.run
        counted.met += 1
        if counted.met != counted.times or route.test is None:
            return False
        copies = [route] if route.run is None else list(route.run.copies.values())
        for copy in copies:
            if copy.test is not None:
                self.remove_route(copy.test.worker, copy.id)
        return True

    def remove_route(self, worker: Worker, route_id: str) -> bool:
        """Remove one route of this worker.

        :returns: ``False`` if there is no such route, or it is another worker's.
        """
        route = self.routes.get(route_id)
        if route is None:
            return False
        if route.test is None:
            if worker.inert.pop(route_id, None) is None:
                return False
        elif route.test.worker is not worker:
            return False
        else:
            del route.test.routes[route_id]
            route.test.removed.append((route.kind, route.matcher))
            self._indexes[route.kind].remove(route_id)
            if route.run is not None:
                self.run_routes.leave(route, route.run)
        del self.routes[route_id]
        self.reply_bytes -= route.answers.size if route.answers else 0
        return True

    def remove_routes_of(self, worker: Worker, test_id: str) -> None:
        """Remove all routes of a test of this worker, of both kinds."""
        test = worker.tests.get(test_id)
        routes = list(test.routes) if test else []
        routes += [route.id for route in worker.inert.values() if route.test_id == test_id]
        for route_id in routes:
            self.remove_route(worker, route_id)

    def judge(
        self,
        kind: Kind,
        url: str,
        method: str,
        client_id: str,
        content: Callable[[], RequestContent] | None = None,
        *,
        elsewhere: str | None = None,
    ) -> MatchingTests | None:
        """Compare a request or WebSocket with the routes of its kind.

        :param content: returns the parts of a request beside its URL.
        :param elsewhere: as in :meth:`.RouteIndex.judge`.
        :returns: ``None`` if none of them can match.
        """
        routes = self._indexes[kind].judge(url, method, client_id, content, elsewhere=elsewhere)
        if not routes.yes and not routes.undecided and not routes.awaiting:
            return None
        found = MatchingTests(awaiting=routes.awaiting)
        for route_id in routes.yes:
            route = self.routes[route_id]
            if route.test is not None:
                found.yes.setdefault(route.test_id, (route.test, []))[1].append(route)
        for route_id in routes.undecided:
            route = self.routes[route_id]
            test = route.test
            if test is None:
                continue
            found.open_routes.setdefault(test.id, []).append(route)
            if test.id not in found.yes:
                found.undecided[test.id] = test
        return found

    def has_named(
        self, test: RegisteredTest, kind: Kind, url: str, method: str, client_id: str
    ) -> bool:
        """Return whether a test knows of a request for which it has no route.

        It does if a route that it had, or that served it, may match, or a wait that it began; in
        doubt it does.
        """
        index = RouteIndex(self.pattern_cache)
        serving = {*test.worker.tests.values(), *self.run_routes.tests.values()}
        for each in serving:
            if each.serves(test):
                named = [matcher for of, matcher in each.removed if of == kind]
                named += each.waited_for if kind == "http" else ()
                for number, matcher in enumerate(named):
                    by_url = structs.replace(matcher, conditions=UNSET)
                    index.add(f"{each.id} {number}", compile_route(by_url), each.id)
        found = index.judge(url, method, client_id)
        return bool(found.yes or found.undecided)

    def framework_call(self, url: str) -> FrameworkCall | None:
        """Return what a framework sends to this URL for itself, and so for no test.

        A test that has a route for the host by its name means such requests: then it is as any
        other, because only the URL says what a framework sends.
        """
        call = framework_call(url)
        if call is None or any(
            route.test is not None and not route.test.shared and _names(route.matcher, call.host)
            for route in self.routes.values()
        ):
            return None
        return call

    def conditions(self, kind: Kind) -> Iterator[UrlCondition]:
        """Yield the URL conditions of the routes of one kind; some may be repeated."""
        return self._indexes[kind].conditions()

    def asking_all(self, kind: Kind, found: MatchingTests | None) -> MatchingTests | None:
        """Return all tests with a route of this kind as undecided, for ``always-ask``.

        Workers with the feature ``chain`` do not compare URLs, so ``found`` holds for their tests.
        """
        found = found or MatchingTests()
        for test in self.tests.values():
            if CHAIN not in test.worker.features:
                found.yes.pop(test.id, None)
                if any(route.kind == kind for route in test.routes.values()):
                    found.undecided[test.id] = test
        return found if found.yes or found.undecided else None

    def _make_indexes(self) -> dict[Kind, RouteIndex]:
        kinds: tuple[Kind, ...] = ("http", "websocket")
        return {kind: RouteIndex(self.pattern_cache) for kind in kinds}

    def _update_observers(self, worker: Worker) -> None:
        """Add a worker to the observers or remove it, according to its tests."""
        by_itself = SUBSCRIBE not in worker.features
        observes = any(by_itself or test.subscribed for test in worker.tests.values())
        change = with_observer if observes else _without_observer
        self.observers = change(self.observers, worker.id)
        if CONTEXT not in worker.features:
            self.observers_of_all = change(self.observers_of_all, worker.id)
        if CLOCK in worker.features:
            asking = self.asking_when - {worker.id}
            self.asking_when = asking | {worker.id} if observes else asking

    def may_match(self, base: str) -> bool:
        """Return whether a route may match a URL with a beginning; true in doubt.

        :param base: of an https URL, up to the first slash of its path; its WebSockets count too.
        """
        wanted = {"http": base, "websocket": f"wss{base.removeprefix('https')}"}
        return any(
            may_begin(condition, wanted[kind])
            for kind, index in self._indexes.items()
            for condition in index.conditions()
        )

    def _activate(self, route: RegisteredRoute, test: RegisteredTest) -> None:
        route.test = test
        test.routes[route.id] = route
        self._indexes[route.kind].add(route.id, compile_route(route.matcher), test.id)


def _without_observer(observers: tuple[str, ...], connection_id: str) -> tuple[str, ...]:
    return tuple(each for each in observers if each != connection_id)


def with_observer(observers: tuple[str, ...], connection_id: str | None) -> tuple[str, ...]:
    """Return the observers with a further connection, unless it is there or ``None``."""
    if connection_id is None or connection_id in observers:
        return observers
    return (*observers, connection_id)


def _uses(worker: Worker, message: RouteRegister) -> int | None:
    """Return the ``times`` of a route; ``None`` for any, and for a worker that counts itself."""
    return message.times if CHAIN in worker.features and message.times is not UNSET else None


def compile_route(matcher: SerializedMatcher) -> RouteMatcher:
    """Compile the matcher of a route."""
    regex = matcher.url_regex
    return compile_matcher(
        url_glob=_given(matcher.url_glob),
        url_regex=(regex.source, regex.flags) if regex else None,
        methods=matcher.methods or (),
        client_ids=matcher.client_ids or (),
        predicate=bool(matcher.predicate),
        beside=[
            compile_condition(
                each.part,
                each.path,
                equals=each.equals,
                regex=(each.matches.source, each.matches.flags) if each.matches else None,
                length=each.length if isinstance(each.length, int) else None,
                is_object=each.is_object is True,
                is_absent=each.is_absent is True,
            )
            for each in matcher.conditions or ()
        ],
    )


def _names(matcher: SerializedMatcher, host: str) -> bool:
    regex = matcher.url_regex.source.replace("\\", "") if matcher.url_regex else ""
    return host in (_given(matcher.url_glob) or "") or host in regex


def _given(text: str | UnsetType) -> str | None:
    return text if isinstance(text, str) else None
