"""Records of the core."""

from twisted.trial.unittest import SynchronousTestCase

from trafficmock.records import TestBegan


class ReprTests(SynchronousTestCase):
    """What a record shows in logs and errors."""

    def test_no_context(self) -> None:
        """The context of a test is never shown: who knows it can act as the test."""
        shown = repr(TestBegan("t1", "pays", "f.py", "0af7651916cd43dd8448eb211c80319c"))
        self.assertEqual(shown, "TestBegan('t1', 'pays', 'f.py')")
