"""How a history is made."""

from twisted.trial.unittest import SynchronousTestCase

from trafficmock.history.store import DEFAULT_BYTES, History


class DefaultsTests(SynchronousTestCase):
    """What holds unless options say otherwise."""

    def test_defaults(self) -> None:
        """Unasked, all is captured: 1000 requests, 200 WebSockets, 128 MiB."""
        history = History()
        self.assertEqual(history.capture, "all")
        self.assertEqual((history.requests.limit, history.sockets.limit), (1000, 200))
        self.assertEqual(history.requests.budget.limit, 128 * 2**20)
        self.assertEqual(DEFAULT_BYTES, 128 * 2**20)

    def test_one_budget(self) -> None:
        """Requests and WebSockets share one budget."""
        history = History(byte_limit=7)
        self.assertIs(history.requests.budget, history.sockets.budget)
        self.assertEqual(history.requests.budget.limit, 7)
