"""Room for connections."""

import resource

from twisted.logger import capturedLogs
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.open_files import make_room


class RoomTests(SynchronousTestCase):
    """The soft limit of open files follows what the options allow."""

    def limits(self, soft: int, hard: int) -> None:
        """Pretend that these limits hold."""
        self.now = (soft, hard)
        self.patch(resource, "getrlimit", lambda _: self.now)
        self.patch(resource, "setrlimit", self.set_limits)

    def set_limits(self, _: int, limits: tuple[int, int]) -> None:
        self.now = limits

    def test_raised(self) -> None:
        """A low soft limit is raised as far as needed, and no further."""
        self.limits(1024, 524288)
        reached = make_room(2000)
        self.assertEqual(self.now, (reached, 524288))
        self.assertTrue(2000 < reached < 2100, reached)

    def test_enough(self) -> None:
        """A limit that suffices is left alone."""
        self.limits(4096, 8192)
        self.assertEqual(make_room(2000), 4096)
        self.assertEqual(self.now, (4096, 8192))

    def test_too_few(self) -> None:
        """What the hard limit does not allow is logged, with what to do."""
        self.limits(256, 512)
        with capturedLogs() as logged:
            self.assertEqual(make_room(2000), 512)
        self.assertIn("--max-connections", logged[0]["log_format"])

    def test_no_bound(self) -> None:
        """Without a bound on connections there is as much room as the system gives."""
        self.limits(256, 512)
        self.assertEqual(make_room(0), 512)

    def test_infinite(self) -> None:
        """A hard limit of infinity is no obstacle."""
        self.limits(256, resource.RLIM_INFINITY)
        self.assertGreater(make_room(2000), 2000)
