"""The facts that the npm packages share with the Python package."""

from twisted.trial.unittest import SynchronousTestCase

from tools import facts


class FactsTests(SynchronousTestCase):
    """Written from the one place where each of them is."""

    def test_up_to_date(self) -> None:
        """The file is as the source is; ``python -m tools.facts`` writes it anew."""
        self.assertEqual(facts.FILE.read_text(encoding="utf-8"), facts.written())
