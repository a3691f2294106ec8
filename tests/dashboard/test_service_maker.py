"""The dashboard put together, and as a process beside the proxy."""

import sys
from pathlib import Path
from typing import Any

from twisted.internet.endpoints import TCP4ServerEndpoint
from twisted.trial.unittest import SynchronousTestCase

from tests.support.processes.proxy_process import (
    REPOSITORY,
    TWISTD,
    free_port,
    get,
    run,
    running_proxy,
)
from trafficmock import __version__
from trafficmock.dashboard.dashboard_options import DashboardOptions
from trafficmock.dashboard.service_maker import makeService

TWISTD_DASHBOARD = [*TWISTD, "-n", "trafficmock-dashboard"]
COMMAND = [sys.executable, "-m", "trafficmock", "dashboard"]


def made(*words: str) -> Any:
    options = DashboardOptions()
    options.parseOptions(list(words))
    return makeService(options)


class MadeTests(SynchronousTestCase):
    """From options to a service."""

    def test_address(self) -> None:
        """It listens where the options say."""
        endpoint = made("--port", "0").endpoint
        self.assertIsInstance(endpoint, TCP4ServerEndpoint)
        self.assertEqual((endpoint._interface, endpoint._port), ("127.0.0.1", 0))

    def test_banner(self) -> None:
        """The banner names both addresses."""
        expected = [
            f"trafficmock dashboard {__version__} listens on http://h:1",
            "  shows the proxy at http://p:2",
        ]
        self.assertEqual(made("--proxy-url", "http://p:2").banner("http://h:1"), expected)


class ProcessTests(SynchronousTestCase):
    """Real processes."""

    def test_beside_the_proxy(self) -> None:
        """Both run in one directory, leave nothing there, and the one shows the other."""
        directory = Path(self.mktemp())
        directory.mkdir()
        here = {"PYTHONPATH": str(REPOSITORY)}
        with (
            running_proxy(cwd=directory, env=here) as proxy,
            running_proxy(
                "--proxy-url", proxy.url, command=TWISTD_DASHBOARD, cwd=directory, env=here
            ) as dashboard,
        ):
            self.assertEqual(dashboard.get("/health")["proxyUrl"], proxy.url)
            self.assertEqual(dashboard.get("/proxy/health"), proxy.get("/health"))
            self.assertEqual(dashboard.get("/api/history"), {"entries": []})
            self.assertEqual(set(dashboard.get("/state")), {"history", "ws", "connections"})
            self.assertEqual(dashboard.stop(), 0)
        self.assertEqual(list(directory.iterdir()), [])

    def test_command(self) -> None:
        """``trafficmock dashboard`` is the same, and needs no proxy to start."""
        url = f"http://127.0.0.1:{free_port()}"
        with running_proxy(command=COMMAND, env={"TRAFFICMOCK_PROXY_URL": url}) as dashboard:
            self.assertEqual(get(dashboard.url + "/health")["proxyUrl"], url)
        self.assertIn(f"shows the proxy at {url}", dashboard.last_words)

    def test_bad_value(self) -> None:
        """A bad value is one line on stderr and status 1, at every way of starting."""
        for command in (TWISTD_DASHBOARD, COMMAND):
            done = run(*command, "--port", "x")
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, r"\Atrafficmock: --port must be .*\n\Z")
