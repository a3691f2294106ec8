"""The registered tests with their routes, and the tests that match a request."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Literal

from attrs import define, field
from msgspec import UNSET, Struct

from trafficmock.core.answers.kept_answers import KeptAnswers
from trafficmock.core.state.har_recording import HarRecording
from trafficmock.matching.allow_list import AllowList
from trafficmock.records import CarriedContext
from trafficmock.wire.payloads.serialized_matcher import (
    RouteMatchDiagnostic,
    SerializedMatcher,
    ShownRoute,
)

if TYPE_CHECKING:
    from trafficmock.core.state.lifecycle import Claim, PendingRequest, Socket
    from trafficmock.core.state.peers import Worker

Kind = Literal["http", "websocket"]

MOST_REMOVED = 100
"""The most routes that a test has no more and whose matchers are kept."""

MOST_WAITED_FOR = 100
"""The most waits of a test whose matchers are kept."""

RunKey = tuple[str, bytes, int]
"""The kind and the matcher of a route, and how many with both its test registered before it."""


@define(eq=False)
class RegisteredTest:
    """A registered test.

    :param registered_at: epoch milliseconds.
    :param subscribed: whether it observes all traffic (feature ``subscribe``).
    :param context: the context of its requests.
    :param carried: the test, for the history; ``None`` without a context.
        :class:`~trafficmock.core.ownership.contexts.Contexts` sets both.
    :param shared: whether its routes serve all tests of its worker, after their own routes.
    :param for_run: whether they serve all tests of the run, after all other routes; such a test is
        shared, too.
    :param has_browser_proxy: whether its browser has a proxy, which is closed at its end.
    :param is_over: whether it was unregistered.
    :param routes: its routes by id.
    :param requests: the paused requests that it owns, by id.
    :param sockets: the WebSockets that it owns, by id.
    :param claims: the claims that it has not answered.
    :param busy: for each of its routes the number of unsettled requests that match it.
    :param allow_late: the allow list for late requests, of a test that was strict at its end.
    :param refused: the number of its requests that strict mode has refused.
    :param called_origin: the first origin of the application that its browser or its client called.
    :param context_seen: whether an attached application has told that the context came to it.
    :param removed: the kinds and matchers of routes that it had, the latest ones: those that its
        code removed, and whose ``times`` are used up.
    :param waited_for: the matchers of the waits that it began and that name a URL, the latest ones.
    :param recordings: what its routes have recorded, by their ids.
    :param when_settled: is called after each request of it that is settled, if its end waits
        for its running handlers.
    """

    __test__ = False

    id: str
    title: str
    file: str
    worker_id: str
    worker: Worker
    registered_at: int = 0
    subscribed: bool = False
    context: str | None = None
    carried: CarriedContext | None = None
    shared: bool = False
    for_run: bool = False
    has_browser_proxy: bool = False
    is_over: bool = False
    routes: dict[str, RegisteredRoute] = field(factory=dict)
    requests: dict[str, PendingRequest] = field(factory=dict)
    sockets: dict[str, Socket] = field(factory=dict)
    claims: dict[tuple[Kind, str], Claim] = field(factory=dict)
    busy: dict[str, int] = field(factory=dict)
    allow_late: AllowList | None = None
    refused: int = 0
    called_origin: str = ""
    context_seen: bool = False
    when_settled: Callable[[], object] | None = None
    removed: deque[tuple[Kind, SerializedMatcher]] = field(
        factory=lambda: deque(maxlen=MOST_REMOVED), repr=False
    )
    waited_for: deque[SerializedMatcher] = field(
        factory=lambda: deque(maxlen=MOST_WAITED_FOR), repr=False
    )
    recordings: dict[str, HarRecording] = field(factory=dict, repr=False)
    of_run: dict[RunKey, RunRoute] = field(factory=dict)
    """The routes of the run that it registered, also those that are used up."""

    def serves(self, test: RegisteredTest) -> bool:
        """Return whether its routes may take a request with the context of a test."""
        return self is test or self.for_run or (self.shared and self.worker is test.worker)

    def __str__(self) -> str:
        place = f"{self.file}, " if self.file else ""
        return f'"{self.title}" ({place}worker {self.worker_id})'


@define(eq=False)
class RegisteredRoute:
    """A registered route.

    :param sequence: the number of its registration; a claim has the number of the latest route.
    :param test: its test; ``None`` until that is registered.
    :param place: file and line of the route in the test, for messages.
    :param answers: by which the coordinator answers in the place of a handler, if it does.
    :param times: the number of requests that it takes; ``None`` for any.
    :param run: the route of the run that this one is a copy of, if any; that counts the requests.
    :param ignores_errors: whether its handler may still run at the end of its test.
    :ivar met: the number of requests that have come to it.
    :ivar shown: the route as the history shows it.
    """

    id: str
    test_id: str
    kind: Kind
    matcher: SerializedMatcher
    sequence: int
    test: RegisteredTest | None = None
    place: str | None = None
    answers: KeptAnswers | None = field(default=None, repr=False)
    times: int | None = None
    run: RunRoute | None = None
    ignores_errors: bool = False
    met: int = field(init=False, default=0)
    shown: ShownRoute = field(init=False)

    @shown.default
    def _shown(self) -> ShownRoute:
        return ShownRoute(self.matcher, UNSET if self.place is None else self.place)

    def diagnostic(self, test: RegisteredTest) -> RouteMatchDiagnostic:
        """Describe the route and its test, for the error of an ambiguous request."""
        return RouteMatchDiagnostic(
            route_id=self.id,
            test_id=test.id,
            title=test.title,
            file=test.file,
            worker_id=test.worker_id,
            matcher=self.matcher,
        )


@define(eq=False)
class RunRoute:
    """A route of the run.

    :param key: what it is known by.
    :param order: its number among the routes of the run; the newest one that matches decides.
    :param test: the test that registered it first.
    :param place: file and line of that registration.
    :param parts: a digest of each part of its answer, by name.
    :param answers: as in :class:`RegisteredRoute`.
    :param times: the number of requests that it takes; ``None`` for any.
    :ivar met: the number of requests that have come to it.
    :ivar copies: the registered routes that are this one, by id.
    """

    key: RunKey
    order: int
    test: RegisteredTest
    place: str | None
    parts: dict[str, bytes] = field(repr=False)
    answers: KeptAnswers | None = field(repr=False)
    times: int | None
    met: int = field(init=False, default=0)
    copies: dict[str, RegisteredRoute] = field(factory=dict)

    @property
    def is_used_up(self) -> bool:
        """Whether it has taken all its requests, so that later copies take none."""
        return self.met == self.times


class MatchingTests(Struct):
    """The tests that match a request.

    :param yes: the tests that match for certain, with the matching routes, by id.
    :param undecided: the other tests with an undecidable route, by id.
    :param open_routes: the undecidable routes by the id of their test.
    :param awaiting: groups of ids of the tests with a route about which the body of the request
        decides, as they are now: to be looked at before anything changes.
    """

    yes: dict[str, tuple[RegisteredTest, list[RegisteredRoute]]] = {}
    undecided: dict[str, RegisteredTest] = {}
    open_routes: dict[str, list[RegisteredRoute]] = {}
    awaiting: Sequence[AbstractSet[str]] = ()
