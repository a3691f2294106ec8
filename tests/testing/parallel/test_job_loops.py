"""Tests one after the other, on an application that keeps what its first request started."""

import sys
from contextlib import ExitStack
from pathlib import Path

import requests
from twisted.trial.unittest import SynchronousTestCase

from tests.support.processes.node_parts import node_binary
from tests.support.processes.tested_proxy import start_proxy
from tests.testing import runs
from tests.testing.row_context import ask
from trafficmock.testing import sync
from trafficmock.testing.errors import IsolationError

NODE = [str(node_binary()), str(runs.APPLICATIONS / "jobs.mjs")]
PYTHON = [sys.executable, str(runs.APPLICATIONS / "jobs.py")]
SECONDS = 30


class JobLoopTests(SynchronousTestCase):
    """A job has the context of the first test, which has ended, or none, or that of its giver."""

    def setUp(self) -> None:
        self.stack = ExitStack()
        self.addCleanup(self.stack.close)
        self.proxy = start_proxy([])
        self.stack.callback(self.proxy.stop)
        self.data = str(Path(self.mktemp()).absolute())

    def check(self, command: list[str], path: str = "", *, whose: str) -> None:
        """Each test answers its own request, and is told of one that has not its context.

        :param whose: the context of each job: ``own``, of the test that it is for; ``nobody``.
        """
        child = runs.attached(self.proxy.url, command, data=self.data)
        self.stack.callback(child.stop)
        url = child.announced()["url"] + path
        for number in range(3):
            with sync.mocks(self.proxy.url, title=f"test {number}", strict=True) as mocks:
                mocks.mock("http://mail.test/*", body=f"mock {number}")
                answer = requests.get(url, headers=mocks.headers, timeout=SECONDS)
                self.assertEqual(answer.text, f"mock {number}")
        mocks = self.stack.enter_context(sync.mocks(self.proxy.url, isolation="required"))
        mocks.mock("http://mail.test/*", body="required")
        requests.get(url, headers=mocks.headers, timeout=SECONDS)
        errors = [type(error) for error in mocks.take_errors()]
        self.assertEqual(errors, [] if whose == "own" else [IsolationError])
        entries = ask(f"{self.proxy.url}/api/history")["entries"]
        self.assertFalse([entry for entry in entries if entry.get("late")])

    def test_loop(self) -> None:
        """A coroutine that waits and takes the next job, in Node: it works for everybody."""
        self.check([*NODE, "loop"], whose="nobody")

    def test_timer(self) -> None:
        """A timer that starts itself again, in Node: it works for the whole application."""
        self.check([*NODE, "timer"], whose="nobody")

    def test_thread(self) -> None:
        """A thread that reads a queue, in Python; each job has the context of its giver."""
        self.check(PYTHON, "/thread", whose="own")

    def test_pool(self) -> None:
        """A pool of threads, in Python, which runs each job in the context of its giver."""
        self.check(PYTHON, "/pool", whose="own")
