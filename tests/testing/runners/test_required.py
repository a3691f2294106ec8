"""A mock that nobody meets fails its test, under each runner."""

from twisted.trial.unittest import SynchronousTestCase

from tests.testing import runs
from trafficmock.testing.launch import start_proxy

NAME = "tests.testing.runners.samples.with_required"
SAMPLE = str(runs.REPOSITORY / "tests/testing/runners/samples/with_required.py")
UNMET = "no request met the route 'https://nobody.example/**': handler of a mock with status 200 ("


class RunnerTests(SynchronousTestCase):
    """``required`` for a whole run."""

    def setUp(self) -> None:
        proxy = start_proxy()
        self.addCleanup(proxy.stop)
        self.environment = {**runs.LEAN, "TRAFFICMOCK_PROXY_URL": proxy.url}

    def output(self, *arguments: str) -> str:
        return runs.run(*arguments, environment=self.environment, seconds=60)

    def test_pytest(self) -> None:
        """The option or the ini value; a test that failed or was skipped has no second error."""
        only = ["-k", "not UnittestTests and not TrialTests"]
        for option in ("--trafficmock-required", "-otrafficmock_required=true"):
            output = self.output(*runs.lean_pytest(), option, *only, SAMPLE)
            self.assertIn("2 failed, 2 passed, 1 skipped", output)
            self.assertIn(f"UnmetRouteError: {UNMET}", output)
            self.assertEqual(output.count("| trafficmock.testing.errors.UnmetRouteError"), 1)
        self.assertIn("1 failed, 3 passed, 1 skip", self.output(*runs.lean_pytest(), *only, SAMPLE))

    def test_unittest(self) -> None:
        """The attribute of a test case."""
        output = self.output("unittest", f"{NAME}.UnittestTests")
        self.assertIn("FAILED (errors=1, skipped=1)", output)
        self.assertIn(UNMET, output)

    def test_trial(self) -> None:
        """The same attribute under trial."""
        output = self.output("twisted.trial", f"{NAME}.TrialTests")
        self.assertIn("FAILED (errors=1)", output)
        self.assertIn(UNMET, output)
