"""Any order of routes, requests and decisions keeps the promises of a session and its proxy."""

from collections import Counter
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from twisted.trial.unittest import SynchronousTestCase

from tests.support.hypothesis_profiles import profile
from tests.testing.fakes import CoordinatedSession, kept
from trafficmock.testing.errors import AlreadyHandledError
from trafficmock.testing.session.arguments.url_matchers import make_matcher
from trafficmock.testing.session.handlers.handler_fetches import FetchOptions

PAGES = st.sampled_from("ab")
TIMES = st.sampled_from([None, 1, 2])
ENDS = ("fulfill", "continue", "abort", "fallback", "raise", "return")


class Route:
    """What the model knows of a route."""

    def __init__(self, page: str, times: int | None) -> None:
        self.page, self.left = page, times


class Interleavings(RuleBasedStateMachine):
    """A session and a coordinator beside a model of them: a list of routes, newest first."""

    def __init__(self) -> None:
        super().__init__()
        self.harness = CoordinatedSession()
        self.routes: list[Route] = []
        self.handlers: dict[Any, Route] = {}
        self.running: list[tuple[Any, Any, Route]] = []
        self.called: list[tuple[str, Route]] = []
        self.chains: dict[str, list[Route]] = {}
        self.pages: dict[str, str] = {}
        self.decided: Counter[str] = Counter()
        self.held: dict[str, Any] = {}

    # What may happen

    @rule(page=PAGES, times=TIMES)
    def route(self, page: str, times: int | None) -> None:
        route = Route(page, times)

        def handler(routed: Any, done: Any) -> None:
            self.called.append((routed.request.id, route))
            self.running.append((routed, done, route))

        self.handlers[handler] = route
        self.routes.insert(0, route)
        self.harness.route(handler, f"**/{page}", times)

    @precondition(lambda self: self.routes)
    @rule(data=st.data())
    def unroute(self, data: Any) -> None:
        route = data.draw(st.sampled_from(self.routes))
        handler = next(key for key, value in self.handlers.items() if value is route)
        self.routes.remove(route)
        self.harness.session.http.unroute(make_matcher(f"**/{route.page}"), handler)

    @rule(page=PAGES)
    def request(self, page: str) -> None:
        request_id = f"r{len(self.pages)}"
        self.pages[request_id] = page
        self.chains[request_id] = [each for each in self.routes if each.page == page]
        before = len(self.called)
        self.harness.asks(request_id, f"http://h.test/{page}")
        self._expect_next(request_id, before)

    @precondition(lambda self: self.running)
    @rule(data=st.data(), end=st.sampled_from(ENDS), fetches=st.booleans())
    def handler_ends(self, data: Any, end: str, fetches: bool) -> None:  # noqa: FBT001 - drawn
        routed, done, _ = running = data.draw(st.sampled_from(self.running))
        self.running.remove(running)
        if fetches:
            routed.fetch(FetchOptions())
        nothing = {"url": None, "method": None, "headers": None, "post_data": None}
        match end:
            case "fulfill":
                routed.fulfill({})
                self._twice(routed)
            case "continue":
                routed.continue_({}, **nothing)
                self._twice(routed)
            case "abort":
                routed.abort({"abort": "failed"})
            case "fallback":
                routed.fallback(**nothing)
        before = len(self.called)
        done(None, ValueError("raised") if end == "raise" else None)
        if end == "fallback":
            self._expect_next(routed.request.id, before)
        elif end == "return":
            self.held[routed.request.id] = routed

    @precondition(lambda self: self.held)
    @rule(data=st.data(), decide=st.booleans())
    def held_route_ends(self, data: Any, decide: bool) -> None:  # noqa: FBT001 - drawn
        routed = self.held.pop(data.draw(st.sampled_from(sorted(self.held))))
        if decide:
            routed.fulfill({})
        routed.abandoned()

    # What must hold

    def _twice(self, routed: Any) -> None:
        try:
            routed.fulfill({})
        except AlreadyHandledError:
            return
        raise AssertionError("decided twice")

    def _expect_next(self, request_id: str, before: int) -> None:
        """The newest route of the chain that is still there is called, or nobody."""
        chain = self.chains[request_id]
        while chain and chain[0] not in self.routes:
            chain.pop(0)
        called = self.called[before:]
        if not chain:
            assert called == [], called
            return
        route = chain.pop(0)
        assert called == [(request_id, route)], (called, route)
        if route.left is not None:
            route.left -= 1
            if route.left == 0:
                self.routes.remove(route)

    @invariant()
    def decided_once(self) -> None:
        """Every request is decided at most once, and is open exactly until then."""
        self.decided.update(self.harness.take_decided())
        assert set(self.decided.values()) <= {1}, self.decided
        open_ones = {routed.request.id for routed, _, _ in self.running} | set(self.held)
        assert set(self.harness.session.http.open) == open_ones
        assert set(self.decided) == set(self.pages) - open_ones

    @invariant()
    def same_routes(self) -> None:
        """The live routes are the model's, in its order."""
        live = [self.handlers[entry.handler] for entry in self.harness.session.http.live]
        assert live == self.routes

    def teardown(self) -> None:
        """The test's end fails what runs or is held, and each of these fails the test."""
        finished = self.harness.session.finish()
        assert finished.done
        running = {routed.request.id for routed, _, _ in self.running} | set(self.held)
        assert Counter(self.harness.take_decided()) == Counter(running)
        assert self.harness.coordinator.state.pending == {}
        late = [each for each in kept(finished) if "ended before the handler" in str(each)]
        assert len(late) == len(running), late


class InterleavingTests(SynchronousTestCase):
    """The state machine, as a test."""

    def test_any_order(self) -> None:
        """Each request is answered once, ``times`` is exact, the newest comes first."""
        case = Interleavings.TestCase()
        type(case).settings = profile(60, steps=40)
        case.runTest()
