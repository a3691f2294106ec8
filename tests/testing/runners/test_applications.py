"""The fixture ``trafficmock_app``: pytest starts the application, and shows what it wrote."""

from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tests.testing import runs

SAMPLE = str(runs.REPOSITORY / "tests/testing/runners/samples/with_application.py")


class FixtureTests(SynchronousTestCase):
    """A run of pytest with an application."""

    def test_run(self) -> None:
        """A megabyte of output in each test stops nothing; a failure has its own output."""
        environment = {**runs.LEAN, "XDG_DATA_HOME": str(Path(self.mktemp()).resolve())}
        output = runs.run(*runs.lean_pytest(), SAMPLE, environment=environment, seconds=60)
        self.assertIn("2 failed, 3 passed, 1 error", output)
        _, _, fails = output.partition("_ test_fails _")
        fails, _, other = fails.partition("_ test_fails_without_it _")
        self.assertIn("- output of shop during this test -", fails)
        self.assertIn("code 404, message Not Found", fails)
        self.assertNotIn("xxxxx", fails)
        self.assertNotIn("output of shop", other.partition("short test summary")[0])
        _, _, broken = output.partition("ERROR at setup of test_broken")
        broken = broken.partition("= FAILURES =")[0]
        self.assertIn("ended with status 1 before it was ready (/x/ in its output)", broken)
        self.assertIn("ModuleNotFoundError: No module named 'no_such_module'", broken)
        self.assertNotIn("trafficmock/testing", broken)
