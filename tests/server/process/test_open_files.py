"""The limit of open files follows the number of connections."""

import resource

from twisted.trial.unittest import SynchronousTestCase

from trafficmock.server.process.open_files import make_room


class MakeRoomTests(SynchronousTestCase):
    """Only the soft limit is moved, and only up."""

    def setUp(self) -> None:
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        self.hard = hard
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))

    def test_raised(self) -> None:
        """There is room for the connections and some other files."""
        self.assertEqual(make_room(300), 364)
        self.assertEqual(resource.getrlimit(resource.RLIMIT_NOFILE), (364, self.hard))

    def test_enough(self) -> None:
        """A limit that is high enough stays."""
        self.assertEqual(make_room(100), 256)
