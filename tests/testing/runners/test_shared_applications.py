"""One application for all workers of pytest-xdist."""

import json
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tests.testing import runs
from trafficmock.testing.launch.proxy_process import listens

SAMPLE = str(runs.REPOSITORY / "tests/testing/runners/samples/with_shared_application.py")
WORKERS = 3


class SharedApplicationTests(SynchronousTestCase):
    """A run of several workers."""

    def test_run(self) -> None:
        """The first starts it, the others share it, and it ends with the run, and its children."""
        folder = Path(self.mktemp()).resolve()
        folder.mkdir()
        environment = {**runs.LEAN, "XDG_DATA_HOME": str(folder), "SEEN": str(folder)}
        command = [*runs.lean_pytest("xdist"), f"-n{WORKERS}", SAMPLE]
        output = runs.run(*command, environment=environment, seconds=120)
        self.assertIn("1 failed, 5 passed", output)
        self.assertIn("- output of shop during this test -", output)
        self.assertIn('"GET /300000 HTTP/1.1" 200', output)
        seen = [json.loads(path.read_text()) for path in folder.glob("*.json")]
        workers = {each["worker"] for each in seen}
        self.assertGreater(len(workers), 1)
        self.assertEqual(len({each["shop"] for each in seen}), 1)
        self.assertEqual(len({each["second"] for each in seen}), 1)
        self.assertEqual(len({each["own"] for each in seen}), len(workers))
        # What serves is a process that the program has started.
        urls = {url for each in seen for url in each["urls"]}
        self.assertEqual([url for url in urls if listens(url)], [])
