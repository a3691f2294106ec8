"""Directories as they are on other machines."""

import os
import subprocess
import sys
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tests.support.processes.proxy_process import REPOSITORY

TEST = """
def test_asked(trafficmock, trafficmock_env):
    import json, subprocess, sys
    trafficmock.mock("http://api.example/*", body="mocked")
    program = "import urllib.request as r; print(r.urlopen('http://api.example/x').read().decode())"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**trafficmock_env("shop"), "TRAFFICMOCK_CONTEXT": ""},
        capture_output=True, text=True,
    )
    assert done.stdout == "mocked\\n", done.stderr
"""


class DirectoryTests(SynchronousTestCase):
    """Temporary and data directories with spaces, and longer than the path of a socket may be."""

    def check(self, directory: Path) -> None:
        directory.mkdir(parents=True)
        (directory / "test_asked.py").write_text(TEST)
        environment = {
            **os.environ,
            "TMPDIR": str(directory),
            "XDG_DATA_HOME": str(directory / "data of the user"),
        }
        environment.pop("TRAFFICMOCK_PROXY_URL", None)
        argv = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-pno:playwright-asyncio",
            "-pno:cacheprovider",
        ]
        argv += [str(directory)]
        done = subprocess.run(
            argv, cwd=REPOSITORY, env=environment, capture_output=True, text=True, check=False
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_spaces(self) -> None:
        self.check(Path(self.mktemp()).absolute() / "a user's  directory")

    def test_long(self) -> None:
        """The path of a Unix socket has 104 bytes on macOS."""
        self.check(Path(self.mktemp()).absolute() / ("long" * 30))
