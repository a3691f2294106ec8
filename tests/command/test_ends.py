"""Exit statuses."""

from __future__ import annotations

from twisted.trial.unittest import SynchronousTestCase

from trafficmock.command import ends
from trafficmock.errors import LocalError


class EndTests(SynchronousTestCase):
    """How commands end."""

    def test_all_have_a_meaning(self) -> None:
        """Each status is another number, with its meaning."""
        statuses = [
            value for name, value in vars(ends).items() if name.isupper() and name != "MEANINGS"
        ]
        self.assertEqual(sorted(statuses), sorted(ends.MEANINGS))
        self.assertEqual(len(set(ends.MEANINGS.values())), len(statuses))

    def test_error(self) -> None:
        """An error of ours carries the status."""
        error = ends.CommandError("no", status=ends.NOTHING)
        self.assertIsInstance(error, LocalError)
        self.assertEqual((str(error), error.status), ("no", 1))
