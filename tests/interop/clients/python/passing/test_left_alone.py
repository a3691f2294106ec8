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
CUT_OFF = (["", "55"], ["", "56"])
"""What curl prints and returns, if the server ends TLS while it sends or reads."""

LIBRARIES = ("requests", "urllib3", "httpx", "httpx, async", "aiohttp") if DEEP else ("requests",)


class LeftAloneTests(SynchronousTestCase):
    """One client of a library, which keeps its connection, before, in and after a test."""

    def setUp(self) -> None:
        self.folder = Path(self.mktemp()).absolute()
        self.ca, self.client = self.certificate("server"), self.certificate("client")
        self.server = MisbehavingServer(tls(self.ca, clients=self.client))
        self.enterContext(self.server.running())
        self.url = f"https://localhost:{self.server.port}"
        options = ("--ca-dir", str(self.folder / "authority"), "--upstream-ca", str(self.ca))
        self.proxy = start_proxy(*options)
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
        self.assertIn("--tunnel HOST, or in the application by TRAFFICMOCK_IGNORE_HOSTS=", found)

    def curl(self, proxy: str = "", certificate: Path | None = None) -> list[str]:
        """Return what curl prints, and its exit status."""
        given = [] if certificate is None else ["--cert", str(certificate)]
        through = ["--noproxy", "" if proxy else "*", *(["-x", proxy] if proxy else [])]
        command = ["curl", "-sS", "--insecure", *through, *given, f"{self.url}/ok"]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=60, check=False, env=clean()
        )
        return [done.stdout, str(done.returncode)]

    def test_forward_proxy(self) -> None:
        """A client that tells the proxy nothing: a request fails, and from then on TLS reaches it.

        One without a certificate then has the error of the server itself. While a route may match,
        a request that passes fails again.
        """
        found, code = self.curl(self.proxy.url, self.client)
        self.assertIn("--tunnel HOST", found)
        self.assertEqual(code, "0")
        self.assertEqual(self.curl(self.proxy.url, self.client), ["ok", "0"])
        for alone in (self.curl(self.proxy.url), self.curl()):
            self.assertIn(alone, CUT_OFF)
        with sync.mocks(self.proxy.url) as mocks:
            mocks.mock(f"{self.url}/ok", body="mock")
            self.assertEqual(self.curl(self.proxy.url, self.client), ["mock", "0"])
            mocks.mock(f"{self.url}/ok", body="other")
            self.assertEqual(self.curl(self.proxy.url), ["other", "0"])
        self.assertEqual(self.curl(self.proxy.url, self.client), ["ok", "0"])
        why = "its server asks for a client certificate, while no route"
        self.assertEqual(self.proxy.written().count(why), 1)

    def test_untold(self) -> None:
        """A process that has no certificate sees the server's own error at the second request."""
        child = self.start("requests", {"verify": str(self.ca)})
        texts = [json.loads(each) for each in child.communicate("\n\n", timeout=60)[0].splitlines()]
        self.assertIn("--tunnel HOST", texts[0])
        self.assertNotIn("trafficmock", texts[1])
        self.assertIn("certificate required", texts[1])

    def test_pin(self) -> None:
        """A pinned fingerprint."""
        self.server = MisbehavingServer(tls(self.ca))
        self.enterContext(self.server.running())
        self.url = f"https://localhost:{self.server.port}"
        options = {"verify": str(self.ca), "pin": fingerprint(self.ca)}
        for library in ("urllib3", "aiohttp") if DEEP else ("urllib3",):
            self.check(library, options, "its client pins a fingerprint")
