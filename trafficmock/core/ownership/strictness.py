"""Decides whether strict mode refuses a request that no route wants.

Each request that no route wants belongs to a test or to nobody. A test is strict by itself or
because the service is; what belongs to nobody is refused where a run or the service is strict.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, field, frozen

from trafficmock.core.ownership.registry import RegisteredTest
from trafficmock.matching.url_parts import url_parts
from trafficmock.wire.features import STRICT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from trafficmock.core.lifecycle import Owned, PendingRequest
    from trafficmock.core.ownership.registry import RegisteredRoute, Registry
    from trafficmock.matching.allow_list import AllowList
    from trafficmock.matching.url_parts import UrlParts


@frozen
class Refusal:
    """The reason for which strict mode refuses a request.

    :param test: that it belongs to; ``None`` for nobody.
    :param allow: the patterns in force, none of which allows it.
    :param parts: of its URL, where that can be taken apart.
    """

    test: RegisteredTest | None
    allow: tuple[str, ...]
    parts: UrlParts | None


@define
class Strictness:
    """Decides whether strict mode refuses a request that no route wants.

    :param service: what the service allows; ``None`` unless it is strict.
    :param is_own_host: tells whether a host and port are part of the system under test.
    :ivar runs: what workers allow whose run is strict, by connection.
    :ivar tests: the tests that are strict by themselves, by id, and what they allow.
    """

    registry: Registry
    service: AllowList | None
    is_own_host: Callable[[str, int], bool]
    runs: dict[str, AllowList] = field(factory=dict)
    tests: dict[str, AllowList] = field(factory=dict)

    def refusal(self, pending: Owned, url: str) -> Refusal | None:
        """Judge a request or WebSocket that no route wants; ``None`` lets it pass.

        :param url: where it would go.
        """
        if self.service is None and not self.tests and not self.runs:
            return None
        test = self._belongs_to(pending)
        lists = self._in_force(test)
        if not lists:
            return None
        parts = url_parts(url)
        if parts is not None and self._is_own(parts):
            return None
        if any(allowed.allows(url, parts) for allowed in lists):
            return None
        texts = tuple(dict.fromkeys(text for allowed in lists for text in allowed.texts))
        return Refusal(test, texts, parts)

    def judges_hops(self, pending: PendingRequest) -> bool:
        """Tell whether the agent is to ask before it follows a redirect of this request."""
        if self.service is None and not self.tests and not self.runs:
            return False
        asks = STRICT in pending.agent.features
        return asks and bool(self._in_force(self._belongs_to(pending)))

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

    def _belongs_to(self, pending: Owned) -> RegisteredTest | None:
        if pending.made_for is not None:
            return pending.made_for if isinstance(pending.made_for, RegisteredTest) else None
        if pending.test is not None:
            return pending.test
        alone = [test for test in self.registry.tests.values() if not test.shared][:2]
        return alone[0] if len(alone) == 1 and alone[0].context is None else None

    def _in_force(self, test: RegisteredTest | None) -> list[AllowList]:
        """List what allows requests of ``test``; nothing at all when they are not refused."""
        of_service = [] if self.service is None else [self.service]
        if test is None:
            return [*of_service, *self.runs.values()]
        if test.id in self.tests:
            return [self.tests[test.id], *of_service]
        return of_service


def _serves(owner: RegisteredTest, test: RegisteredTest | None) -> bool:
    return test is None or owner is test or (owner.shared and owner.worker is test.worker)
