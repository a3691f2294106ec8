"""The exit statuses of commands, and the errors that have them."""

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
"""The meaning of each exit status; a test compares it with the documentation."""


class CommandError(LocalError):
    """A command failed; the text says why.

    :param status: the exit status, one of those of this module.
    """

    def __init__(self, message: str, *, status: int) -> None:
        super().__init__(message)
        self.status = status
