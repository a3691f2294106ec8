"""The error tree."""

from twisted.trial.unittest import SynchronousTestCase

from trafficmock.errors import LocalError, PeerError, TrafficMockError


class TreeTests(SynchronousTestCase):
    """Who is at fault decides the class."""

    def test_one_parent(self) -> None:
        """All errors can be caught as one, and the two kinds apart."""
        self.assertTrue(issubclass(LocalError, TrafficMockError))
        self.assertTrue(issubclass(PeerError, TrafficMockError))
        self.assertFalse(issubclass(PeerError, LocalError))

    def test_peer_error(self) -> None:
        """A peer's error carries its text and the code of the reply."""
        error = PeerError("say hello first", code="invalid_hello")
        self.assertEqual((str(error), error.code), ("say hello first", "invalid_hello"))
