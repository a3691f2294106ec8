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
        """It has the failing test's traffic, routes and error, and what no test owned."""
        said = self.ran(
            """
            def test_passes(trafficmock, trafficmock_proxy):
                trafficmock.mock("http://api.test/", json={})
                call(trafficmock_proxy, "http://api.test/")

            def test_fails(trafficmock, trafficmock_proxy):
                trafficmock.mock("http://api.test/", json={"price": 1})
                trafficmock.mock("http://api.test/never", json={})
                call(trafficmock_proxy, "http://api.test/", b"the body")
                try:
                    call(trafficmock_proxy, "http://127.0.0.1:9/gone")
                except OSError:
                    pass
                assert "a" == "b"
            """
        )
        self.assertIn(f"trafficmock report: {self.place}/out/index.html", said)
        document = self.document()
        self.assertEqual(document["counts"], {"failed": 1, "passed": 1})
        (test,) = document["tests"]
        self.assertEqual((test["title"], test["file"]), ("test_a.py::test_fails", "test_a.py"))
        self.assertIn("def test_fails", CALLS + (self.place / "test_a.py").read_text())
        line = (self.place / "test_a.py").read_text().splitlines()[test["line"] - 1]
        self.assertIn("def test_fails", line)
        self.assertIn("AssertionError", test["error"])
        met = [(each["matcher"]["urlGlob"], each["requests"]) for each in test["routes"]]
        self.assertEqual(met, [("http://api.test/", 1), ("http://api.test/never", 0)])
        (request,) = test["requests"]
        self.assertEqual(request["outcome"]["response"]["status"], 200)
        (left,) = document["unowned"]["requests"]
        self.assertEqual(left["request"]["url"], "http://127.0.0.1:9/gone")
        self.assertEqual(document["totals"]["requests"]["total"], 3)
        har = json.loads((self.place / "out" / test["har"]).read_text())
        self.assertEqual(har["log"]["entries"][0]["request"]["postData"]["text"], "the body")

    def test_passing(self) -> None:
        """Passing tests are not in it, but counted; and what left is there all the same."""
        self.ran(
            """
            def test_passes(trafficmock, trafficmock_proxy):
                try:
                    call(trafficmock_proxy, "http://127.0.0.1:9/charge")
                except OSError:
                    pass
            """
        )
        document = self.document()
        self.assertEqual((document["tests"], document["counts"]), ([], {"passed": 1}))
        (left,) = document["unowned"]["requests"]
        self.assertEqual(left["request"]["url"], "http://127.0.0.1:9/charge")

    def test_mode(self) -> None:
        """With the mode ``on`` all tests are in it; a new run replaces the old one."""
        passes = "def test_passes(trafficmock): pass"
        self.ran(passes, "--trafficmock-report-mode=on")
        self.assertEqual(len(self.document()["tests"]), 1)
        self.ran(passes, "--trafficmock-report-mode=on")
        document = self.document()
        self.assertEqual((len(document["tests"]), len(document["processes"])), (1, 1))

    def test_variables(self) -> None:
        """The variables do the same; ``off`` writes nothing."""
        fails = "def test_fails(trafficmock): assert False"
        self.ran(fails, TRAFFICMOCK_REPORT="of-variable")
        self.assertEqual(len(self.document("of-variable")["tests"]), 1)
        self.ran(fails, TRAFFICMOCK_REPORT="off", TRAFFICMOCK_REPORT_MODE="off")
        self.assertFalse((self.place / "off").exists())

    def test_wrong(self) -> None:
        """A wrong mode, and a directory that cannot be written, end the run before it begins."""
        said = self.ran("def test_passes(): pass", "--trafficmock-report-mode=always")
        self.assertIn("ERROR: the mode of a report is retain-on-failure, on, off", said)
        (self.place / "out").write_text("a file")
        said = self.ran("def test_passes(): pass")
        self.assertIn("ERROR: the report cannot be written: ", said)
        self.assertNotIn("Traceback", said)

    def test_own_proxy(self) -> None:
        """A test that starts its own proxy is in it, also if it fails after its block."""
        self.ran(
            """
            def test_fails():
                with own_proxy() as proxy:
                    with sync.mocks(proxy.url, title="mine") as mocks:
                        mocks.mock("http://api.test/", json={})
                        call(proxy, "http://api.test/")
                assert "a" == "b"

            def test_passes():
                with own_proxy() as proxy, sync.mocks(proxy.url):
                    pass
            """
        )
        (test,) = self.document()["tests"]
        self.assertEqual(test["title"], "test_a.py::test_fails")
        self.assertEqual(
            [each["request"]["url"] for each in test["requests"]], ["http://api.test/"]
        )

    def test_teardown(self) -> None:
        """A test that fails in another fixture's teardown is in it with its traffic."""
        self.ran(
            """
            import pytest

            @pytest.fixture
            def breaks():
                yield
                raise OSError("broken")

            def test_fails(breaks, trafficmock, trafficmock_proxy):
                trafficmock.mock("http://api.test/", json={})
                call(trafficmock_proxy, "http://api.test/")

            def test_passes(trafficmock):
                pass
            """
        )
        (test,) = self.document()["tests"]
        self.assertEqual(len(test["requests"]), 1)
        self.assertIn("broken", test["error"])

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
