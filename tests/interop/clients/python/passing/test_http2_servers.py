"""Clients that offer both reach a server of HTTP/2 alone, and are mocked while a test says so."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tests.interop.clients.python.test_services import clean
from tests.support.processes.proxy_process import start_proxy
from tests.support.self_signed import write_certificate
from trafficmock.attach.python_preload import DIRECTORY
from trafficmock.testing import sync

SERVER = Path(__file__).parent / "http2_server.mjs"
PROGRAM = """
import ssl, sys, httpx
context = ssl.create_default_context(cafile=sys.argv[1])
print(httpx.Client(http2=True, verify=context).get(sys.argv[2]).text, end="")
"""
WHY = "its server speaks HTTP/2 only"
SECONDS = 20
OF_PROXIES = ("via", "trafficmock")


class Http2ServerTests(SynchronousTestCase):
    """One client after the other."""

    def setUp(self) -> None:
        folder = Path(self.mktemp()).absolute()
        folder.mkdir()
        self.ca = write_certificate(folder)
        child = subprocess.Popen(
            ["node", str(SERVER), str(self.ca)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(child.communicate, timeout=30)
        assert child.stdout is not None
        self.url = f"https://localhost:{int(child.stdout.readline())}/x"
        authority = folder / "authority"
        options = ("--ca-dir", str(authority), "--upstream-ca", str(self.ca))
        self.proxy = start_proxy(*options)
        self.addCleanup(self.proxy.stop)

    def curl(self, proxy: str = "") -> str:
        """Return what curl, which offers both by default, prints."""
        through = ["--noproxy", "" if proxy else "*", "--insecure"]
        command = ["curl", "-sS", *through, *(["-x", proxy] if proxy else []), self.url]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=60, check=True, env=clean()
        )
        return done.stdout

    def httpx(self, variables: dict[str, str]) -> str:
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, str(self.ca), self.url],
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
            env={**clean(), **variables},
        )
        return done.stdout

    def recorded(self) -> list[Any]:
        """Return the history, once it has the end of a tunnel, which says why it was not read."""
        entries: list[Any] = []
        deadline = time.monotonic() + SECONDS
        while WHY not in json.dumps(entries) and time.monotonic() < deadline:
            entries = self.proxy.get("/api/history")["entries"]
        return entries

    def check(self, alone: str, passed: str) -> None:
        self.assertEqual(alone.partition(" ")[0], "2.0")
        self.assertEqual(passed, alone)
        self.assertFalse([each for each in OF_PROXIES if each in passed])
        entries = self.recorded()
        self.assertIn(WHY, json.dumps(entries))
        self.assertEqual({each["request"]["method"] for each in entries}, {"CONNECT"})
        self.assertIn(WHY, self.proxy.written())

    def test_curl(self) -> None:
        """By the proxy, with and without a route, whose error says what to do where it passes."""
        self.check(self.curl(), self.curl(self.proxy.url))
        with sync.mocks(self.proxy.url) as mocks:
            mocks.mock(self.url, body="mock")
            self.assertEqual(self.curl(self.proxy.url), "mock")
            self.url += "/other"
            self.assertIn("--tunnel HOST", self.curl(self.proxy.url))
        self.assertEqual(self.curl(self.proxy.url).partition(" ")[0], "2.0")

    def test_httpx(self) -> None:
        """By the preload."""
        variables = {"PYTHONPATH": str(DIRECTORY), "TRAFFICMOCK_PROXY_URL": self.proxy.url}
        self.check(self.httpx({}), self.httpx(variables))

    if find_spec("h2") is None:
        test_httpx.skip = "h2 is not installed"  # type: ignore[attr-defined]
