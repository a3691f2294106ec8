"""The three answers that a route can give about a request."""

import enum


class MatchResult(enum.Enum):
    """What the coordinator knows about a route and a request without asking the test.

    A wrong ``NO`` would silently send a request to the real network and a wrong
    ``YES`` would give a test traffic that it does not want, so whatever is not
    certain is ``UNDECIDABLE`` and only the test's own worker can tell.
    """

    YES = enum.auto()
    NO = enum.auto()
    UNDECIDABLE = enum.auto()
