"""Runs the Ruby tests against a real proxy: a test side for a third language works."""

import os
import shutil
import subprocess
from http.server import BaseHTTPRequestHandler
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tests.support.processes.proxy_process import start_proxy
from tests.support.threaded_server import threaded_server

HERE = Path(__file__).parent
MOST_LINES = 250


class Echo(BaseHTTPRequestHandler):
    """Answers with the method and the path of the request."""

    def do_GET(self) -> None:
        content = f"{self.command} {self.path}".encode()
        self.send_response(200)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_PUT = do_GET  # noqa: N815 - the name that http.server calls

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as the parent names it
        """Write no access log."""


class RubyTests(SynchronousTestCase):
    """The Ruby test side."""

    def test_suite(self) -> None:
        """Its tests pass: routes, mocks, chains, predicates, fetches, errors, parallel tests."""
        ruby = shutil.which("ruby")
        assert ruby is not None, "ruby is missing: apt-get install --yes ruby"
        proxy = start_proxy()
        self.addCleanup(proxy.stop)
        with threaded_server(Echo) as port:
            env = {
                **os.environ,
                "TRAFFICMOCK_PROXY_URL": proxy.url,
                "UPSTREAM_URL": f"http://127.0.0.1:{port}",
            }
            finished = subprocess.run(
                [ruby, str(HERE / "test_shop.rb")],
                env=env,
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )
        self.assertEqual(finished.returncode, 0, finished.stdout + finished.stderr)
        self.assertRegex(finished.stdout, r"12 runs, \d+ assertions, 0 failures, 0 errors, 0 skips")

    def test_size(self) -> None:
        """A test side that works fits in 250 lines."""
        lines = (HERE / "trafficmock.rb").read_text("utf-8").splitlines()
        self.assertLessEqual(len(lines), MOST_LINES)
