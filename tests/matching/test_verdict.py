"""Requirements on :mod:`trafficmock.matching.verdict`."""

from twisted.trial.unittest import SynchronousTestCase

from trafficmock.matching.verdict import Verdict


class VerdictTests(SynchronousTestCase):
    """Verdicts are three-valued."""

    def test_three_answers(self) -> None:
        """Undecidable is an answer of its own, neither yes nor no."""
        self.assertEqual({v.name for v in Verdict}, {"YES", "NO", "UNDECIDABLE"})
        self.assertEqual(len({v.value for v in Verdict}), 3)
