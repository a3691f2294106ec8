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
    NOTHING: "nothing found: an empty list, an unknown id, or no HAR; with --fail something found; "
    "of doctor requests without a context; "
    "of har check entries that were not used",
    USAGE: "wrong usage: an unknown option or an invalid value",
    UNREACHABLE: "no proxy answers at the address",
    REFUSED: "the proxy answered with an error, or the output cannot be written",
    INTERRUPTED: "ended by Ctrl-C",
    PIPE_CLOSED: "the reader of the output closed the pipe",
}
"""The meaning of each exit status; the documentation's table is made from it."""


class CommandError(LocalError):
    """A command failed; the text says why.

    :param status: the exit status, one of those of this module.
    """

    def __init__(self, message: str, *, status: int) -> None:
        super().__init__(message)
        self.status = status
