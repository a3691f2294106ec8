"""Bad input and attacks: what must be answered, and that nobody else is harmed.

- ``case``: a test case against the running service, while ten well-behaved clients are served. A
  test is bytes that are sent and what must come of them, in a ``Case``, or what a few clients do.
- :mod:`~tests.hostile.exchanges`: ``Case``, its runner and the lists of cases.
- ``clients`` send the input.
- :mod:`~tests.hostile.leaving`: the ways to leave in a strict test, one by one.
- :mod:`~tests.hostile.strict`: attacks on strict mode by processes that end, stop and lose each
  other.
"""
