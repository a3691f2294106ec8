"""Names requests that carry the context of one test, although only another one has a route.

Code of an application that keeps work, and starts it while it runs for somebody else, sends it with
the context of that other test. Such a request is its own to all appearances: what shows is that the
test of its context has no route for it, while exactly one other running test has. A test that had a
route for it, or has begun a wait for its URL, knows of it. Any other one may let it pass on
purpose, so it is a warning to both; a test that requires contexts fails by it, unless strict mode
refuses the request: then one test has an error already, and the other one may be innocent.

It costs nothing for requests that no route of another test matches.
"""

from __future__ import annotations

from collections import defaultdict

from attrs import define, field
from msgspec import UNSET

from trafficmock.core.effects import EffectList
from trafficmock.core.isolation.lost_contexts import left_from
from trafficmock.core.isolation.wanted_origins import WantedOrigins
from trafficmock.core.shared_state import SharedState
from trafficmock.core.state.lifecycle import Owned
from trafficmock.core.state.registered import Kind, RegisteredRoute, RegisteredTest
from trafficmock.matching.url_parts import shown_url
from trafficmock.records import ContextMixedUp, LostContext
from trafficmock.texts.wording import Wording
from trafficmock.wire.features import WARNINGS
from trafficmock.wire.outbound import MIXED_CONTEXT, REFUSED_CONTEXT, TestWarning

MOST_TOLD = 20
"""The most different requests that one test is warned of."""

_LONGEST_URL = 300

_REMEDY = (
    "If it is meant to pass, say so by a route that continues it. Else code of the application "
    "keeps work of several requests, and has run this in the context of another one: start what "
    "works for all of them with the application, or bind each job where it is handed over "
    "(AsyncResource.bind in Node, contextvars.copy_context().run in Python)."
)


@define
class MixedContexts:
    """Warns tests of requests that probably carry the context of the wrong one.

    :ivar told: of which requests each test was warned: the other test, the method and the URL.
    """

    state: SharedState
    wanted_origins: WantedOrigins
    told: dict[RegisteredTest, set[tuple[str, str, str]]] = field(
        init=False, factory=lambda: defaultdict(set)
    )

    def look(self, kind: Kind, pending: Owned, out: EffectList) -> None:
        """Warn of a request without a route of its test, if exactly one other test has one.

        :param pending: a request or WebSocket that only routes of other tests match.
        """
        test = pending.context_test
        if not isinstance(test, RegisteredTest) or test.is_over:
            return
        routes = [self.state.registry.routes.get(each) for each in pending.also_matched]
        found = [each for each in routes if each is not None and _is_of_a_test(each)]
        others = {each.test_id: each for each in reversed(found)}
        if len(others) != 1:
            return
        ((_, route),) = others.items()
        if route.test is None or self._has_named(kind, pending, test):
            return
        if pending.origin is UNSET:
            self.wanted_origins.mixed_up(pending.agent, out)
        mixed = LostContext(self._how(pending, test, route), _REMEDY)
        if kind == "http":
            out.record(ContextMixedUp(pending.id, mixed, pending.also_matched))
        is_refused = self.state.strictness.refusal(pending) is not None
        code = REFUSED_CONTEXT if is_refused else MIXED_CONTEXT
        self._tell(code, test, route.test, pending, mixed, out)
        self._tell(code, route.test, test, pending, mixed, out)

    def _has_named(self, kind: Kind, pending: Owned, test: RegisteredTest) -> bool:
        """Return whether the test had a route, or waits for the request: then it knows of it."""
        registry = self.state.registry
        return registry.has_named(test, kind, pending.url, pending.method, pending.client_id)

    def forget(self, test: RegisteredTest) -> None:
        """Forget a test that has ended."""
        self.told.pop(test, None)

    def _how(self, pending: Owned, test: RegisteredTest, route: RegisteredRoute) -> Wording:
        place = f" ({route.place})" if route.place else ""
        left = left_from(pending.agent, pending.origin)
        return Wording(
            f"It carries the context of the test {test}, which has no route for it; only the test "
            f"{route.test} has one{place}. ",
            left,
        )

    def _tell(  # noqa: PLR0917 - what the message is made of
        self,
        code: str,
        test: RegisteredTest,
        other: RegisteredTest,
        pending: Owned,
        mixed: LostContext,
        out: EffectList,
    ) -> None:
        if WARNINGS not in test.worker.features:
            return
        told, key = self.told[test], (other.id, pending.method, pending.url.partition("?")[0])
        if key in told or len(told) >= MOST_TOLD:
            return
        told.add(key)
        request = pending.named(shown_url(pending.url, _LONGEST_URL))
        out.send(
            test.worker.id,
            TestWarning(
                test.id,
                code,
                Wording(request, f' of the application "{pending.client_id}": ', mixed.text),
            ),
        )


def _is_of_a_test(route: RegisteredRoute) -> bool:
    return route.test is not None and not route.test.shared
