"""The commands of the page about recordings, run as they stand there."""

import ast
import contextlib
import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from unittest import skipUnless

from twisted.trial.unittest import SynchronousTestCase

from tests.documentation.example_project import example_project
from tests.support.documents import blocks
from tests.support.hypothesis_profiles import DEEP
from tests.support.processes.proxy_process import REPOSITORY, free_port
from tests.support.waiting import wait_until

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


class PackageTests(SynchronousTestCase):
    """What the page says to install."""

    def test_named(self) -> None:
        """It names each package that the Python files of the example import."""
        texts = [path.read_text(encoding="utf-8") for path in EXAMPLE.glob("*.py")]
        trees = [ast.walk(ast.parse(text)) for text in texts]
        imported = {
            name.partition(".")[0]
            for node in chain.from_iterable(trees)
            if isinstance(node, ast.Import | ast.ImportFrom)
            for name in (
                [node.module or ""]
                if isinstance(node, ast.ImportFrom)
                else [each.name for each in node.names]
            )
        }
        # The extra `testing` brings pytest.
        wanted = imported - sys.stdlib_module_names - {"trafficmock", "pytest"}
        page = PAGE.read_text(encoding="utf-8")
        self.assertIn("`pip install '.[testing]'`", page)
        self.assertIn(f"`pip install {' '.join(sorted(wanted))}`", page)


class RecordPageTests(SynchronousTestCase):
    """The example in ``docs/examples/record``."""

    def setUp(self) -> None:
        self.folder = Path(self.mktemp()).resolve() / "project"
        self.rates, self.quotes = free_port(), free_port()
        self.environment = {
            **example_project(EXAMPLE, self.folder),
            "RATES_PORT": str(self.rates),
            "QUOTES_PORT": str(self.quotes),
        }
        modules = self.folder / "node_modules"
        modules.mkdir()
        (modules / "trafficmock-playwright").symlink_to(REPOSITORY / "playwright")

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
            wait_until(lambda: _listens(port), f"what listens on {port}", seconds=60)
            yield
        finally:
            process.terminate()
            process.wait(30)

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


def _listens(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0
