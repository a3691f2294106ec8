"""What judging requests by patterns may cost: memory for all patterns, steps for each request.

Each pattern is bounded by itself (:mod:`trafficmock.matching.patterns.linear_regex`), and a test
may register any number of them. So the compiled ones share a sum of bytes, and one request may
cost a number of steps; patterns for which no steps are left are judged by their worker.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import attrs

from trafficmock.matching.patterns.linear_regex import as_subject
from trafficmock.matching.patterns.match_result import MatchResult

if TYPE_CHECKING:
    from trafficmock.matching.patterns.linear_regex import LinearPattern

MEMORY_BYTES = 64 * 2**20
STEPS = 10_000_000
"""A step is one instruction of a pattern over one byte of the subject, 10 ns at worst."""

COMPILING_STEPS = 40
"""What compiling one instruction costs."""


@attrs.define(eq=False)
class PatternCache:
    """Compiled patterns, those that were used last.

    :param limit: bytes that they may take together; 0 for any number. A pattern that needs
        more by itself is compiled each time.
    """

    limit: int = MEMORY_BYTES
    used: int = attrs.field(default=0, init=False)
    _kept: dict[LinearPattern, tuple[Any, int]] = attrs.field(factory=dict, init=False)

    def __contains__(self, pattern: LinearPattern) -> bool:
        return pattern in self._kept

    def get(self, pattern: LinearPattern) -> Any:
        """Give the engine of a pattern, compiled now if it is not kept."""
        kept = self._kept.pop(pattern, None)
        if kept is None:
            engine = pattern.compile()
            kept = engine, pattern.memory
            self.used += pattern.memory
        # The one used last stands at the end.
        self._kept[pattern] = kept
        while self.limit and self.used > self.limit:
            self.forget(next(iter(self._kept)))
        return kept[0]

    def forget(self, pattern: LinearPattern) -> None:
        """Let go of a pattern that no route has any more."""
        _, memory = self._kept.pop(pattern, (None, 0))
        self.used -= memory


class JudgedUrl:
    """A URL as patterns look at it; each look at all of a long URL happens once.

    :param url: a whole URL.
    :ivar printable: whether it has no line breaks and other controls.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self.printable = url.isprintable()

    @functools.cached_property
    def data(self) -> bytes:
        """The bytes that patterns are compared with."""
        return as_subject(self.url)

    @functools.cached_property
    def plain(self) -> bool:
        """Whether it is printable ASCII."""
        return self.printable and self.url.isascii()


@attrs.define(eq=False)
class MatchBudget:
    """The budget for one request.

    :param pattern_cache: shared with all other requests.
    :param steps: that are left for it; 0 from the beginning for any number.
    """

    pattern_cache: PatternCache = attrs.Factory(PatternCache)
    steps: int = STEPS
    _bounded: bool = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._bounded = self.steps > 0

    def search(self, pattern: LinearPattern, subject: JudgedUrl) -> MatchResult:
        """Tell whether a pattern matches anywhere; undecidable when that takes too many steps."""
        if not self._take(pattern, subject):
            return MatchResult.UNDECIDABLE
        return _match_result(self.pattern_cache.get(pattern).search(subject.data))

    def fullmatch(self, pattern: LinearPattern, subject: JudgedUrl) -> MatchResult:
        """Tell whether a pattern matches all of the subject; see :meth:`search`."""
        if not self._take(pattern, subject):
            return MatchResult.UNDECIDABLE
        return _match_result(self.pattern_cache.get(pattern).fullmatch(subject.data))

    def _take(self, pattern: LinearPattern, subject: JudgedUrl) -> bool:
        if not self._bounded:
            return True
        steps = pattern.size * (len(subject.data) + 1)
        if pattern not in self.pattern_cache:
            steps += pattern.size * COMPILING_STEPS
        if steps > self.steps:
            return False
        self.steps -= steps
        return True


def _match_result(found: object) -> MatchResult:
    return MatchResult.NO if found is None else MatchResult.YES
