"""A client with a certificate reaches its server, and is mocked while a test says so."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tests.interop.clients.python.passing import calls
from tests.interop.clients.python.passing.misbehaving_server import (
    MisbehavingServer,
    fingerprint,
    tls,
)
from tests.interop.clients.python.test_services import clean
from tests.support.hypothesis_profiles import DEEP
from tests.support.processes.proxy_process import start_proxy
from tests.support.self_signed import write_certificate
from trafficmock.attach.python_preload import DIRECTORY
from trafficmock.testing import sync

PROGRAM = Path(calls.__file__)
LIBRARIES = ("requests", "urllib3", "httpx", "httpx, async", "aiohttp") if DEEP else ("requests",)


class LeftAloneTests(SynchronousTestCase):
    """One client of a library, which keeps its connection, before, in and after a test."""

    def setUp(self) -> None:
        self.folder = Path(self.mktemp()).absolute()
        self.ca, self.client = self.certificate("server"), self.certificate("client")
        self.server = MisbehavingServer(tls(self.ca, clients=self.client))
        self.enterContext(self.server.running())
        self.url = f"https://localhost:{self.server.port}"
        self.proxy = start_proxy("--ca-dir", str(self.folder / "authority"))
        self.addCleanup(self.proxy.stop)

    def certificate(self, name: str) -> Path:
        (self.folder / name).mkdir(parents=True)
        return write_certificate(self.folder / name)

    def start(self, library: str, options: dict[str, Any]) -> Any:
        variables = {"PYTHONPATH": str(DIRECTORY), "TRAFFICMOCK_PROXY_URL": self.proxy.url}
        child = subprocess.Popen(
            [sys.executable, str(PROGRAM), library, json.dumps(options), f"{self.url}/ok"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**clean(), **variables},
        )
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        return child

    def check(self, library: str, options: dict[str, Any], why: str) -> None:
        child = self.start(library, options)

        def called() -> str:
            child.stdin.write("\n")
            child.stdin.flush()
            return str(json.loads(child.stdout.readline()))

        found = [called(), called()]
        with sync.mocks(self.proxy.url) as mocks:
            mocks.mock(f"{self.url}/**", body="mock")
            found += [called(), called()]
        found += [called(), called()]
        self.assertEqual(found, ["ok", "ok", "mock", "mock", "ok", "ok"], library)
        _, errors = child.communicate(timeout=30)
        place = self.url.removeprefix("https://")
        self.assertIn(f"trafficmock: {place} is not read, because {why}", errors)
        self.assertEqual(errors.count("is not read"), 1)

    def test_certificate(self) -> None:
        """A certificate of the client."""
        for library in LIBRARIES:
            options = {"verify": str(self.ca), "cert": str(self.client)}
            self.check(library, options, "its client has a client certificate")

    def test_remedy(self) -> None:
        """While the proxy reads it, the error of a request that passes says what to do."""
        with sync.mocks(self.proxy.url) as mocks:
            mocks.mock(f"{self.url}/other", body="mock")
            child = self.start("requests", {"verify": str(self.ca), "cert": str(self.client)})
            found, _ = child.communicate("\n", timeout=30)
        self.assertIn("certificate required", found)
        self.assertIn("--tunnel HOST, or in the application TRAFFICMOCK_IGNORE_HOSTS=HOST", found)

    def test_pin(self) -> None:
        """A pinned fingerprint."""
        self.server = MisbehavingServer(tls(self.ca))
        self.enterContext(self.server.running())
        self.url = f"https://localhost:{self.server.port}"
        options = {"verify": str(self.ca), "pin": fingerprint(self.ca)}
        for library in ("urllib3", "aiohttp") if DEEP else ("urllib3",):
            self.check(library, options, "its client pins a fingerprint")
