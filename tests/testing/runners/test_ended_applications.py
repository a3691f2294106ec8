"""An application that ends while the tests run."""

import re
import textwrap
from pathlib import Path

from twisted.trial.unittest import TestCase

from tests.testing.runs import LEAN, lean_pytest, run

CONFTEST = """
import sys
import pytest

APP = '''
import http.server, os, sys

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/die":
            print("giving up", flush=True)
            os._exit(3)
        self.send_response(200)
        self.end_headers()

http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
'''

@pytest.fixture(scope="session")
def shop(trafficmock_app):
    return trafficmock_app(
        [sys.executable, "-c", APP, "{port}"], ready="http://127.0.0.1:{port}", client_id="shop"
    ).url

@pytest.fixture(scope="session")
def migrated(trafficmock_app):
    trafficmock_app([sys.executable, "-c", "pass"])

@pytest.fixture
def own(trafficmock_app):
    return trafficmock_app([sys.executable, "-c", APP, "{port}"], ready="http://127.0.0.1:{port}").url
"""

TESTS = """
import time
from urllib.request import urlopen

def ask(url):
    try:
        urlopen(url, timeout=5).read()
    finally:
        time.sleep(0.2)

def test_works(shop, migrated):
    ask(shop)

def test_own(own):
    try:
        ask(own + "/die")
    except OSError:
        pass

def test_dies(shop):
    ask(shop + "/die")

def test_later(shop):
    ask(shop)

def test_other(migrated):
    pass

def test_own_again(own):
    ask(own)

def test_latest(shop):
    ask(shop)
"""


class EndedApplicationTests(TestCase):
    """``trafficmock_app``."""

    def ran(self, *options: str, plugins: tuple[str, ...] = (), tests: str = TESTS) -> str:
        place = Path(self.mktemp()).absolute()
        place.mkdir()
        (place / "conftest.py").write_text(CONFTEST)
        (place / "test_a.py").write_text(textwrap.dedent(tests))
        command = [*lean_pytest(*plugins), "--rootdir=.", "-rA", *options]
        return run(*command, environment={**LEAN, "XDG_DATA_HOME": str(place)}, cwd=place)

    def check(self, said: str) -> None:
        ends = {
            name: end for end, name in re.findall(r"^(\w+) test_a.py::(\w+)", said, re.MULTILINE)
        }
        passed = {"test_works", "test_own", "test_other", "test_own_again"}
        self.assertEqual({name for name, end in ends.items() if end == "PASSED"}, passed, said)
        self.assertEqual(ends["test_dies"], "FAILED")
        self.assertEqual((ends["test_later"], ends["test_latest"]), ("ERROR", "ERROR"))
        whole = (
            "the application has ended with status 3 during test_a.py::test_dies. The last lines"
        )
        self.assertEqual(said.count(whole), 1, said)
        self.assertIn("giving up", said)
        short = "has ended with status 3 during test_a.py::test_dies: that test, or the one after"
        self.assertGreaterEqual(said.count(short), 2, said)

    def test_run(self) -> None:
        """It is said once, and the tests that use its fixture fail at once; all others run.

        One that a test started for itself, and one that only does something, fail no other test.
        """
        self.check(self.ran())

    def test_shared(self) -> None:
        """So it is with an application that the workers of pytest-xdist share."""
        self.check(self.ran("-n1", plugins=("xdist",)))

    LAST = """
    import time
    from urllib.request import urlopen
    import pytest

    def test_last(shop):
        with pytest.raises(OSError):
            urlopen(shop + "/die", timeout=5)
        time.sleep(0.2)
    """

    def test_last(self) -> None:
        """One that ended in the last test is named at the end of the run, which passes."""
        said = self.ran(tests=self.LAST)
        self.assertIn("1 passed", said)
        self.assertIn("with status 3 during test_a.py::test_last. The last lines", said)
        self.assertIn("giving up", said)

    def test_last_shared(self) -> None:
        """So it is under pytest-xdist."""
        said = self.ran("-n1", plugins=("xdist",), tests=self.LAST)
        self.assertIn("1 passed", said)
        self.assertIn("with status 3 during test_a.py::test_last. The last lines", said)

    def test_first(self) -> None:
        """One that ended in the test that started it fails those after it by that test's name."""
        said = self.ran(tests=self.LAST + "\n    def test_later(shop): pass")
        self.assertIn("ERROR test_a.py::test_later", said)
        self.assertIn("with status 3 during test_a.py::test_last. The last lines", said)
