"""Requests of an application that a tool or another runtime than Node starts are mocked."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tests.support.hypothesis_profiles import DEEP
from tests.support.processes.npm_packages import install
from tests.support.processes.proxy_process import REPOSITORY, start_proxy
from trafficmock.testing import sync

PLACE = Path(__file__).parent
BINARIES = PLACE / "node_modules" / ".bin"
SECONDS = 120.0
ALL = dict.fromkeys(("fetch http", "node http", "fetch https", "node https"), "mocked")


class StarterTests(SynchronousTestCase):
    """The proxy has a directory of its own for its authority; no server stands behind the mock."""

    def setUp(self) -> None:
        install(PLACE, "turbo")
        self.folder = Path(self.mktemp()).absolute()
        self.folder.mkdir()
        self.file = self.folder / "calls.json"
        data = {"XDG_DATA_HOME": str(self.folder)}
        self.proxy = start_proxy(env=data)
        self.addCleanup(self.proxy.stop)
        unset = ("NODE_OPTIONS", "BUN_OPTIONS", "TURBO_ENV_MODE")
        kept = {k: v for k, v in os.environ.items() if k not in unset}
        self.environment = {
            **kept,
            **data,
            "CALLS_FILE": str(self.file),
            "PM2_HOME": str(self.folder / "pm2"),
            "PYTHONPATH": str(REPOSITORY),
            "TURBO_TELEMETRY_DISABLED": "1",
            "NO_UPDATE_NOTIFIER": "1",
        }

    def attached(self, *command: str, more: Mapping[str, str] | None = None) -> str:
        """Run a command by ``trafficmock run``; return its output."""
        argv = [sys.executable, "-m", "trafficmock", "run", "--proxy-url", self.proxy.url]
        return self.plain(*argv, "--", *command, more=more)

    def plain(self, *command: str, more: Mapping[str, str] | None = None) -> str:
        """Run a command; return its output."""
        done = subprocess.run(
            command,
            cwd=PLACE,
            env={**self.environment, **(more or {})},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stdout)
        return done.stdout

    def check(self, *command: str) -> None:
        """Run a command while a test answers the requests of what it starts."""
        with sync.mocks(self.proxy.url, title=self._testMethodName, isolation="off") as mocks:
            mocks.mock("*://api.shop.test/**", body="mocked")
            output = self.attached(*command)
            self.assertEqual(self.found(output), ALL, output)

    def found(self, output: str) -> dict[str, str]:
        """Return what came, once the program has written it."""
        end = time.monotonic() + SECONDS
        while not (self.file.exists() and self.file.stat().st_size):
            self.assertLess(time.monotonic(), end, output)
            time.sleep(0.1)
        found: dict[str, str] = json.loads(self.file.read_text(encoding="utf-8"))
        return found

    def test_turbo(self) -> None:
        """Turborepo passes the variables to its tasks."""
        self.check(str(BINARIES / "turbo"), "run", "calls", "--no-daemon")

    def test_bun(self) -> None:
        """Bun's own ``fetch`` uses the proxy, and its ``node:http`` the agent."""
        self.check(str(BINARIES / "bun"), "shop/calls.mjs")

    def test_bun_script(self) -> None:
        """A script that Bun starts runs in Node, which is attached."""
        self.check("env", "--chdir=shop", str(BINARIES / "bun"), "run", "calls")

    def test_deno(self) -> None:
        """Deno's own ``fetch`` uses the proxy, and its ``node:http`` the agent."""
        self.check(str(BINARIES / "deno"), "run", "-A", "shop/calls.mjs")

    def test_pm2(self) -> None:
        """PM2 starts a worker of its cluster by a daemon that has the variables."""
        pm2 = str(BINARIES / "pm2")
        self.addCleanup(self.plain, pm2, "kill")
        with sync.mocks(self.proxy.url, title="pm2", isolation="off") as mocks:
            mocks.mock("*://api.shop.test/**", body="mocked")
            stays = {"CALLS_STAY": "1"}
            output = self.attached(pm2, "start", "shop/calls.mjs", "-i", "1", more=stays)
            self.assertEqual(self.found(output), ALL, output)

    if not DEEP:
        for each in (test_turbo, test_bun, test_bun_script, test_deno, test_pm2):
            each.skip = "only with TRAFFICMOCK_DEEP=1"  # type: ignore[attr-defined]
