"""Routes that each worker of ``pytest -n 4`` shares, for an application's background thread."""

import json
import sys
from contextlib import ExitStack
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tests.support.processes.tested_proxy import start_proxy
from tests.testing import runs
from tests.testing.row_context import ask

SAMPLE = Path(__file__).parent / "samples" / "shared_by_workers.py"


class SharedByWorkersTests(SynchronousTestCase):
    """The thread's requests carry no context, so all workers have a route for them."""

    def test_agree(self) -> None:
        """Equal answers are one, of handlers the first worker's counts; nothing is ambiguous.

        The routes of the run are one, with one count, and come after those of the workers.
        """
        stack = ExitStack()
        self.addCleanup(stack.close)
        proxy = start_proxy([])
        stack.callback(proxy.stop)
        data = str(Path(self.mktemp()).absolute())
        command = [sys.executable, str(runs.APPLICATIONS / "queue_thread.py")]
        child = runs.attached(proxy.url, command, data=data)
        stack.callback(child.stop)
        output = runs.run(
            *(*runs.lean_pytest("xdist"), str(SAMPLE), "--dist=each", "--tx=4*popen"),
            environment={
                **runs.LEAN,
                "SAMPLE_APP": child.announced()["url"],
                "TRAFFICMOCK_PROXY_URL": proxy.url,
            },
        )
        self.assertIn("100 passed", output, output)
        entries = ask(f"{proxy.url}/api/history?limit=200")["entries"]
        self.assertEqual({entry["action"] for entry in entries}, {"fulfill"}, json.dumps(entries))
        self.assertEqual(len(entries), 100)
        self.assertFalse(any(entry.get("hasContext") for entry in entries))
