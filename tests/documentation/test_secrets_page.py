"""The commands of the page about secrets, run as they stand there."""

import os
import subprocess
import sys
from http.server import BaseHTTPRequestHandler
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tests.support.processes.proxy_process import NO_PINGS, REPOSITORY, running_proxy
from tests.support.threaded_server import threaded_server

SCRIPT = REPOSITORY / "docs" / "examples" / "secrets" / "record.sh"
SECRETS = ("t-0815", "p-4711", "k-1234")


class _Shop(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        """Answer any login."""
        self.send_response(200)
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_: object) -> None:
        """Write no log."""


class SecretsPageTests(SynchronousTestCase):
    """``record.sh``."""

    def test_as_written(self) -> None:
        """The terminal and the first two files have marks, the third has all as it was."""
        folder = Path(self.mktemp()).resolve()
        folder.mkdir()
        command = folder / "trafficmock"
        command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m trafficmock "$@"\n')
        command.chmod(0o755)
        with threaded_server(_Shop) as port, running_proxy(*NO_PINGS) as proxy:
            environment = {
                "PATH": f"{folder}:{os.environ['PATH']}",
                "PYTHONPATH": str(REPOSITORY),
                "TRAFFICMOCK_PROXY_URL": proxy.url,
                "SHOP": f"http://127.0.0.1:{port}",
            }
            done = subprocess.run(
                ["/bin/bash", "-e", str(SCRIPT)],
                cwd=folder,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=120,
                check=False,
            )
        self.assertEqual(done.returncode, 0, done.stdout)
        files = {path.name: path.read_text() for path in folder.glob("*.har")}
        self.assertEqual(len(files), 3)
        exact = files.pop("login-exact.har")
        for secret in SECRETS:
            self.assertIn(secret, exact)
            for text in (done.stdout, *files.values()):
                self.assertNotIn(secret, text)
        self.assertRegex(done.stdout, r"authorization: Bearer \[redacted:\w{8}\]")
        self.assertRegex(done.stdout, r"user=ada&password=\[redacted:\w{8}\]")
        self.assertIn("user=ada", files["login.har"])
        self.assertNotIn("user=ada", files["login-without-user.har"])
