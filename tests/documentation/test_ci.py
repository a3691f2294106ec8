"""Continuous integration: the line with which it closes, and the recipe for users."""

import importlib.util
import json
import subprocess
from pathlib import Path
from types import ModuleType

from twisted.trial.unittest import SkipTest, SynchronousTestCase

from tests.documentation.example_project import example_project
from tests.support.hypothesis_profiles import DEEP
from tests.support.processes.proxy_process import REPOSITORY, free_port

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


EXAMPLE = REPOSITORY / "docs" / "examples" / "ci"

LEAVES = """
import os
from urllib.request import Request, urlopen
import pytest

def test_leaves(trafficmock):
    url = f"http://127.0.0.1:{os.environ['SHOP_PORT']}/teapots"
    with urlopen(Request(url, headers=trafficmock.headers)) as answer:
        assert answer.read() == b"no price"
"""


MOCKS = """
import os
from urllib.request import Request, urlopen

def test_mocks(trafficmock):
    trafficmock.mock("http://warehouse.example/**", body="7")
    url = f"http://127.0.0.1:{os.environ['STOCK_PORT']}/teapots"
    for _ in range(1000):
        with urlopen(Request(url, headers=trafficmock.headers)) as answer:
            assert answer.read() == b"7"
"""


class RecipeTests(SynchronousTestCase):
    """``run-tests.sh`` with its two applications."""

    def setUp(self) -> None:
        self.folder = Path(self.mktemp()).resolve() / "project"
        self.environment = {
            **example_project(EXAMPLE, self.folder),
            "TRAFFICMOCK_PROXY_URL": f"http://127.0.0.1:{free_port()}",
            "STOCK_PORT": str(free_port()),
            "SHOP_PORT": str(free_port()),
        }

    def job(self) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["./run-tests.sh"],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=150,
            check=False,
        )

    def test_passes(self) -> None:
        """Both applications are mocked, and nothing has left."""
        done = self.job()
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("2 passed", done.stdout)
        self.assertFalse((self.folder / "traffic" / "history.json").exists())

    def test_left(self) -> None:
        """One real request fails the job, although the tests pass; everything is kept."""
        (self.folder / "test_leaves.py").write_text(LEAVES)
        done = self.job()
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("3 passed", done.stdout)
        kept = json.loads((self.folder / "traffic" / "history.json").read_text())["entries"]
        self.assertEqual({each["action"] for each in kept}, {"fulfill", "passthrough"})
        self.assertTrue(all("headers" in each["request"] for each in kept))
        har = json.loads((self.folder / "traffic" / "traffic.har").read_text())["log"]["entries"]
        self.assertEqual(len(har), len(kept))

    def test_dropped(self) -> None:
        """A real request fails the job after more mocks than the history keeps, and is told of."""
        if not DEEP:
            raise SkipTest("slow: set TRAFFICMOCK_DEEP=1")
        (self.folder / "test_leaves.py").write_text(LEAVES)
        (self.folder / "test_mocks.py").write_text(MOCKS)
        done = self.job()
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("4 passed", done.stdout)
        kept = json.loads((self.folder / "traffic" / "history.json").read_text())["entries"]
        self.assertEqual({each["action"] for each in kept}, {"fulfill"})
        self.assertIn("prices.example: 1 passthrough", done.stdout)
        run = json.loads((self.folder / "traffic" / "report" / "run.json").read_text())
        left = run["totals"]["requests"]["hosts"]["prices.example"]
        self.assertEqual(left, {"fulfill": 1, "passthrough": 1})

    def test_crashed(self) -> None:
        """An application that ends at once fails the job, in a bounded time, with its output."""
        (self.folder / "stock.py").write_text("import no_such_module\n")
        done = self.job()
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("No module named 'no_such_module'", done.stdout)
