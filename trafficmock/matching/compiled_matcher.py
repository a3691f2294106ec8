"""One route's matcher: URL, method and client, judged together."""

import functools
from collections.abc import Sequence

import attrs

from trafficmock.matching.patterns.glob import Glob, compile_glob
from trafficmock.matching.patterns.glob_resolution import needs_base
from trafficmock.matching.patterns.glob_tokens import GlobError
from trafficmock.matching.patterns.js_regex_syntax import UnsupportedRegexError
from trafficmock.matching.patterns.linear_regex import LinearPattern
from trafficmock.matching.patterns.match_cost import JudgedUrl, MatchBudget
from trafficmock.matching.patterns.match_result import MatchResult
from trafficmock.matching.patterns.regex import Regex, compile_regex, flags_are_impossible
from trafficmock.matching.patterns.url_literals import Literals

#: How many conditions are remembered, and how long their texts may be, in characters.
MAX_CACHED = 4096
MAX_CACHED_LENGTH = 512


@attrs.frozen(eq=False)
class UrlCondition:
    """What a route asks of the URL; routes that ask the same share one object.

    :param glob: must match, if given.
    :param regex: must match, if given.
    :param open_question: there is a condition besides that only the worker can judge.
    :param impossible: nothing can match.
    """

    glob: Glob | None = None
    regex: Regex | None = None
    open_question: bool = False
    impossible: bool = False

    @property
    def literals(self) -> Literals:
        """What a URL must contain; without it the result is ``NO``."""
        parts = [part.literals for part in (self.glob, self.regex) if part is not None]
        return parts[0] if parts else Literals()

    @property
    def patterns(self) -> list[LinearPattern]:
        """The patterns that may have been compiled for it."""
        found = [part.pattern for part in (self.glob, self.regex) if part is not None]
        return [pattern for pattern in found if pattern is not None]

    def judge(self, subject: JudgedUrl, budget: MatchBudget) -> MatchResult:
        """Judge a URL.

        :param subject: a whole URL.
        :param budget: what that may cost.
        """
        if self.impossible:
            return MatchResult.NO
        by_glob = MatchResult.YES if self.glob is None else self.glob.judge(subject, budget)
        if by_glob is MatchResult.NO:
            return MatchResult.NO
        result = MatchResult.YES if self.regex is None else self.regex.judge(subject, budget)
        if result is MatchResult.YES and (self.open_question or by_glob is MatchResult.UNDECIDABLE):
            return MatchResult.UNDECIDABLE
        return result


@attrs.frozen(eq=False)
class RouteMatcher:
    """The serialised matcher of one route, ready to be judged.

    :param condition: what the route asks of the URL.
    :param methods: upper-case methods; empty means any.
    :param client_ids: empty means any.
    """

    condition: UrlCondition
    methods: frozenset[str] = frozenset()
    client_ids: frozenset[str] = frozenset()

    def judge(
        self, url: str, method: str, client_id: str, budget: MatchBudget | None = None
    ) -> MatchResult:
        """Judge a request.

        :param url: its whole URL.
        :param method: its method, in any case; ``GET`` for a WebSocket.
        :param client_id: the agent that it comes from.
        :param budget: what judging its URL may cost; ``None`` for any number of steps.
        """
        if self.client_ids and client_id not in self.client_ids:
            return MatchResult.NO
        if self.methods and method.upper() not in self.methods:
            return MatchResult.NO
        return self.condition.judge(JudgedUrl(url), budget or MatchBudget(steps=0))


def compile_matcher(
    *,
    url_glob: str | None = None,
    url_regex: tuple[str, str] | None = None,
    methods: Sequence[str] = (),
    client_ids: Sequence[str] = (),
    predicate: bool = False,
) -> RouteMatcher:
    """Prepare the matcher of one route as it came over the wire; all parts must hold.

    Nothing is refused: what cannot be judged here is judged ``UNDECIDABLE``.

    :param url_glob: a glob; one that needs a base URL cannot be judged here.
    :param url_regex: source and flags of a JavaScript regular expression.
    :param methods: request methods in any case; empty means any.
    :param client_ids: agents; empty means any.
    :param predicate: the worker has a function that has the last word.
    """
    length = len(url_glob or "") + sum(map(len, url_regex or ()))
    # Long texts are rarely registered twice, and would make the cache a heap of them.
    condition = _condition if length <= MAX_CACHED_LENGTH else _condition.__wrapped__
    return RouteMatcher(
        condition(url_glob, url_regex, predicate),
        frozenset(method.upper() for method in methods),
        frozenset(client_ids),
    )


@functools.lru_cache(maxsize=MAX_CACHED)
def _condition(
    url_glob: str | None,
    url_regex: tuple[str, str] | None,
    predicate: bool,  # noqa: FBT001 - lru_cache compares keywords by order
) -> UrlCondition:
    glob, glob_open = (None, False) if url_glob is None else _read_glob(url_glob)
    regex, regex_open = (None, False) if url_regex is None else _read_regex(*url_regex)
    if url_regex is not None and flags_are_impossible(url_regex[1]):
        return IMPOSSIBLE
    open_question = predicate or glob_open or regex_open
    if glob is None and regex is None:
        return OPEN if open_question else ALWAYS
    return UrlCondition(glob, regex, open_question)


#: Conditions without a part that can be judged; shared, so that the index keeps one of each.
IMPOSSIBLE = UrlCondition(impossible=True)
ALWAYS = UrlCondition()
OPEN = UrlCondition(open_question=True)


def _read_glob(url_glob: str) -> tuple[Glob | None, bool]:
    """Return the glob if it can be judged; else true, for an open question."""
    if needs_base(url_glob) or not _is_well_formed(url_glob):
        return None, True
    try:
        return compile_glob(url_glob), False
    except GlobError:
        return None, True


def _read_regex(source: str, flags: str) -> tuple[Regex | None, bool]:
    """Return the regular expression if it can be judged; else true, for an open question."""
    try:
        return compile_regex(source, flags), False
    except UnsupportedRegexError:
        return None, True


def _is_well_formed(text: str) -> bool:
    """Tell whether the text has no lone surrogates, which could match half a character."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
