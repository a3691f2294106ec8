"""The three results of the comparison of a request with a route."""

import enum


class MatchResult(enum.Enum):
    """Whether a request matches a route, as far as the coordinator can decide.

    A wrong ``NO`` would send a request to the real network, and a wrong ``YES`` would give a test
    requests that its route does not match. An uncertain result is therefore ``UNDECIDABLE``: the
    test's worker decides.
    """

    YES = enum.auto()
    NO = enum.auto()
    UNDECIDABLE = enum.auto()


YES, NO, UNDECIDABLE = MatchResult.YES, MatchResult.NO, MatchResult.UNDECIDABLE
"""The same: a look-up in the enumeration costs as much as a comparison with a glob."""
