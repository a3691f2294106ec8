"""The patterns for one URL: globs, and regular expressions of JavaScript.

* A **glob** (:mod:`~trafficmock.matching.patterns.glob`) is resolved like a URL
  (:mod:`~trafficmock.matching.patterns.glob_resolution`), parsed
  (:mod:`~trafficmock.matching.patterns.glob_tokens`), and matched by text search
  or by an RE2 pattern (:mod:`~trafficmock.matching.patterns.linear_regex`). As a test gives it
  (:mod:`~trafficmock.matching.patterns.given_glob`), it has a base URL and may be an error.
* A **regular expression** (:mod:`~trafficmock.matching.patterns.regex`) of JavaScript is translated
  to RE2 (:mod:`~trafficmock.matching.patterns.js_regex_syntax`), if both agree about its meaning.
* The **literals** of a pattern (:mod:`~trafficmock.matching.patterns.url_literals`) are the texts
  that a matching URL contains.
* The **calls of frameworks** (:mod:`~trafficmock.matching.patterns.framework_calls`) are known by
  their URLs.
* **UNIX sockets** (:mod:`~trafficmock.matching.patterns.unix_sockets`) have URLs of their own,
  which only a pattern matches that begins with their scheme.
* The **budget** (:mod:`~trafficmock.matching.patterns.match_cost`) bounds the time and memory of
  patterns.

Every result is a :class:`~trafficmock.matching.patterns.match_result.MatchResult`.
"""
