"""How a command ends: the exit statuses, and the errors that carry them."""

from trafficmock.errors import LocalError

OK = 0
NOTHING = 1
USAGE = 2
UNREACHABLE = 3
REFUSED = 4
INTERRUPTED = 130
PIPE_CLOSED = 141

MEANINGS = {
    OK: "done",
    NOTHING: "nothing found: an empty list, an unknown id, no HAR to be had",
    USAGE: "said wrongly: an unknown option, a value that cannot be",
    UNREACHABLE: "no proxy answers there",
    REFUSED: "the proxy refused, or could not do it",
    INTERRUPTED: "ended by Ctrl-C",
    PIPE_CLOSED: "whoever read the output went away",
}
"""What each exit status says; the documentation lists the same."""


class CommandError(LocalError):
    """A command cannot do what it was asked.

    :param status: the exit status, one of those of this module.
    """

    def __init__(self, message: str, *, status: int) -> None:
        super().__init__(message)
        self.status = status
