"""How a URL is judged by one pattern: by a glob or by a regular expression of JavaScript.

* A **glob** (:mod:`~trafficmock.matching.patterns.glob`) is resolved like a URL
  (:mod:`~trafficmock.matching.patterns.glob_resolution`), read
  (:mod:`~trafficmock.matching.patterns.glob_tokens`) and compared by searching for its texts
  (:mod:`~trafficmock.matching.patterns.glob_shapes`), or by a pattern that takes linear time
  (:mod:`~trafficmock.matching.patterns.linear_regex`).
* A **regex** (:mod:`~trafficmock.matching.patterns.regex`) is JavaScript's, as far as it means
  the same here (:mod:`~trafficmock.matching.patterns.js_regex_syntax`).
* The **literals** of either (:mod:`~trafficmock.matching.patterns.url_literals`) are what the URL
  must contain.
* The **budget** (:mod:`~trafficmock.matching.patterns.match_cost`) bounds what judging costs.

Every answer is a :class:`~trafficmock.matching.patterns.match_result.MatchResult`.
"""
