"""Log lines that quote clients: control characters escaped, length and number of lines bounded."""

from attrs import define

from trafficmock.texts.message_text import printable

MOST_CHARACTERS = 2000
"""The longest log line that quotes a client, since clients choose the names in it."""

MOST_LINES = 200
"""The most lines that clients cause in :data:`PERIOD_SECONDS`, so that no client fills the disk."""

PERIOD_SECONDS = 10.0


@define
class LogRateLimit:
    """Limits the number of log lines in a period of :data:`PERIOD_SECONDS`."""

    _ends: float = float("-inf")
    _written: int = 0
    _left_out: int = 0

    def take(self, now: float) -> bool:
        """Return whether one more line may be written, and count it.

        :param now: monotonic time in seconds.
        """
        if now >= self._ends:
            self._ends, self._written = now + PERIOD_SECONDS, 0
        if self._written >= MOST_LINES:
            self._left_out += 1
            return False
        self._written += 1
        return True

    def left_out(self, now: float) -> int:
        """Return the number of lines that a past period left out; 0 from the second call on.

        :param now: monotonic time in seconds.
        """
        if now < self._ends or not self._left_out:
            return 0
        left_out, self._left_out = self._left_out, 0
        return left_out


def one_line(text: str) -> str:
    """Make one printable line of a text that quotes a client.

    :param text: of any length and with any characters, also lone surrogates.
    :returns: the first :data:`MOST_CHARACTERS` characters, line breaks and other control
        characters escaped.
    """
    if len(text) > MOST_CHARACTERS:
        text = f"{text[: MOST_CHARACTERS - 1]}…"
    return printable(text)
