"""Refused requests under the preload: each library raises an error that its users catch."""

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tests.interop.clients.python.test_services import clean
from tests.support.processes.proxy_process import ProxyProcess, start_proxy
from tests.support.waiting import wait_until
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
    "treq": "ResponseFailed",
}
URLS = ("http://third.test/refused", "http://third.test/ambiguous")


class RefusedTests(SynchronousTestCase):
    """Strict mode, routes of several tests, and a proxy that ends."""

    def start(self) -> tuple[ProxyProcess, Any, str]:
        """Start a proxy, and the program with the address of a server that never answers."""
        deaf = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(deaf.close)
        held = f"127.0.0.1:{deaf.getsockname()[1]}"
        options = ("--strict", "--allow", held)
        proxy = start_proxy("--ca-dir", str(Path(self.mktemp()).absolute()), *options)
        self.addCleanup(proxy.stop)
        preload = {"PYTHONPATH": str(DIRECTORY), "TRAFFICMOCK_PROXY_URL": proxy.url}
        child = subprocess.Popen(
            [sys.executable, str(PROGRAM), *URLS, f"http://{held}/"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**clean(), **preload},
        )
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        return proxy, child, f"http://{held}/"

    def test_refused(self) -> None:
        """The error is the library's and ours, and the request is sent once.

        A proxy that ends meanwhile is an error of the library that names it.
        """
        proxy, child, held = self.start()
        with sync.mocks(proxy.url) as one, sync.mocks(proxy.url) as other:
            for mocks in (one, other):
                mocks.mock("**/ambiguous", status=200)
            rows = [json.loads(child.stdout.readline() or "[]") for _ in range(2 * len(BASES))]
            if rows[-1] == []:
                self.fail(child.stderr.read())
            one.take_errors()
            other.take_errors()

        def sent(url: str) -> int:
            entries = proxy.get("/api/history")["entries"]
            return sum(each["request"]["url"] == url for each in entries)

        self.assertEqual([name for name, *_ in rows[::2]], list(BASES))
        for index, (name, *found) in enumerate(rows):
            if name.startswith("httpx") and index % 2 == 0:
                self.assertEqual(found, [403], name)
                continue
            self.assertEqual(found[0][:2], ["TrafficMockError", "TrafficMockError"], name)
            self.assertIn(BASES[name], found[0])
            self.assertIn("is not mocked" if index % 2 == 0 else "Ambiguous", found[1])
        counts = {url: sent(url) for url in URLS}
        wait_until(lambda: sent(held) == len(BASES), "the last requests")
        os.kill(proxy.pid, signal.SIGKILL)
        output, errors = child.communicate(timeout=60)
        lost = {name: found for name, *found in map(json.loads, output.splitlines())}
        self.assertEqual(list(lost), list(BASES), errors)
        for name, (bases, text) in lost.items():
            self.assertIn({**BASES, "urllib": "OSError"}[name], bases)
            self.assertIn("trafficmock", text, name)
        for url in URLS:
            self.assertEqual(counts[url], len(BASES), url)
