"""The commands of the page about recordings, run as they stand there."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from unittest import skipUnless
from urllib.error import URLError
from urllib.request import ProxyHandler, build_opener

from twisted.trial.unittest import SynchronousTestCase

from tests.support.documents import blocks
from tests.support.hypothesis_profiles import DEEP
from tests.support.processes.node_parts import node_binary
from tests.support.processes.proxy_process import REPOSITORY, free_port
from tests.testing import runs

PAGE = REPOSITORY / "docs" / "how-to" / "record-and-replay.md"
EXAMPLE = REPOSITORY / "docs" / "examples" / "record"
SERVICE, RECORD, REPORT, CHECK, PROXY, APPLICATION, NODE = (
    "python rates.py",
    "pytest",
    "pytest --trafficmock-report=report",
    "trafficmock har check hars/quotes.har --report report",
    "trafficmock serve",
    "trafficmock run --client-id quotes -- node quotes.mjs",
    "node --test quotes.test.mjs",
)
SECRET = "t-0815-sekret"


class RecordPageTests(SynchronousTestCase):
    """The example in ``docs/examples/record``."""

    def setUp(self) -> None:
        self.folder = Path(self.mktemp()).resolve() / "project"
        shutil.copytree(EXAMPLE, self.folder)
        programs = self.folder.parent / "bin"
        programs.mkdir()
        for name, words in (
            ("trafficmock", f'"{sys.executable}" -m trafficmock'),
            ("pytest", f'"{sys.executable}" -m {" ".join(runs.lean_pytest())}'),
            ("python", f'"{sys.executable}"'),
            ("node", f'"{node_binary()}"'),
        ):
            (programs / name).write_text(f'#!/bin/sh\nexec {words} "$@"\n')
            (programs / name).chmod(0o755)
        modules = self.folder / "node_modules"
        modules.mkdir()
        (modules / "trafficmock-playwright").symlink_to(REPOSITORY / "playwright")
        kept = {k: v for k, v in os.environ.items() if not k.startswith("TRAFFICMOCK")}
        self.rates, self.quotes = free_port(), free_port()
        self.environment = {
            **kept,
            **runs.LEAN,
            "PATH": f"{programs}:{os.environ['PATH']}",
            "PYTHONPATH": str(REPOSITORY),
            "XDG_DATA_HOME": str(self.folder.parent / "data"),
            "RATES_PORT": str(self.rates),
            "QUOTES_PORT": str(self.quotes),
        }

    def run_line(self, line: str, status: int = 0) -> str:
        """Run a line of the page to its end; give what it printed."""
        done = subprocess.run(
            ["/bin/bash", "-c", line],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
            check=False,
        )
        self.assertEqual(done.returncode, status, f"{line}\n{done.stdout}")
        return done.stdout

    @contextlib.contextmanager
    def running(self, line: str, port: int) -> Iterator[None]:
        """Run a line of the page in the background, from the time when its port answers."""
        process = subprocess.Popen(
            ["/bin/bash", "-c", f"exec {line}"],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            self.wait(port)
            yield
        finally:
            process.terminate()
            process.wait(30)

    def wait(self, port: int) -> None:
        opener, until = build_opener(ProxyHandler({})), time.monotonic() + 60
        while time.monotonic() < until:
            try:
                opener.open(f"http://127.0.0.1:{port}/health", timeout=5).close()
            except URLError as error:
                if isinstance(error.reason, ConnectionRefusedError):
                    time.sleep(0.05)
                    continue
            except OSError:
                pass
            return
        raise AssertionError(f"nothing listens on {port}")

    def test_lines(self) -> None:
        """The page has these commands, and no others."""
        lines = [
            line
            for block in blocks(PAGE)
            if block.language == "sh"
            for line in block.text.splitlines()
        ]
        self.assertEqual(lines, [SERVICE, RECORD, REPORT, CHECK, PROXY, APPLICATION, NODE])

    @skipUnless(DEEP, "slow: set TRAFFICMOCK_DEEP=1")
    def test_python(self) -> None:
        """Recorded with the service, replayed without it; what nobody uses is listed."""
        with self.running(SERVICE, self.rates):
            self.run_line(RECORD)
        hars = self.folder / "hars"
        texts = [path.read_text() for path in hars.iterdir()]
        self.assertTrue(all(SECRET not in text for text in texts))
        har = json.loads((hars / "quotes.har").read_text())
        har["log"]["entries"].append(har["log"]["entries"][0])
        (hars / "quotes.har").write_text(json.dumps(har))
        self.run_line(REPORT)
        said = self.run_line(CHECK, status=1)
        self.assertIn("1 of 5 entries were not used\n  5  POST http://127.0.0.1", said)

    @skipUnless(DEEP, "slow: set TRAFFICMOCK_DEEP=1")
    def test_node(self) -> None:
        """So it is with Node's test runner."""
        port = free_port()
        url = f"http://127.0.0.1:{port}"
        with self.running(f"{PROXY} --port {port}", port):
            self.environment |= {"TRAFFICMOCK_PROXY_URL": url, "TRAFFICMOCK_REPORT": "report"}
            with self.running(APPLICATION, self.quotes):
                with self.running(SERVICE, self.rates):
                    self.run_line(NODE)
                self.run_line(NODE)
                self.assertIn("all of 4 entries were used", self.run_line(CHECK))
