"""Log lines with words of clients in them: escaped, of bounded length, of bounded number."""

from attrs import define

from trafficmock.redaction import printable

MOST_CHARACTERS = 2000
"""Of a line. Clients choose the names in it, and log files are for people."""

MOST_LINES = 200
"""Written of what clients cause, in each :data:`PERIOD_SECONDS`: a flood must not fill a disk."""

PERIOD_SECONDS = 10.0


@define
class LogRateLimit:
    """Limits how many log lines are written in a period."""

    _ends: float = float("-inf")
    _written: int = 0
    _left_out: int = 0

    def take(self, now: float) -> bool:
        """Tell whether one more line may be written.

        :param now: seconds.
        """
        if now >= self._ends:
            self._ends, self._written = now + PERIOD_SECONDS, 0
        if self._written >= MOST_LINES:
            self._left_out += 1
            return False
        self._written += 1
        return True

    def left_out(self, now: float) -> int:
        """Tell how many lines a period that is over left out, once."""
        if now < self._ends or not self._left_out:
            return 0
        left_out, self._left_out = self._left_out, 0
        return left_out


def one_line(text: str) -> str:
    """Make one printable line of a text with words of clients in it.

    :param text: of any length and with any characters, lone surrogates included.
    :returns: at most :data:`MOST_CHARACTERS` of it, line breaks and other controls escaped.
    """
    if len(text) > MOST_CHARACTERS:
        text = f"{text[: MOST_CHARACTERS - 1]}…"
    return printable(text)
