"""The report of a pytest run: what a team keeps of a job."""

import json
import textwrap
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from twisted.trial.unittest import TestCase

from tests.report.test_run_document import SCHEMA
from tests.testing.runs import LEAN, lean_pytest, run

CALLS = """
from contextlib import contextmanager
from urllib.request import ProxyHandler, Request, build_opener

from trafficmock.testing import sync
from trafficmock.testing.launch import start_proxy


@contextmanager
def own_proxy():
    proxy = start_proxy()
    yield proxy
    proxy.stop()


def call(proxy, url, data=None):
    opener = build_opener(ProxyHandler({"http": proxy.url}))
    return opener.open(Request(url, data=data), timeout=10).read()
"""

RETRIES = """
from _pytest.runner import runtestprotocol

def pytest_runtest_protocol(item, nextitem):
    for _ in range(3):
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
        if not any(each.failed for each in reports):
            break
        item._initrequest()  # as pytest-rerunfailures does
    return True
"""


class PytestReportTests(TestCase):
    """``pytest --trafficmock-report``."""

    def setUp(self) -> None:
        self.place = Path(self.mktemp()).absolute()
        self.place.mkdir()

    def ran(self, tests: str, *options: str, plugins: tuple[str, ...] = (), **extra: str) -> str:
        """Run tests with a report in ``out``; give what pytest printed."""
        (self.place / "test_a.py").write_text(CALLS + textwrap.dedent(tests))
        report = () if extra else ("--trafficmock-report=out",)
        arguments = [*lean_pytest(*plugins), *report, *options, "test_a.py"]
        return run(*arguments, environment={**LEAN, **extra}, cwd=self.place)

    def document(self, directory: str = "out") -> dict[str, Any]:
        document: dict[str, Any] = json.loads((self.place / directory / "run.json").read_text())
        Draft202012Validator(SCHEMA).validate(document)
        return document

    def test_failing(self) -> None:
        """It has the traffic, routes and errors of tests that failed, and what no test owned.

        So it is with a test that fails in the teardown of another fixture, and with one that starts
        its own proxy and fails after its block. Passing tests are counted.
        """
        said = self.ran(
            """
            import pytest

            @pytest.fixture
            def breaks():
                yield
                raise OSError("broken")

            def test_passes(trafficmock, trafficmock_proxy):
                trafficmock.mock("http://api.test/", json={})
                call(trafficmock_proxy, "http://api.test/")

            def test_fails(trafficmock, trafficmock_proxy):
                trafficmock.mock("http://api.test/", json={"price": 1})
                trafficmock.mock("http://api.test/never", json={})
                call(trafficmock_proxy, "http://api.test/", b"the body")
                assert "a" == "b"

            def test_breaks(breaks, trafficmock, trafficmock_proxy):
                trafficmock.mock("http://api.test/", json={})
                call(trafficmock_proxy, "http://api.test/")

            def test_own_proxy():
                with own_proxy() as proxy:
                    with sync.mocks(proxy.url, title="mine") as mocks:
                        mocks.mock("http://own.test/", json={})
                        call(proxy, "http://own.test/")
                assert "a" == "b"

            def test_leaks(trafficmock, trafficmock_proxy):
                try:
                    call(trafficmock_proxy, "http://127.0.0.1:9/charge")
                except OSError:
                    pass
            """
        )
        self.assertIn(f"trafficmock report: {self.place}/out/index.html", said)
        document = self.document()
        tests = {test["title"].partition("::")[2]: test for test in document["tests"]}
        self.assertEqual([*tests], ["test_fails", "test_breaks", "test_own_proxy"])
        test = tests["test_fails"]
        line = (self.place / Path(test["file"]).name).read_text().splitlines()[test["line"] - 1]
        self.assertIn("def test_fails", line)
        self.assertIn("AssertionError", test["error"])
        met = [(each["matcher"]["urlGlob"], each["requests"]) for each in test["routes"]]
        self.assertEqual(met, [("http://api.test/", 1), ("http://api.test/never", 0)])
        (request,) = test["requests"]
        self.assertEqual(request["outcome"]["response"]["status"], 200)
        # A report is read on another machine than that of the run.
        self.assertEqual(request["path"], test["file"])
        self.assertFalse(Path(test["file"]).is_absolute())
        har = json.loads((self.place / "out" / test["har"]).read_text())
        self.assertEqual(har["log"]["entries"][0]["request"]["postData"]["text"], "the body")
        self.assertEqual(len(tests["test_breaks"]["requests"]), 1)
        self.assertIn("broken", tests["test_breaks"]["error"])
        (own,) = tests["test_own_proxy"]["requests"]
        self.assertEqual(own["request"]["url"], "http://own.test/")
        (left,) = document["unowned"]["requests"]
        self.assertEqual(left["request"]["url"], "http://127.0.0.1:9/charge")
        self.assertEqual(document["counts"], {"failed": 3, "passed": 2})
        self.assertEqual(document["totals"]["requests"]["total"], 5)

    def test_sections(self) -> None:
        """It has what the terminal has of a failure: errors of mocks, output, what was captured."""
        self.ran(
            """
            import sys
            import pytest

            @pytest.fixture
            def breaks():
                yield
                raise OSError("broken in the teardown")

            def test_fails(trafficmock, trafficmock_proxy, trafficmock_app, breaks):
                code = "import time; print('failed to boot, password=hunter2x'); time.sleep(60)"
                shop = trafficmock_app([sys.executable, "-c", code], client_id="shop")
                def broken(route):
                    raise ValueError("in the handler")
                trafficmock.route("http://api.test/", broken)
                while "boot" not in shop.output():
                    pass
                print("printed")
                try:
                    call(trafficmock_proxy, "http://api.test/")
                except OSError:
                    pass
                assert "a" == "b"
            """
        )
        (test,) = self.document()["tests"]
        self.assertIn("AssertionError", test["error"])
        self.assertIn("broken in the teardown", test["error"])
        sections = {each["title"]: each["text"] for each in test["sections"]}
        self.assertIn("in the handler", sections["errors in the mocks of this test"])
        self.assertIn("failed to boot", sections["output of shop during this test"])
        self.assertEqual(sections["Captured stdout call"], "printed\n")
        self.assertNotIn("hunter2x", str(test["sections"]))
        page = (self.place / "out" / "index.html").read_text()
        self.assertIn("failed to boot", page)

    def test_mode(self) -> None:
        """With the mode ``on`` all tests are in it; a new run replaces the old one."""
        passes = "def test_passes(trafficmock): pass"
        self.ran(passes, TRAFFICMOCK_REPORT="out", TRAFFICMOCK_REPORT_MODE="on")
        self.ran(passes, "--trafficmock-report-mode=on")
        document = self.document()
        self.assertEqual((len(document["tests"]), len(document["processes"])), (1, 1))

    def test_retries(self) -> None:
        """Each run that failed is in it, with its number; the last one counts."""
        (self.place / "conftest.py").write_text(RETRIES)
        self.ran(
            """
            runs = []

            def test_flaky(trafficmock):
                runs.append(1)
                assert len(runs) == 3

            def test_passes(trafficmock):
                pass
            """
        )
        document = self.document()
        self.assertEqual(document["counts"], {"passed": 2})
        self.assertEqual([test.get("retry") for test in document["tests"]], [None, 1])

    def test_wrong(self) -> None:
        """A directory that cannot be written ends the run before it begins."""
        (self.place / "out").write_text("a file")
        said = self.ran("def test_passes(): pass")
        self.assertIn("ERROR: the report cannot be written: ", said)
        self.assertNotIn("Traceback", said)

    def test_lost_proxy(self) -> None:
        """If the proxy is gone, the run ends as before, and the report says what is missing."""
        said = self.ran(
            """
            import os, signal

            def test_fails(trafficmock, trafficmock_proxy):
                trafficmock.mock("http://api.test/", json={})
                os.kill(trafficmock_proxy.pid, signal.SIGKILL)
                assert "a" == "b"
            """
        )
        self.assertIn("the trafficmock report is not complete: lost the connection", said)
        document = self.document()
        (test,) = document["tests"]
        self.assertIn("lost the connection", test["missing"])
        self.assertEqual(len(test["routes"]), 1)
        self.assertIn("lost the connection", document["processes"][0]["problem"])

    def test_parallel(self) -> None:
        """Workers of xdist write one report."""
        self.ran(
            """
            import pytest

            @pytest.mark.parametrize("number", range(6))
            def test_fails(trafficmock, trafficmock_proxy, number):
                url = f"http://api.test/{number}"
                trafficmock.mock(url, json={})
                call(trafficmock_proxy, url)
                assert number % 2
            """,
            "-n2",
            plugins=("xdist",),
        )
        document = self.document()
        self.assertEqual(document["counts"], {"failed": 3, "passed": 3})
        self.assertEqual(len(document["tests"]), 3)
        self.assertEqual({each["worker"] for each in document["processes"]}, {"gw0", "gw1"})
        self.assertEqual(document["totals"]["requests"]["total"], 6)
