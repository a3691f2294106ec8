"""Tests and routes, reached by id, and the question which of them match."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from attrs import Factory, define, field
from msgspec import Struct

from trafficmock.matching import PatternCache, RouteIndex, compile_matcher
from trafficmock.matching.patterns.match_cost import STEPS
from trafficmock.wire.features import CLOCK, CONTEXT, SUBSCRIBE
from trafficmock.wire.payloads.serialized_matcher import RouteMatchDiagnostic, SerializedMatcher

if TYPE_CHECKING:
    from collections.abc import Iterator

    from msgspec import UnsetType

    from trafficmock.core.lifecycle import PendingRequest, Socket
    from trafficmock.core.ownership.claims import Claim
    from trafficmock.core.ownership.kept_reply import Reply
    from trafficmock.core.peers import Worker
    from trafficmock.matching import RouteMatcher
    from trafficmock.matching.allow_list import AllowList
    from trafficmock.matching.compiled_matcher import UrlCondition
    from trafficmock.records import MadeFor
    from trafficmock.wire.inbound import RouteRegister, TestRegister

Kind = Literal["http", "websocket"]

LONGEST_PLACE = 200
"""Characters of where a route is stated."""


@define(eq=False)
class RegisteredTest:
    """A running test: who it is, its routes, and what it owns or is asked about.

    :param subscribed: it asked for all traffic (feature ``subscribe``).
    :param context: what its traffic carries, set with ``made_for``, as which the history names it,
        by :class:`~trafficmock.core.ownership.contexts.Contexts`.
    :param has_door: a door was opened for it, which ends with it.
    :param is_over: it was unregistered.
    :param shared: its routes serve all tests of its worker, after their own.
    :param allow_late: what strict mode allows after the end of a test that was strict until then.
    :param refused: how many of its requests strict mode has refused.
    :param newest_route: the ``sequence`` of the route that it registered last.
    :param busy: how many unsettled requests of this test each of its routes matches.
    """

    __test__ = False

    id: str
    title: str
    file: str
    worker_id: str
    worker: Worker
    subscribed: bool = False
    context: str | None = None
    made_for: MadeFor | None = None
    shared: bool = False
    has_door: bool = False
    is_over: bool = False
    routes: dict[str, RegisteredRoute] = field(factory=dict)
    requests: dict[str, PendingRequest] = field(factory=dict)
    sockets: dict[str, Socket] = field(factory=dict)
    claims: dict[tuple[Kind, str], Claim] = field(factory=dict)
    busy: dict[str, int] = field(factory=dict)
    allow_late: AllowList | None = None
    refused: int = 0
    newest_route: int = 0

    def took(self, pending: PendingRequest) -> None:
        """Note that a request is matched to this test."""
        self.requests[pending.id] = pending
        for route_id in pending.routes:
            self.busy[route_id] = self.busy.get(route_id, 0) + 1

    def released(self, pending: PendingRequest) -> None:
        """Note that a request of this test is settled."""
        del self.requests[pending.id]
        for route_id in pending.routes:
            self.busy[route_id] -= 1
            if not self.busy[route_id]:
                del self.busy[route_id]

    def __str__(self) -> str:
        place = f"{self.file}, " if self.file else ""
        return f'"{self.title}" ({place}worker {self.worker_id})'


@define(eq=False)
class RegisteredRoute:
    """A registered route; ``sequence`` orders it among registrations and claims.

    :param place: where its test states it, for people.
    :param reply: what answers its requests.
    """

    id: str
    test_id: str
    kind: Kind
    matcher: SerializedMatcher
    sequence: int
    test: RegisteredTest | None = None
    place: str | None = None
    reply: Reply | None = None

    def diagnostic(self, test: RegisteredTest) -> RouteMatchDiagnostic:
        """Name the route and its test for somebody who must tell them apart."""
        return RouteMatchDiagnostic(
            route_id=self.id,
            test_id=test.id,
            title=test.title,
            file=test.file,
            worker_id=test.worker_id,
            matcher=self.matcher,
        )


class MatchingTests(Struct):
    """Which tests match for certain, by which routes, and which only the worker can tell.

    :param unsure: those among ``yes`` of which a newer route may match too, as the worker can tell.
    """

    yes: dict[str, tuple[RegisteredTest, list[RegisteredRoute]]] = {}
    undecided: dict[str, RegisteredTest] = {}
    unsure: frozenset[str] = frozenset()


@define
class Registry:
    """All tests and routes. Ids are the clients' own; the first holder of an id keeps it.

    :param pattern_cache: keep what is compiled of the routes' patterns.
    :param regex_steps: what judging one request by patterns may cost; 0 for any number.
    """

    pattern_cache: PatternCache = field(factory=PatternCache, kw_only=True)
    regex_steps: int = field(default=STEPS, kw_only=True)

    tests: dict[str, RegisteredTest] = field(factory=dict)
    routes: dict[str, RegisteredRoute] = field(factory=dict)
    observers: tuple[str, ...] = ()
    observers_of_all: tuple[str, ...] = ()
    """Observers without the feature ``context``: they also get the traffic of other tests."""
    asking_when: frozenset[str] = frozenset()
    """Observers with the feature ``clock``."""
    sequence: int = 0
    reply_bytes: int = 0
    """What the replies of all routes take."""
    _indexes: dict[Kind, RouteIndex] = field(
        init=False, default=Factory(lambda self: self._make_indexes(), takes_self=True)
    )

    def next_sequence(self) -> int:
        """Give the next number in the order of registrations and claims."""
        self.sequence += 1
        return self.sequence

    def add_test(self, worker: Worker, message: TestRegister) -> bool:
        """Register a test; its routes that came before it become active.

        :returns: whether the id was free, or this worker's already.
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
            shared=message.scope == "worker" and CONTEXT in worker.features,
        )
        self.tests[test.id] = test
        worker.tests[test.id] = test
        for route in [route for route in worker.inert.values() if route.test_id == test.id]:
            del worker.inert[route.id]
            self._activate(route, test)
        self._look_again(worker)
        return True

    def subscribe(self, test: RegisteredTest) -> None:
        """Tell this test's worker of all traffic from now on."""
        test.subscribed = True
        self._look_again(test.worker)

    def remove_test(self, test: RegisteredTest) -> None:
        """Forget a test and its routes."""
        for route in list(test.routes.values()):
            self.remove_route(test.worker, route.id)
        del self.tests[test.id]
        del test.worker.tests[test.id]
        self._look_again(test.worker)

    def add_route(self, worker: Worker, message: RouteRegister, reply: Reply | None = None) -> bool:
        """Register a route; it waits where its test is not known yet.

        :param reply: what answers its requests.
        :returns: whether the id was free and the test is not another worker's.
        """
        test = self.tests.get(message.test_id)
        if message.route_id in self.routes or (test and test.worker is not worker):
            return False
        route = RegisteredRoute(
            message.route_id,
            message.test_id,
            message.kind,
            message.matcher,
            self.next_sequence(),
            place=(_given(message.place) or "")[:LONGEST_PLACE] or None,
            reply=reply,
        )
        self.routes[route.id] = route
        self.reply_bytes += reply.size if reply else 0
        if test is None:
            worker.inert[route.id] = route
        else:
            self._activate(route, test)
        return True

    def remove_route(self, worker: Worker, route_id: str) -> bool:
        """Forget one route of this worker.

        :returns: whether it was there and this worker's.
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
            self._indexes[route.kind].remove(route_id)
        del self.routes[route_id]
        self.reply_bytes -= route.reply.size if route.reply else 0
        return True

    def remove_routes_of(self, worker: Worker, test_id: str) -> None:
        """Forget all routes of a test of this worker, of both kinds."""
        test = worker.tests.get(test_id)
        routes = list(test.routes) if test else []
        routes += [route.id for route in worker.inert.values() if route.test_id == test_id]
        for route_id in routes:
            self.remove_route(worker, route_id)

    def judge(self, kind: Kind, url: str, method: str, client_id: str) -> MatchingTests | None:
        """Ask the routes of one kind; ``None`` when none of them can match."""
        index = self._indexes[kind]
        if not len(index):
            return None
        routes = index.judge(url, method, client_id)
        if not routes.yes and not routes.undecided:
            return None
        found = MatchingTests()
        for route_id in routes.yes:
            route = self.routes[route_id]
            if route.test is not None:
                found.yes.setdefault(route.test_id, (route.test, []))[1].append(route)
        for route_id in routes.undecided:
            route = self.routes[route_id]
            test = route.test
            if test is None:
                continue
            certain = found.yes.get(test.id)
            if certain is None:
                found.undecided[test.id] = test
            elif route.sequence > certain[1][-1].sequence:
                found.unsure |= {test.id}
        return found

    def conditions(self, kind: Kind) -> Iterator[UrlCondition]:
        """List what the routes of one kind ask of URLs; some may come more than once."""
        return self._indexes[kind].conditions()

    def everybody(self, kind: Kind) -> MatchingTests | None:
        """Treat every test with a route of this kind as one that only the worker can judge."""
        asked = {
            test.id: test
            for test in self.tests.values()
            if any(route.kind == kind for route in test.routes.values())
        }
        return MatchingTests(undecided=asked) if asked else None

    def _make_indexes(self) -> dict[Kind, RouteIndex]:
        kinds: tuple[Kind, ...] = ("http", "websocket")
        return {kind: RouteIndex(self.pattern_cache, self.regex_steps) for kind in kinds}

    def _look_again(self, worker: Worker) -> None:
        """Put a worker among the observers, or take it out."""
        by_itself = SUBSCRIBE not in worker.features
        observes = any(by_itself or test.subscribed for test in worker.tests.values())
        change = with_observer if observes else _without_observer
        self.observers = change(self.observers, worker.id)
        if CONTEXT not in worker.features:
            self.observers_of_all = change(self.observers_of_all, worker.id)
        if CLOCK in worker.features:
            asking = self.asking_when - {worker.id}
            self.asking_when = asking | {worker.id} if observes else asking

    def _activate(self, route: RegisteredRoute, test: RegisteredTest) -> None:
        route.test = test
        test.routes[route.id] = route
        test.newest_route = route.sequence
        self._indexes[route.kind].add(route.id, compile_route(route.matcher))


def _without_observer(observers: tuple[str, ...], connection_id: str) -> tuple[str, ...]:
    return tuple(each for each in observers if each != connection_id)


def with_observer(observers: tuple[str, ...], connection_id: str | None) -> tuple[str, ...]:
    """Add a connection to the observers, unless it is there."""
    if connection_id is None or connection_id in observers:
        return observers
    return (*observers, connection_id)


def compile_route(matcher: SerializedMatcher) -> RouteMatcher:
    """Compile the matcher that a worker sent."""
    regex = matcher.url_regex
    return compile_matcher(
        url_glob=_given(matcher.url_glob),
        url_regex=(regex.source, regex.flags) if regex else None,
        methods=matcher.methods or (),
        client_ids=matcher.client_ids or (),
        predicate=bool(matcher.predicate),
    )


def _given(text: str | UnsetType) -> str | None:
    return text if isinstance(text, str) else None
