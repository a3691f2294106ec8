"""The compiled matcher of one route: a condition on the URL, methods and client ids."""

import functools
from collections.abc import Sequence
from math import inf

import attrs

from trafficmock.matching.patterns.glob import Glob, compile_glob
from trafficmock.matching.patterns.glob_resolution import needs_base
from trafficmock.matching.patterns.glob_tokens import GlobError
from trafficmock.matching.patterns.js_regex_syntax import UnsupportedRegexError
from trafficmock.matching.patterns.linear_regex import LinearPattern
from trafficmock.matching.patterns.match_cost import JudgedUrl, MatchBudget
from trafficmock.matching.patterns.match_result import NO, UNDECIDABLE, YES, MatchResult
from trafficmock.matching.patterns.regex import Regex, compile_regex, flags_are_impossible
from trafficmock.matching.patterns.unix_sockets import is_unix_socket
from trafficmock.matching.patterns.url_literals import Literals
from trafficmock.matching.request_conditions import RequestCondition, RequestConditions

#: The most cached conditions, and the most characters of a cached one.
MAX_CACHED = 4096
MAX_CACHED_LENGTH = 512


@attrs.frozen(eq=False)
class UrlCondition:
    """The condition of a route on the URL; routes with equal conditions share one object.

    :param glob: must match, if given.
    :param regex: must match, if given.
    :param open_question: the route has a further condition that only the worker can evaluate.
    :param impossible: no URL matches.
    """

    glob: Glob | None = None
    regex: Regex | None = None
    open_question: bool = False
    impossible: bool = False

    @property
    def literals(self) -> Literals:
        """The texts that a matching URL contains; for any other URL the result is ``NO``."""
        parts = [part.literals for part in (self.glob, self.regex) if part is not None]
        return parts[0] if parts else Literals()

    @property
    def names_unix_sockets(self) -> bool:
        """Whether every URL that matches is of a request over a UNIX socket."""
        variants = self.literals.variants
        return bool(variants) and all(is_unix_socket(each.fixed[0]) for each in variants)

    @property
    def patterns(self) -> list[LinearPattern]:
        """The RE2 patterns of the glob and the regular expression, as far as they have one."""
        found = [part.pattern for part in (self.glob, self.regex) if part is not None]
        return [pattern for pattern in found if pattern is not None]

    def judge(self, subject: JudgedUrl, budget: MatchBudget) -> MatchResult:
        """Compare a URL with the condition.

        :param subject: a whole URL.
        :param budget: bounds the steps.
        """
        if self.impossible or (subject.is_unix_socket and not self.names_unix_sockets):
            return NO
        by_glob = YES if self.glob is None else self.glob.judge(subject, budget)
        if by_glob is NO:
            return NO
        result = YES if self.regex is None else self.regex.judge(subject, budget)
        if result is YES and (self.open_question or by_glob is UNDECIDABLE):
            return UNDECIDABLE
        return result


@attrs.frozen(eq=False)
class RouteMatcher:
    """The compiled matcher of one route.

    :param condition: the condition on the URL.
    :param methods: upper-case methods; empty for any.
    :param client_ids: client ids of agents; empty for any.
    :param beside: the conditions on more than the URL, if there are any; :meth:`judge` does not
        look at them.
    """

    condition: UrlCondition
    methods: frozenset[str] = frozenset()
    client_ids: frozenset[str] = frozenset()
    beside: RequestConditions | None = None

    def judge(
        self, url: str, method: str, client_id: str, budget: MatchBudget | None = None
    ) -> MatchResult:
        """Compare a request with the matcher.

        :param url: the whole URL.
        :param method: the method, in any case; ``GET`` for a WebSocket.
        :param client_id: the client id of the agent that sent the request.
        :param budget: bounds the steps; ``None`` for any number.
        """
        if self.client_ids and client_id not in self.client_ids:
            return NO
        if self.methods and method.upper() not in self.methods:
            return NO
        return self.condition.judge(JudgedUrl(url), budget or MatchBudget(steps=inf))


def compile_matcher(
    *,
    url_glob: str | None = None,
    url_regex: tuple[str, str] | None = None,
    methods: Sequence[str] = (),
    client_ids: Sequence[str] = (),
    predicate: bool = False,
    beside: Sequence[RequestCondition] = (),
) -> RouteMatcher:
    """Compile the matcher of a route; a request must satisfy all its parts.

    No value is refused: the result of a part that cannot be evaluated here is ``UNDECIDABLE``.

    :param url_glob: a glob; a relative one can only be evaluated by the worker, which has the
        base URL.
    :param url_regex: source and flags of a JavaScript regular expression.
    :param methods: request methods in any case; empty for any.
    :param client_ids: client ids of agents; empty for any.
    :param predicate: whether the route has a function, which only the worker can call.
    :param beside: the conditions on more than the URL.
    """
    length = len(url_glob or "") + sum(map(len, url_regex or ()))
    # Long texts are rarely registered twice, and the cache would keep them.
    condition = _condition if length <= MAX_CACHED_LENGTH else _condition.__wrapped__
    return RouteMatcher(
        condition(url_glob, url_regex, predicate),
        frozenset(method.upper() for method in methods),
        frozenset(client_ids),
        RequestConditions.of(beside) if beside else None,
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


#: Conditions without a glob and a regular expression; shared, so that the index has one of each.
IMPOSSIBLE = UrlCondition(impossible=True)
ALWAYS = UrlCondition()
OPEN = UrlCondition(open_question=True)


def _read_glob(url_glob: str) -> tuple[Glob | None, bool]:
    """Return the compiled glob, or ``None`` and true (an open question) if that is impossible."""
    if needs_base(url_glob) or not _is_well_formed(url_glob):
        return None, True
    try:
        return compile_glob(url_glob), False
    except GlobError:
        return None, True


def _read_regex(source: str, flags: str) -> tuple[Regex | None, bool]:
    """Return the compiled regular expression, or ``None`` and true as :func:`_read_glob` does."""
    try:
        return compile_regex(source, flags), False
    except UnsupportedRegexError:
        return None, True


def _is_well_formed(text: str) -> bool:
    """Return whether the text has no lone surrogate, which could match half a character."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
