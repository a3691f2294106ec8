"""The limit of open files follows the number of connections."""

import resource

from twisted.internet.selectreactor import SelectReactor
from twisted.internet.task import Clock
from twisted.logger import capturedLogs
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.server.process.open_files import OTHERS, SELECT_FILES, limit_connections


class LimitTests(SynchronousTestCase):
    """Only the soft limit is moved, and only up."""

    def setUp(self) -> None:
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        self.hard = hard
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))

    def assert_soft(self, expected: int) -> None:
        self.assertEqual(resource.getrlimit(resource.RLIMIT_NOFILE), (expected, self.hard))

    def test_raised(self) -> None:
        """There is room for the connections and some other files."""
        self.assertEqual(limit_connections(300, Clock()), 300)
        self.assert_soft(364)

    def test_enough(self) -> None:
        """A limit that is high enough stays."""
        self.assertEqual(limit_connections(100, Clock()), 100)
        self.assert_soft(256)

    def test_select(self) -> None:
        """The reactor of ``select`` holds as many as it has room for, with a warning."""
        reactor = SelectReactor.__new__(SelectReactor)
        most = SELECT_FILES - OTHERS
        with capturedLogs() as logged:
            self.assertEqual(limit_connections(most, reactor), most)
            self.assertEqual(logged, [])
            self.assertEqual(limit_connections(most + 1, reactor), most)
            self.assertIn("TRAFFICMOCK_REACTOR", str(logged[0]["log_format"]))
            self.assertEqual(limit_connections(0, reactor), most)
            self.assertEqual(len(logged), 1)
        self.assert_soft(SELECT_FILES)
