"""The facts that the npm packages and the preload share with the Python package."""

from twisted.trial.unittest import SynchronousTestCase

from tools import facts


class FactsTests(SynchronousTestCase):
    """Written from the one place where each of them is."""

    def test_up_to_date(self) -> None:
        """The files are as the source is; ``python -m tools.facts`` writes them anew."""
        for file, text in (
            (facts.FILE, facts.written()),
            (facts.PRELOAD, facts.written_for_preload()),
        ):
            self.assertEqual(file.read_text(encoding="utf-8"), text)
