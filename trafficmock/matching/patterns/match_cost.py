"""Bounds of pattern matching: memory of all compiled patterns, and steps for each request.

Each pattern has a bound (:mod:`trafficmock.matching.patterns.linear_regex`), but a test
may register any number of them. Therefore the compiled patterns share a sum of bytes, and each
request has a number of steps; a pattern for which too few steps are left is undecidable, and the
worker decides.
"""

from __future__ import annotations

import functools
from typing import Any

import attrs
from msgspec import Struct

from trafficmock.matching.patterns.linear_regex import LinearPattern, as_subject
from trafficmock.matching.patterns.match_result import NO, UNDECIDABLE, YES, MatchResult
from trafficmock.matching.patterns.unix_sockets import is_unix_socket

MEMORY_BYTES = 64 * 2**20
STEPS = 10_000_000
"""The number of steps for a request. A step is one instruction of a pattern for one byte of
the subject; it takes 10 ns at worst."""

COMPILING_STEPS = 40
"""The steps for the compilation of one instruction."""


@attrs.define(eq=False)
class PatternCache:
    """A cache of compiled patterns; the least recently used one is dropped.

    :param limit: bytes of all patterns together; 0 for any number. A pattern that needs
        more is compiled for each request.
    """

    limit: int = MEMORY_BYTES
    used: int = attrs.field(default=0, init=False)
    _kept: dict[LinearPattern, tuple[Any, int]] = attrs.field(factory=dict, init=False)

    def __contains__(self, pattern: LinearPattern) -> bool:
        return pattern in self._kept

    def get(self, pattern: LinearPattern) -> Any:
        """Return the compiled pattern, from the cache or compiled now."""
        kept = self._kept.pop(pattern, None)
        if kept is None:
            engine = pattern.compile()
            kept = engine, pattern.memory
            self.used += pattern.memory
        # The order of the dict is that of the last use.
        self._kept[pattern] = kept
        while self.limit and self.used > self.limit:
            self.forget(next(iter(self._kept)))
        return kept[0]

    def forget(self, pattern: LinearPattern) -> None:
        """Drop a pattern that no route has any more."""
        _, memory = self._kept.pop(pattern, (None, 0))
        self.used -= memory


class JudgedUrl(Struct, eq=False, dict=True):
    """A URL with properties that patterns need, each computed once for all patterns.

    :param url: a whole URL.
    """

    url: str

    __repr__ = object.__repr__

    @functools.cached_property
    def data(self) -> bytes:
        """The URL in bytes, see :func:`.as_subject`."""
        return as_subject(self.url)

    @functools.cached_property
    def is_unix_socket(self) -> bool:
        """Whether only patterns that begin with the scheme of UNIX sockets match the URL."""
        return is_unix_socket(self.url)

    @functools.cached_property
    def plain(self) -> bool:
        """Whether the URL is printable ASCII."""
        return self.url.isascii() and self.url.isprintable()


@attrs.define(eq=False)
class MatchBudget:
    """The budget of one request.

    :param pattern_cache: the cache of all requests.
    :param steps: the steps that are left; infinite for any number.
    """

    pattern_cache: PatternCache = attrs.Factory(PatternCache)
    steps: float = STEPS

    def search(self, pattern: LinearPattern, subject: JudgedUrl) -> MatchResult:
        """Search a URL for a pattern; ``UNDECIDABLE`` if that takes too many steps."""
        if not self._take(pattern, subject):
            return UNDECIDABLE
        return _match_result(self.pattern_cache.get(pattern).search(subject.data))

    def fullmatch(self, pattern: LinearPattern, subject: JudgedUrl) -> MatchResult:
        """Compare a whole URL with a pattern; see :meth:`search`."""
        if not self._take(pattern, subject):
            return UNDECIDABLE
        return _match_result(self.pattern_cache.get(pattern).fullmatch(subject.data))

    def _take(self, pattern: LinearPattern, subject: JudgedUrl) -> bool:
        steps = pattern.size * (len(subject.data) + 1)
        if pattern not in self.pattern_cache:
            steps += pattern.size * COMPILING_STEPS
        if steps > self.steps:
            return False
        self.steps -= steps
        return True


def _match_result(found: object) -> MatchResult:
    return NO if found is None else YES
