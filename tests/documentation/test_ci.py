"""Continuous integration: the line with which it closes, and the page for users."""

import importlib.util
import re
from types import ModuleType

from twisted.trial.unittest import SynchronousTestCase

from tests.documentation.ci_example import EXAMPLE, ExampleTestCase, jobs
from tests.support.hypothesis_profiles import DEEP
from tests.support.processes.proxy_process import REPOSITORY

LOG = """\
lint: OK
Ran 4 tests in 27.457s

PASSED (successes=4)
packaging: OK
    test_mirrored ...                                                    [FAIL]
Ran 851 tests in 217.719s

FAILED (skips=3, failures=1, errors=2, expectedFailures=1, successes=844)
"""


def verdict() -> ModuleType:
    """Load the script, which is in no package."""
    spec = importlib.util.spec_from_file_location("verdict", REPOSITORY / ".ci" / "verdict.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class VerdictTests(SynchronousTestCase):
    """What trial said is added up, truthfully."""

    def test_sum(self) -> None:
        """All runs count; errors are failures, and what failed as expected has passed."""
        script = verdict()
        line = script.closing_line(script.count(LOG))
        self.assertEqual(line, "849 passed, 3 failed, 3 skipped")

    def test_nothing(self) -> None:
        """A log without a closing line is no success."""
        script = verdict()
        self.assertEqual(script.closing_line(script.count("lint: OK\n")).split(",")[0], "0 passed")


LEAVES = """
from test_stock import ask

def test_leaves(stock, trafficmock):
    assert ask(stock, trafficmock) == "ask again later"
"""

MOCKS = """
from test_stock import WAREHOUSE, ask

def test_mocks(stock, trafficmock):
    trafficmock.mock(WAREHOUSE, json={"count": 7})
    for _ in range(1000):
        assert ask(stock, trafficmock) == "7 left"
"""

HANGS = """
import time

def test_hangs(stock, trafficmock):
    time.sleep(3600)
"""

LEFT = {"abort": 1, "fulfill": 1001, "passthrough": 1}
REFUSED = {"abort": 1, "fulfill": 1001, "error": 1}
SILENT = "import time\ntime.sleep(3600)\n"
SILENT_NODE = "setInterval(() => {}, 1000);\n"


class JobTests(ExampleTestCase):
    """The job of the page, but for its step of installation."""

    def test_passes(self) -> None:
        """Both applications are mocked; one report has the tests of both runners."""
        run = self.job()
        self.assertFalse(run.failed, run.output)
        document = self.report()
        self.assertEqual(document["counts"], {"passed": 4})
        runners = {each["runner"] for each in document["processes"]}
        self.assertEqual(runners, {"pytest", "playwright"})
        self.assertEqual(document["totals"]["requests"]["decisions"], {"fulfill": 2, "abort": 2})

    def test_fails(self) -> None:
        """A request without a route, and an application that ends, fail the job."""
        (self.project / "test_leaves.py").write_text(LEAVES)
        (self.project / "shop.mjs").write_text("import './no-such-module.mjs';")
        run = self.job()
        self.assertEqual([step.status for step in run.steps], [1, 1])
        self.assertIn("Cannot find module", run.output)
        document = self.report()
        self.assertEqual(document["counts"], {"failed": 1, "passed": 2})
        (test,) = document["tests"]
        self.assertIn("https://warehouse.example/teapots is not mocked", test["error"])
        self.assertNotIn("passthrough", document["totals"]["requests"]["decisions"])


class LongJobTests(ExampleTestCase):
    """What takes longer."""

    if not DEEP:
        skip = "slow: set TRAFFICMOCK_DEEP=1"

    def test_evicted(self) -> None:
        """A request without a route fails the job, also if the history has dropped it."""
        (self.project / "test_leaves.py").write_text(LEAVES)
        (self.project / "test_mocks.py").write_text(MOCKS)
        self.assertTrue(self.job().failed)
        hosts = self.report()["totals"]["requests"]["hosts"]
        self.assertEqual(hosts["warehouse.example"], REFUSED)

    def test_evicted_without_strict_mode(self) -> None:
        """A request that left fails the script, also if the history has dropped it."""
        self.leave_strict_mode()
        self.replace_tests("./unmocked.sh")
        run = self.job()
        self.assertFalse(run.failed, run.output)
        (self.project / "test_leaves.py").write_text(LEAVES)
        (self.project / "test_mocks.py").write_text(MOCKS)
        run = self.job()
        self.assertTrue(run.failed)
        self.assertRegex(run.output, r"4 passed")
        self.assertIn("test_leaves.py::test_leaves: 1 passthrough", run.output)
        hosts = self.report()["totals"]["requests"]["hosts"]
        self.assertEqual(
            hosts["warehouse.example"], {"abort": 1, "fulfill": 1001, "passthrough": 1}
        )

    def test_silent(self) -> None:
        """Applications that never answer fail the job in the time that the page names."""
        (self.project / "stock.py").write_text(SILENT)
        (self.project / "shop.mjs").write_text(SILENT_NODE)
        run = self.job()
        self.assertEqual([step.status for step in run.steps], [1, 1])
        self.assertIn("in its output) after 60 s", run.output)
        self.assertIn("Timed out waiting 30000ms", run.output)

    def test_hangs(self) -> None:
        """A test that hangs ends with the time of its step; the report has the rest."""
        (self.project / "test_a_failure.py").write_text("def test_fails(trafficmock): assert 0")
        (self.project / "test_hangs.py").write_text(HANGS)
        self.machine.minute = 8
        run = self.job()
        self.assertEqual([step.status for step in run.steps], [None, 0], run.output)
        document = self.report()
        self.assertEqual([test["file"] for test in document["tests"]], ["test_a_failure.py"])
        (ended,) = [each["ended"] for each in document["processes"] if each["runner"] == "pytest"]
        self.assertFalse(ended)

    def test_shards(self) -> None:
        """The last job merges the reports of the shards."""
        runs = self.machine.run(self.project / "github-shards.yml")
        output = "".join(run.output for job in runs.values() for run in job)
        self.assertEqual([run.failed for job in runs.values() for run in job], [False] * 3, output)
        self.assertEqual(self.report()["counts"], {"passed": 2})
        for shard in ("shard-1", "shard-2"):
            self.assertEqual(self.report(shard)["counts"], {"passed": 1})


class BoundTests(SynchronousTestCase):
    """Nothing in the files waits for ever."""

    def test_waits(self) -> None:
        """Each job and each command has a time, and each call of a script that may wait."""
        for name in ("github.yml", "github-shards.yml"):
            for job in jobs(EXAMPLE / name).values():
                self.assertLessEqual(job["timeout-minutes"], 20)
                steps = [step for step in job["steps"] if "run" in step]
                self.assertLess(sum(step["timeout-minutes"] for step in steps), 20)
        waits = r"(?:urlopen|requests\.get|fetch)\(.*"
        for path in EXAMPLE.iterdir():
            if path.suffix in {".py", ".mjs"}:
                for call in re.findall(waits, path.read_text()):
                    self.assertRegex(call, "timeout", path.name)
