"""Finds the routes that match a request: globs, regular expressions, methods and client ids.

* A **pattern** (:mod:`trafficmock.matching.patterns`) is a glob or a regular expression for URLs.
* A **matcher** (:mod:`trafficmock.matching.compiled_matcher`) is the compiled matcher of one route:
  a **condition** on the URL, methods and client ids.
* The **index** (:mod:`trafficmock.matching.route_index`) compares a request with all routes. It
  tries only the **candidates** (:mod:`trafficmock.matching.candidates`): the conditions whose
  literal texts are in the URL.

A route may also have conditions on more than the URL
(:mod:`~trafficmock.matching.request_conditions`), which are compared with
:mod:`~trafficmock.matching.request_content`; those on GraphQL with the operations that
:mod:`~trafficmock.matching.graphql_request` finds. The index has such routes in
:mod:`~trafficmock.matching.conditioned_routes`, by the values that a request must have
(:mod:`~trafficmock.matching.literal_index`).

For the filter of agents, :mod:`~trafficmock.matching.necessary_texts` lists the texts
that a URL must have to match. :mod:`~trafficmock.matching.starred_text` compares text with a
pattern that has only stars.

:mod:`~trafficmock.matching.host_pattern` has the patterns of hosts that options take, and
:mod:`~trafficmock.matching.origin_pattern` those of origins;
:mod:`~trafficmock.matching.allow_list` parses the allow list of strict mode. To describe the
differences of a request from a route, :mod:`~trafficmock.matching.url_parts` splits the
URL, and :mod:`~trafficmock.matching.glob_difference` compares the parts with a glob.

Every result is a :class:`MatchResult`: yes, no, or undecidable, where only the worker of the test
can decide.
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
