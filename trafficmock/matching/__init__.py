"""Which routes want a request: globs, regular expressions, method and client filters.

Four nouns and who calls whom:

* a **pattern** (:mod:`trafficmock.matching.patterns`) is a glob or a regular expression, by which
  one URL is judged;
* a **matcher** (:mod:`trafficmock.matching.compiled_matcher`) is what one route asks of a request;
* the **index** (:mod:`trafficmock.matching.route_index`) asks all routes at once, and by the
  literals of their patterns only the **candidates** (:mod:`trafficmock.matching.candidates`)
  among them.

For agents that decide by themselves, :mod:`~trafficmock.matching.necessary_texts` gives the texts
that a URL must have; a :mod:`~trafficmock.matching.starred_text` is one with stars in it.

Strict mode reads what it allows by :mod:`~trafficmock.matching.allow_list`. To say in what a
refused request differs from a route, :mod:`~trafficmock.matching.url_parts` takes its URL apart,
and :mod:`~trafficmock.matching.glob_difference` compares the parts with a glob.

Every answer is a :class:`MatchResult`: yes, no, or undecidable; never a guess.
"""

from trafficmock.matching.compiled_matcher import RouteMatcher, compile_matcher
from trafficmock.matching.patterns.glob import Glob, compile_glob
from trafficmock.matching.patterns.glob_tokens import GlobError
from trafficmock.matching.patterns.match_cost import MatchBudget, PatternCache
from trafficmock.matching.patterns.match_result import MatchResult
from trafficmock.matching.route_index import MatchingRoutes, RouteIndex

__all__ = [
    "Glob",
    "GlobError",
    "MatchBudget",
    "MatchResult",
    "MatchingRoutes",
    "PatternCache",
    "RouteIndex",
    "RouteMatcher",
    "compile_glob",
    "compile_matcher",
]
