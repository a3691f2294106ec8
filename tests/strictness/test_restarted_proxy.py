"""A strict run whose proxy is killed and started again, with real processes of each test side."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from typing import TYPE_CHECKING

from twisted.trial.unittest import SynchronousTestCase

from tests.support.processes.child_process import Child
from tests.support.processes.node_parts import PLAYWRIGHT_PACKAGE
from tests.support.processes.proxy_process import start_proxy
from tests.support.waiting import wait_until

if TYPE_CHECKING:
    from tests.support.processes.proxy_process import ProxyProcess

BLOCKING = """
import sys
from trafficmock.testing.adapters.threaded_connection import ThreadedConnection
ThreadedConnection(sys.argv[1]).make_run_strict(["a.test"])
print("{}", flush=True)
sys.stdin.read()
"""
TWISTED = """
import sys
from twisted.internet import reactor, task
from twisted.internet.defer import Deferred, ensureDeferred
from trafficmock.testing import tx
async def main(reactor):
    connection = await tx.connect(reactor, sys.argv[1], strict=True, allow=["a.test"])
    print("{}", flush=True)
    await Deferred()
task.react(lambda reactor: ensureDeferred(main(reactor)))
"""
JAVASCRIPT = """
const { WorkerConnection } = require("./src/connection/worker-connection.js");
WorkerConnection.open({ proxyUrl: process.argv[1] }).then(async (connection) => {
  await connection.refuseUnowned(["a.test"]);
  console.log("{}");
  process.stdin.resume().on("end", () => process.exit());
});
"""


def strict_workers(proxy: ProxyProcess) -> list[list[str]]:
    """Return the patterns of the workers' connections whose run is strict."""
    rows = proxy.get("/api/connections")["runnerWorkers"]
    return [row["strict"]["allow"] for row in rows if "strict" in row]


class RestartedProxyTests(SynchronousTestCase):
    """The worker makes its run strict again by itself, as soon as a proxy is there."""

    def check(self, *argv: str) -> None:
        first = start_proxy()
        self.addCleanup(first.stop)
        worker = Child.start("the worker", [*argv, first.url], env={}, cwd=PLAYWRIGHT_PACKAGE)
        self.addCleanup(worker.stop)
        worker.announced()
        self.assertEqual(strict_workers(first), [["a.test"]])
        os.kill(first.process.pid, signal.SIGKILL)
        first.stop()
        again = start_proxy("--port", first.url.rpartition(":")[2])
        self.addCleanup(again.stop)
        wait_until(lambda: strict_workers(again) == [["a.test"]], "a run that is strict again")

    def test_blocking(self) -> None:
        """A blocking test in Python, such as those of pytest."""
        self.check(sys.executable, "-c", BLOCKING)

    def test_twisted(self) -> None:
        """A test on the reactor."""
        self.check(sys.executable, "-c", TWISTED)

    def test_javascript(self) -> None:
        """A worker of Playwright."""
        self.check(shutil.which("node") or "node", "-e", JAVASCRIPT)
