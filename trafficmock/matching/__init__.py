"""Which routes want a request: globs, regular expressions, method and client filters.

Six nouns and who calls whom:

* a **glob** (:mod:`trafficmock.matching.glob`) is resolved like a URL
  (:mod:`~trafficmock.matching.resolve`), read (:mod:`~trafficmock.matching.tokens`)
  and turned into a pattern that takes linear time
  (:mod:`~trafficmock.matching.linear`);
* a **regex** (:mod:`trafficmock.matching.regex`) is JavaScript's, as far as it means
  the same here (:mod:`~trafficmock.matching.js_syntax`);
* a **matcher** (:mod:`trafficmock.matching.matcher`) is what one route asks of a request;
* its **literals** (:mod:`trafficmock.matching.literals`) are what the URL must contain;
* the **index** (:mod:`trafficmock.matching.index`) asks all routes at once, and by the
  literals only the **candidates** (:mod:`trafficmock.matching.candidates`) among them;
* the **work** (:mod:`trafficmock.matching.work`) bounds what that costs.

Every answer is a :class:`Verdict`: yes, no, or undecidable; never a guess.
"""

from trafficmock.matching.glob import Glob, compile_glob
from trafficmock.matching.index import Judgement, RouteIndex
from trafficmock.matching.matcher import RouteMatcher, compile_matcher
from trafficmock.matching.tokens import GlobError
from trafficmock.matching.verdict import Verdict
from trafficmock.matching.work import Engines, Work

__all__ = [
    "Engines",
    "Glob",
    "GlobError",
    "Judgement",
    "RouteIndex",
    "RouteMatcher",
    "Verdict",
    "Work",
    "compile_glob",
    "compile_matcher",
]
