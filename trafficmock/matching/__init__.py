"""Which routes want a request: globs, regular expressions, method and client filters.

Six nouns and who calls whom:

* a **glob** (:mod:`trafficmock.matching.glob`) is resolved like a URL
  (:mod:`~trafficmock.matching.glob_resolution`), read (:mod:`~trafficmock.matching.glob_tokens`)
  and turned into a pattern that takes linear time
  (:mod:`~trafficmock.matching.linear_regex`);
* a **regex** (:mod:`trafficmock.matching.regex`) is JavaScript's, as far as it means
  the same here (:mod:`~trafficmock.matching.js_regex_syntax`);
* a **matcher** (:mod:`trafficmock.matching.compiled_matcher`) is what one route asks of a request;
* its **literals** (:mod:`trafficmock.matching.url_literals`) are what the URL must contain;
* the **index** (:mod:`trafficmock.matching.route_index`) asks all routes at once, and by the
  literals only the **candidates** (:mod:`trafficmock.matching.candidates`) among them;
* the **budget** (:mod:`trafficmock.matching.match_cost`) bounds what that costs.

Strict mode reads what it allows by :mod:`~trafficmock.matching.allow_list`. To say in what a
refused request differs from a route, :mod:`~trafficmock.matching.url_parts` takes its URL apart,
and :mod:`~trafficmock.matching.glob_difference` compares the parts with a glob.

Every answer is a :class:`MatchResult`: yes, no, or undecidable; never a guess.
"""

from trafficmock.matching.compiled_matcher import RouteMatcher, compile_matcher
from trafficmock.matching.glob import Glob, compile_glob
from trafficmock.matching.glob_tokens import GlobError
from trafficmock.matching.match_cost import MatchBudget, PatternCache
from trafficmock.matching.match_result import MatchResult
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
