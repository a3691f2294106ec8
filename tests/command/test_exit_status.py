"""Exit statuses."""

from __future__ import annotations

from twisted.trial.unittest import SynchronousTestCase

from trafficmock.command import exit_status
from trafficmock.errors import LocalError


class EndTests(SynchronousTestCase):
    """How commands end."""

    def test_all_have_a_meaning(self) -> None:
        """Each status is another number, with its meaning."""
        statuses = [
            value
            for name, value in vars(exit_status).items()
            if name.isupper() and name != "MEANINGS"
        ]
        self.assertEqual(sorted(statuses), sorted(exit_status.MEANINGS))
        self.assertEqual(len(set(exit_status.MEANINGS.values())), len(statuses))

    def test_error(self) -> None:
        """Each error of a command carries the status."""
        error = exit_status.CommandError("no", status=exit_status.NOTHING)
        self.assertIsInstance(error, LocalError)
        self.assertEqual((str(error), error.status), ("no", 1))
