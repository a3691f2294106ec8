"""What services do at their start; the processes' side stands in tests/test_cli.py."""

import sys
from io import StringIO
from typing import Any, cast

from twisted.internet.endpoints import TCP6ServerEndpoint
from twisted.internet.testing import MemoryReactorClock
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.dashboard.options import Options
from trafficmock.starting import chosen_observer, complain, complainer, listening_endpoint


class StartingTests(SynchronousTestCase):
    """From options to what they mean."""

    def options(self, *words: str) -> Options:
        options = Options()
        options.parseOptions(list(words))
        return options

    def test_endpoint(self) -> None:
        """Host and port make an endpoint, also of IPv6; one that cannot be read ends the start."""
        reactor = MemoryReactorClock()
        found = listening_endpoint(self.options("--host", "::1"), reactor)
        self.assertIsInstance(found, TCP6ServerEndpoint)
        said = StringIO()
        self.patch(sys, "__stderr__", said)
        bad = self.options("--endpoint", "pigeon:1")
        self.assertEqual(self.assertRaises(SystemExit, listening_endpoint, bad, reactor).code, 1)
        self.assertIn("--endpoint 'pigeon:1' cannot be used", said.getvalue())

    def test_complainer(self) -> None:
        """In the foreground complaints go to the terminal, of a daemon to the log."""
        options = self.options()
        self.assertIs(complainer(options), complain)
        options.parent = cast("Any", {"nodaemon": False})
        self.assertIsNot(complainer(options), complain)

    def test_observer(self) -> None:
        """Without a log file of ours twistd's own logging stays."""
        options = self.options()
        self.assertIsNone(chosen_observer(options))
        options["logfile"] = "-"
        self.assertIsNotNone(chosen_observer(options))
