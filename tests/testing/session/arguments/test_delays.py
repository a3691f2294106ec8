"""The argument ``delay``."""

from datetime import timedelta
from typing import Any

from msgspec import UNSET
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.testing.errors import UsageError
from trafficmock.testing.session.arguments.delays import read_delay


class DelayTests(SynchronousTestCase):
    """What the proxy gets, and what is refused."""

    def test_durations(self) -> None:
        """Milliseconds and durations are whole milliseconds, of which a part counts as one."""
        cases = ((2000, 2000), (0.25, 1), (timedelta(seconds=1.5), 1500))
        for given, expected in cases:
            self.assertEqual(read_delay(given), expected)

    def test_none(self) -> None:
        """Nothing and 0 are no delay."""
        for given in (None, 0, 0.0, timedelta()):
            self.assertIs(read_delay(given), UNSET)

    def test_refused(self) -> None:
        """What is no duration is refused, and so is one that is negative or without end."""
        wrong: tuple[Any, ...] = (-1, timedelta(seconds=-1), float("nan"), float("inf"), "1s", True)
        for given in wrong:
            error = self.assertRaises(UsageError, read_delay, given)
            self.assertIn(repr(given), str(error))
