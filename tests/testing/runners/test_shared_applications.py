"""One application for all workers of pytest-xdist."""

import json
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tests.testing import runs
from trafficmock.testing.launch import shared_applications
from trafficmock.testing.launch.application import Launch
from trafficmock.testing.launch.proxy_process import Proxy, listens

SAMPLES = runs.REPOSITORY / "tests/testing/runners/samples"
SAMPLE = str(SAMPLES / "with_shared_application.py")
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
        self.assertIn('"GET /300003 HTTP/1.1" 200', output)
        seen = [json.loads(path.read_text()) for path in folder.glob("*.json")]
        workers = {each["worker"] for each in seen}
        self.assertGreater(len(workers), 1)
        self.assertEqual(len({each["shop"] for each in seen}), 1)
        self.assertEqual(len({each["second"] for each in seen}), 1)
        self.assertEqual(len({each["own"] for each in seen}), len(workers))
        # What serves is a process that the program has started.
        urls = {url for each in seen for url in each["urls"]}
        self.assertEqual([url for url in urls if listens(url)], [])

    def test_never_ready(self) -> None:
        """One that does not start is waited for once, and fails the tests of all workers."""
        folder = Path(self.mktemp()).resolve()
        folder.mkdir()
        environment = {**runs.LEAN, "XDG_DATA_HOME": str(folder), "SEEN": str(folder)}
        sample = str(SAMPLES / "with_failing_application.py")
        # Where pytest sees continuous integration, its summary has the whole messages, too.
        options = (f"-n{WORKERS}", "--dist=each", "-rN")
        command = [*runs.lean_pytest("xdist"), *options, sample]
        output = runs.run(*command, environment=environment, seconds=120)
        self.assertIn("18 errors", output)
        self.assertEqual(output.count("was not ready (http://127.0.0.1:"), 18, output)
        self.assertEqual(len([*folder.glob("*.start")]), 1)

    def test_proxies(self) -> None:
        """An application of another proxy is another one."""
        proxies = (Proxy("http://127.0.0.1:1"), Proxy("http://127.0.0.1:2"), None)
        launches = [Launch(["shop"], proxy=each) for each in proxies]
        self.assertEqual(len({shared_applications._described(each) for each in launches}), 3)
