"""Random ids."""

from twisted.trial.unittest import SynchronousTestCase

from trafficmock.telemetry.random_ids import RandomIds


class RandomIdTests(SynchronousTestCase):
    """Many ids of one call of the system."""

    def test_ids(self) -> None:
        """Each id has its own bytes, and few calls give many of them."""
        calls: list[int] = []

        def source(size: int) -> bytes:
            calls.append(size)
            return bytes(n % 251 for n in range(size))

        ids = RandomIds(source)
        self.assertEqual((ids(8), ids(4)), (bytes(range(8)), bytes(range(8, 12))))
        for _ in range(2000):
            self.assertEqual(len(ids(8)), 8)
        self.assertEqual(len(calls), 2)
