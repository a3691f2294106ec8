"""The line with which continuous integration closes."""

import importlib.util
from types import ModuleType

from twisted.trial.unittest import SynchronousTestCase

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
