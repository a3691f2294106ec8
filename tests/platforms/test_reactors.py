"""The service and Twisted's tests under the reactors of other platforms."""

import os
import subprocess
import sys
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tests.platforms.trial_runs import run_tests
from tests.support.hypothesis_profiles import DEEP
from tests.support.processes.proxy_process import start_proxy

REACTORS = ("poll", "select", "asyncio")
DEEP_TESTS = (
    "tests.proxy",
    "tests.server",
    "tests.command",
    "tests.hostile",
    "tests.interop.npm",
    "tests.testing.test_rows.TwistedTests",
    "tests.testing.test_rows.BlockingTests",
)


class ServiceTests(SynchronousTestCase):
    """``TRAFFICMOCK_REACTOR`` chooses the reactor of the service."""

    def test_each(self) -> None:
        """It serves, and says the limit that its reactor has."""
        for name in REACTORS:
            command = (sys.executable, "-m", "trafficmock", "serve")
            proxy = start_proxy(command=command, env={"TRAFFICMOCK_REACTOR": name})
            self.addCleanup(proxy.stop)
            self.assertTrue(proxy.get("/health")["ok"])
            self.assertEqual("select holds" in proxy.written(), name == "select", name)

    def test_unknown(self) -> None:
        """An unknown one ends with one line."""
        environment = {**os.environ, "TRAFFICMOCK_REACTOR": "quantum"}
        argv = [sys.executable, "-m", "trafficmock", "serve", "--port", "0"]
        done = subprocess.run(argv, env=environment, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("TRAFFICMOCK_REACTOR", done.stderr)
        self.assertIn("quantum", done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)


class SuiteTests(SynchronousTestCase):
    """The tests of the service pass under each reactor."""

    if not DEEP:
        skip = "slow: set TRAFFICMOCK_DEEP=1"

    def check(self, name: str) -> None:
        argv = [sys.executable, "-m", "twisted.trial", "--reactor", name]
        argv += ["--temp-directory", str(Path(self.mktemp()).resolve()), *DEEP_TESTS]
        done = run_tests(argv, {"TRAFFICMOCK_REACTOR": name})
        self.assertEqual(done.returncode, 0, done.stdout[-8000:] + done.stderr[-2000:])

    def test_poll(self) -> None:
        self.check("poll")

    def test_select(self) -> None:
        self.check("select")

    def test_asyncio(self) -> None:
        self.check("asyncio")
