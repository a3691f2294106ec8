"""Refused requests under the preload: each library raises an error that its users catch."""

import json
import subprocess
import sys
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tests.interop.clients.python.test_services import clean
from tests.support.processes.proxy_process import start_proxy
from trafficmock.attach.python_preload import DIRECTORY
from trafficmock.testing import sync

PROGRAM = Path(__file__).parent / "refused_calls.py"
BASES = {
    "requests": "RequestException",
    "urllib3": "HTTPError",
    "urllib": "URLError",
    "http_client": "HTTPException",
    "httpx": "TransportError",
    "httpx_async": "TransportError",
    "aiohttp": "ClientError",
}
URLS = ("http://third.test/refused", "http://third.test/ambiguous")


class RefusedTests(SynchronousTestCase):
    """Strict mode, and routes of several tests."""

    def test_refused(self) -> None:
        """The error is the library's and ours, and the request is sent once."""
        proxy = start_proxy("--ca-dir", str(Path(self.mktemp()).absolute()), "--strict")
        self.addCleanup(proxy.stop)
        preload = {"PYTHONPATH": str(DIRECTORY), "TRAFFICMOCK_PROXY_URL": proxy.url}
        with sync.mocks(proxy.url) as one, sync.mocks(proxy.url) as other:
            for mocks in (one, other):
                mocks.mock("**/ambiguous", status=200)
            done = subprocess.run(
                [sys.executable, str(PROGRAM), *URLS],
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
                env={**clean(), **preload},
            )
            self.assertEqual(done.returncode, 0, done.stderr)
            one.take_errors()
            other.take_errors()
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([name for name, *_ in rows[::2]], list(BASES))
        for index, (name, *found) in enumerate(rows):
            if name.startswith("httpx") and index % 2 == 0:
                self.assertEqual(found, [403], name)
                continue
            self.assertEqual(found[0][:2], ["TrafficMockError", "TrafficMockError"], name)
            self.assertIn(BASES[name], found[0])
            self.assertIn("is not mocked" if index % 2 == 0 else "Ambiguous", found[1])
        entries = proxy.get("/api/history")["entries"]
        for url in URLS:
            sent = [each for each in entries if each["request"]["url"] == url]
            self.assertEqual(len(sent), len(BASES), url)
