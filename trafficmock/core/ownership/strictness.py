"""Decides whether strict mode refuses a request that no route wants.

Each request that no route wants belongs to a test or to nobody. A test is strict by itself or
because the service is; what belongs to nobody is refused where a run or the service is strict.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, field, frozen

from trafficmock.core.effects import KeepStrictness
from trafficmock.core.ownership.kept_strictness import KeptStrictness, KeptTest
from trafficmock.core.ownership.registry import RegisteredTest
from trafficmock.matching.url_parts import url_parts
from trafficmock.wire.features import STRICT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from trafficmock.core.effects import EffectList
    from trafficmock.core.lifecycle import Owned, PendingRequest
    from trafficmock.core.ownership.contexts import Contexts, ContextTest
    from trafficmock.core.ownership.registry import RegisteredRoute, Registry
    from trafficmock.matching.allow_list import AllowList
    from trafficmock.matching.url_parts import UrlParts


@frozen
class Refusal:
    """The reason for which strict mode refuses a request.

    :param test: that it belongs to; ``None`` for nobody.
    :param allow: the patterns in force, none of which allows it.
    :param parts: of its URL, where that can be taken apart.
    :param lost_until: when it would pass, if only runs without a connection refuse it; epoch ms.
    """

    test: RegisteredTest | None
    allow: tuple[str, ...]
    parts: UrlParts | None
    lost_until: int | None = None


@define
class Strictness:
    """Decides whether strict mode refuses a request that no route wants.

    :param service: what the service allows; ``None`` unless it is strict.
    :param is_own_host: tells whether a host and port are part of the system under test.
    :param contexts: of the tests that ended just now, what comes late is refused as well.
    :ivar runs: what workers allow whose run is strict, by connection.
    :ivar lost: those of them whose connection is lost, and when they end; epoch ms.
    :ivar tests: the tests that are strict by themselves, by id, and what they allow.
    :ivar is_kept: another process on the same port may follow, and is to know who is strict.
    :ivar kept: what it would be told.
    """

    registry: Registry
    service: AllowList | None
    is_own_host: Callable[[str, int], bool]
    contexts: Contexts
    runs: dict[str, AllowList] = field(factory=dict)
    lost: dict[str, int] = field(factory=dict)
    tests: dict[str, AllowList] = field(factory=dict)
    is_kept: bool = False
    kept: KeptStrictness = field(factory=KeptStrictness)

    # Who is strict

    def add_test(self, test: RegisteredTest, allow: AllowList, out: EffectList) -> None:
        """Make a test strict."""
        self.tests[test.id] = allow
        self._keep(out)

    def remove_test(self, test: RegisteredTest, out: EffectList) -> None:
        """Make a test that goes on strict no more."""
        if self.tests.pop(test.id, None) is not None:
            self._keep(out)

    def end_test(self, test: RegisteredTest, out: EffectList) -> None:
        """Let the strictness of a test end with it, but for what comes late."""
        test.allow_late = self.tests.pop(test.id, None)
        self.contexts.release(test, out)
        if test.allow_late is not None:
            self._keep(out)

    def forget_ended(self, out: EffectList) -> None:
        """Keep the last tests no longer than what comes late for them is refused."""
        if self.kept.tests and not self.tests and not any(self.contexts.late_strict()):
            self._keep(out)

    def keep_taken_over(self, out: EffectList) -> None:
        """Keep what an earlier process kept."""
        self.is_kept = True
        self._keep(out)

    def add_run(
        self, run_id: str, allow: AllowList, out: EffectList, *, lost_until: int | None = None
    ) -> None:
        """Refuse what belongs to no test.

        :param lost_until: the connection of the run is lost already; epoch ms.
        """
        self.runs[run_id] = allow
        if lost_until is not None:
            self.lost[run_id] = lost_until
        self._keep(out)

    def end_run(self, run_id: str, out: EffectList) -> None:
        """Refuse it no more, as far as this run is concerned."""
        self.lost.pop(run_id, None)
        if self.runs.pop(run_id, None) is not None:
            self._keep(out)

    def lose_run(self, run_id: str, until: int, out: EffectList) -> None:
        """Take note that the connection of a run is lost, and until when it is waited for.

        :param until: epoch ms.
        """
        self.lost[run_id] = until
        self._keep(out)

    def lost_in_force(self) -> list[tuple[AllowList, int]]:
        """List what lost runs allow that nobody has come back for, and until when; epoch ms."""
        if self.runs.keys() != self.lost.keys():
            return []
        return [(self.runs[run_id], until) for run_id, until in self.lost.items()]

    def _runs_in_force(self) -> list[AllowList]:
        """List what strict runs allow: those that are connected, else those that are lost.

        A run that begins soon after a lost one may allow less, and that counts.
        """
        connected = [allow for run_id, allow in self.runs.items() if run_id not in self.lost]
        return connected or list(self.runs.values())

    def _keep(self, out: EffectList) -> None:
        # A service that is strict by itself is so again after its next start.
        if not self.is_kept or self.service is not None:
            return
        kept = self._to_be_kept()
        if kept != self.kept:
            self.kept = kept
            out.append(KeepStrictness(kept))

    def _to_be_kept(self) -> KeptStrictness:
        runs = {allow.texts for allow in self._runs_in_force()}
        only = self._only_test()
        if only is not None and only.id in self.tests:
            runs.add(self.tests[only.id].texts)
        if runs:
            return KeptStrictness(tuple(sorted(runs)))
        running = [(self.registry.tests[test_id], allow) for test_id, allow in self.tests.items()]
        tests = [
            KeptTest(test.context, test.id, test.title, test.file, allow.texts)
            for test, allow in running
            if test.context is not None
        ]
        # A test that ends changes nothing: it is among the late ones from then on.
        tests += self.contexts.late_tests()
        return KeptStrictness(tests=tuple(sorted(tests, key=lambda test: test.context)))

    # What is refused

    def refusal(self, pending: Owned, url: str) -> Refusal | None:
        """Judge a request or WebSocket that no route wants; ``None`` lets it pass.

        :param url: where it would go.
        """
        if self._is_off(pending):
            return None
        made_for = self._belongs_to(pending)
        lists = self._in_force(made_for)
        if not lists:
            return None
        parts = url_parts(url)
        if parts is not None and self._is_own(parts):
            return None
        if any(allowed.allows(url, parts) for allowed in lists):
            return None
        texts = tuple(dict.fromkeys(text for allowed in lists for text in allowed.texts))
        if isinstance(made_for, RegisteredTest) and not made_for.is_over:
            return Refusal(made_for, texts, parts)
        return Refusal(None, texts, parts, self._lost_until(made_for))

    def judges_hops(self, pending: PendingRequest) -> bool:
        """Tell whether the agent is to ask before it follows a redirect of this request."""
        if self._is_off(pending):
            return False
        asks = STRICT in pending.agent.features
        return asks and bool(self._in_force(self._belongs_to(pending)))

    def presumed_test(self, pending: Owned) -> RegisteredTest | None:
        """Find the strict test to which something without a context belongs, before it is asked."""
        if pending.made_for is not None or not self.tests:
            return None
        alone = self._only_test()
        return alone if alone is not None and alone.id in self.tests else None

    def candidates(self, test: RegisteredTest | None, kind: str) -> Iterator[RegisteredRoute]:
        """List the routes that might have wanted what belongs to ``test``, the newest first."""
        for route in reversed(self.registry.routes.values()):
            if route.kind == kind and route.test is not None and _serves(route.test, test):
                yield route

    def is_strict(self, test: RegisteredTest) -> bool:
        """Tell whether what belongs to a test is refused."""
        return self.service is not None or test.id in self.tests

    def _is_own(self, parts: UrlParts) -> bool:
        host = parts.host.strip("[]").removesuffix(".")
        return self.is_own_host(host, int(parts.port or 0))

    def _is_off(self, pending: Owned) -> bool:
        """Tell at little cost that nothing refuses it: most requests meet no strict mode."""
        if self.service is not None or self.tests or self.runs:
            return False
        if pending.made_for is not None:
            return pending.made_for.allow_late is None
        return pending.presumed is None

    def _belongs_to(self, pending: Owned) -> ContextTest | None:
        return pending.made_for or pending.test or pending.presumed or self._only_test()

    def _only_test(self) -> RegisteredTest | None:
        alone = [test for test in self.registry.tests.values() if not test.shared][:2]
        return alone[0] if len(alone) == 1 and alone[0].context is None else None

    def _lost_until(self, made_for: ContextTest | None) -> int | None:
        is_of_test = isinstance(made_for, RegisteredTest)
        if is_of_test or self.service is not None:
            return None
        return max((until for _, until in self.lost_in_force()), default=None)

    def _in_force(self, made_for: ContextTest | None) -> list[AllowList]:
        """List what allows requests of a test; nothing at all when they are not refused.

        What a test has begun is judged by its own patterns also when that ends meanwhile. A
        request that begins after the end is nobody's; it is refused for the test's sake if for
        no other.
        """
        of_service = [] if self.service is None else [self.service]
        if isinstance(made_for, RegisteredTest):
            own = self.tests.get(made_for.id, made_for.allow_late)
            return of_service if own is None else [own, *of_service]
        of_nobody = [*of_service, *self._runs_in_force()]
        if of_nobody or made_for is None or made_for.allow_late is None:
            return of_nobody
        return [made_for.allow_late]


def _serves(owner: RegisteredTest, test: RegisteredTest | None) -> bool:
    return test is None or owner is test or (owner.shared and owner.worker is test.worker)
