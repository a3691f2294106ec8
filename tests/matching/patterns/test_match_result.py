"""Requirements on :mod:`trafficmock.matching.patterns.match_result`."""

from twisted.trial.unittest import SynchronousTestCase

from trafficmock.matching.patterns.match_result import MatchResult


class MatchResultTests(SynchronousTestCase):
    """Results are three-valued."""

    def test_three_answers(self) -> None:
        """Undecidable is an answer of its own, neither yes nor no."""
        self.assertEqual({v.name for v in MatchResult}, {"YES", "NO", "UNDECIDABLE"})
        self.assertEqual(len({v.value for v in MatchResult}), 3)
