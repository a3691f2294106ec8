"""What services do at their start; the processes' side stands in tests/test_cli.py."""

import sys
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any, cast

from twisted.internet.endpoints import TCP6ServerEndpoint
from twisted.internet.testing import MemoryReactorClock
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.dashboard.dashboard_options import DashboardOptions
from trafficmock.server.process.daemon import Foreground
from trafficmock.server.process.startup import chosen_observer, listening_endpoint, start_report


class StartingTests(SynchronousTestCase):
    """From options to what they mean."""

    def options(self, *words: str) -> DashboardOptions:
        options = DashboardOptions()
        options.parseOptions(list(words))
        return options

    def test_endpoint(self) -> None:
        """Host and port make an endpoint, also of IPv6; one that cannot be read ends the start."""
        reactor = MemoryReactorClock()
        found = listening_endpoint(self.options("--host", "::1"), reactor)
        self.assertIsInstance(found, TCP6ServerEndpoint)
        bad = self.options("--endpoint", "pigeon:1")
        message = self.refused(listening_endpoint, bad, reactor)
        self.assertIn("--endpoint 'pigeon:1' cannot be used", message)

    def test_report(self) -> None:
        """In the foreground the terminal is told; of a daemon, the process that waits for it."""
        options = self.options()
        self.assertIsInstance(start_report(options), Foreground)
        options.parent = cast("Any", self.twistd(nodaemon=True))
        self.assertIsInstance(start_report(options), Foreground)

    def test_paths(self) -> None:
        """Paths of twistd's that cannot be used end the start with one line each."""
        here = Path(self.mktemp())
        here.mkdir()
        file = here / "file"
        file.touch()
        for given, message in (
            ({"rundir": str(here / "none")}, "--rundir '.*none' is no directory"),
            ({"rundir": str(file)}, "--rundir '.*file' is no directory"),
            ({"rundir": str(here), "pidfile": "none/x.pid"}, "--pidfile 'none/x.pid' cannot be"),
            ({"pidfile": str(file / "x.pid")}, "--pidfile '.*x.pid' cannot be written"),
        ):
            options = self.options()
            options.parent = cast("Any", self.twistd(**given))
            self.assertRegex(
                self.refused(start_report, options), rf"\Atrafficmock: {message}.*\n\Z"
            )

    @staticmethod
    def twistd(**given: Any) -> dict[str, Any]:
        return {"nodaemon": True, "rundir": ".", "pidfile": "", "chroot": None, **given}

    def refused(self, function: Callable[..., object], *arguments: object) -> str:
        """Make a start fail; give what the terminal shows."""
        message = StringIO()
        self.patch(sys, "__stderr__", message)
        self.assertEqual(self.assertRaises(SystemExit, function, *arguments).code, 1)
        return message.getvalue()

    def test_observer(self) -> None:
        """Without a log file of ours twistd's own logging stays."""
        options = self.options()
        self.assertIsNone(chosen_observer(options))
        options["logfile"] = "-"
        self.assertIsNotNone(chosen_observer(options))
        options["logfile"] = str(Path(self.mktemp()) / "none" / "x.log")
        message = self.refused(chosen_observer, options)
        self.assertRegex(
            message, "--logfile '.*x.log' cannot be written: No such file or directory"
        )
