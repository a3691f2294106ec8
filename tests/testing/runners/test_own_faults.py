"""A fault in a hook, fixture or report of trafficmock is an error of one test, never of the run."""

import re
import textwrap
from pathlib import Path

from twisted.trial.unittest import TestCase

from tests.testing.runs import LEAN, finish, lean_pytest

CONFTEST = """
import os

import pytest

import trafficmock.testing.unowned_requests as unowned
from trafficmock.testing.adapters import threaded_connection
from trafficmock.testing.adapters.pytest_errors import TestErrors
from trafficmock.testing.launch.application import Application
from trafficmock.testing.launch.pytest_applications import StartedApplications
from trafficmock.testing.reporting.run_recorder import RunRecorder

running = ""

def break_(owner, name):
    works = getattr(owner, name)
    def broken(*args, **named):
        if running == f"test_{name}" or name in os.environ.get("BREAK", "").split():
            raise RuntimeError(f"injected into {name}")
        return works(*args, **named)
    setattr(owner, name, broken)

for name in ("add_to", "raise_after_call", "end", "report", "raise_after_teardown"):
    break_(TestErrors, name)
break_(StartedApplications, "begin")
break_(Application, "new_output")
for name in ("test_ended", "offer", "end"):
    break_(RunRecorder, name)
break_(threaded_connection, "traffic")
break_(threaded_connection.ThreadedConnection, "refresh")
for name in ("collect", "fail_run", "write"):
    break_(unowned, name)

@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    global running
    running = item.name
"""

TESTS = """
import sys
import pytest

@pytest.fixture(scope="session")
def application(trafficmock_app):
    return trafficmock_app([sys.executable, "-c", "input()"])

NAMES = ("raise_after_call", "end", "report", "raise_after_teardown", "begin", "refresh")
FAILING = ("add_to", "new_output", "traffic", "test_ended", "offer")

def named(name, fails):
    def test(application, trafficmock):
        assert not fails, "by itself"
    return test

for each in NAMES:
    globals()[f"test_{each}"] = named(each, fails=False)
for each in FAILING:
    globals()[f"test_{each}"] = named(each, fails=True)

def test_last(application, trafficmock):
    pass
"""


class OwnFaultTests(TestCase):
    """pytest, with faults put into what trafficmock does around a test."""

    def setUp(self) -> None:
        self.place = Path(self.mktemp()).absolute()
        self.place.mkdir()
        (self.place / "conftest.py").write_text(CONFTEST)

    def ran(self, tests: str, *options: str, plugins: tuple[str, ...] = (), **extra: str) -> str:
        (self.place / "test_a.py").write_text(textwrap.dedent(tests))
        arguments = [*lean_pytest(*plugins), "--rootdir=.", "-rA", *options, "test_a.py"]
        ended = finish(*arguments, environment={**LEAN, **extra}, cwd=self.place)
        self.assertNotIn("INTERNALERROR", ended.stdout)
        self.status = ended.returncode
        return ended.stdout

    def check(self, said: str) -> None:
        ends = set(re.findall(r"^(PASSED|FAILED|ERROR) test_a.py::(\w+)", said, re.MULTILINE))
        failing = {f"test_{each}" for each in ("new_output", "traffic", "test_ended", "offer")}
        failing |= {"test_raise_after_call"}
        self.assertEqual({name for end, name in ends if end == "FAILED"}, failing, said)
        broken = {f"test_{each}" for each in ("end", "report", "raise_after_teardown", "begin")}
        broken |= {"test_refresh", "test_add_to"}
        self.assertEqual({name for end, name in ends if end == "ERROR"}, broken, said)
        self.assertIn(("PASSED", "test_last"), ends)
        self.assertIn("trafficmock failed to list the traffic of this test", said)
        self.assertIn("the trafficmock report is not complete: trafficmock failed to report", said)

    def test_each(self) -> None:
        """Each is the error of its own test, or of the report; all other tests run."""
        self.check(self.ran(TESTS, "--trafficmock-report=out"))

    def test_xdist(self) -> None:
        """So it is in the workers of pytest-xdist, none of which ends."""
        said = self.ran(TESTS, "-n2", "--trafficmock-report=out", plugins=("xdist",))
        self.check(said)

    def test_at_the_end(self) -> None:
        """Those at the end of the run are said there, and fail the run."""
        said = self.ran("def test_a(trafficmock): pass", BREAK="fail_run write collect")
        for name in ("fail_run", "write", "collect"):
            self.assertIn(f"RuntimeError: injected into {name}", said)
        self.assertEqual(self.status, 1, said)

    def test_lost_worker(self) -> None:
        """A worker of pytest-xdist that ends after its tests fails a strict run, and no other."""
        with (self.place / "conftest.py").open("a") as conftest:
            conftest.write(
                """
@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish():
    if "PYTEST_XDIST_WORKER" in os.environ:
        os._exit(0)
"""
            )
        tests = "def test_a(trafficmock): pass"
        once = ("-n1", "--max-worker-restart=0")
        said = self.ran(tests, *once, "--trafficmock-strict", plugins=("xdist",))
        self.assertIn("1 passed", said)
        self.assertIn("The worker gw0 of pytest-xdist ended before it could tell", said)
        self.assertEqual(self.status, 1, said)
        said = self.ran(tests, *once, plugins=("xdist",))
        self.assertNotIn("ended before it could tell", said)
        self.assertEqual(self.status, 0, said)

    def test_lone_surrogates(self) -> None:
        """A text that cannot be encoded ends no worker of pytest-xdist."""
        said = self.ran(
            """
            import pytest
            from urllib.request import ProxyHandler, build_opener

            @pytest.mark.parametrize("number", range(4))
            def test_wrong(trafficmock, trafficmock_proxy, number):
                def handler(route):
                    raise ValueError("\\ud800" if number == 1 else "plain")
                url = f"http://api{number}.test/"
                trafficmock.route(url, handler)
                opener = build_opener(ProxyHandler({"http": trafficmock_proxy.url}))
                with pytest.raises(OSError):
                    opener.open(url, timeout=10)
                assert number != 1
                trafficmock.take_errors()
            """,
            "-n2",
            plugins=("xdist",),
        )
        self.assertIn("3 passed", said)
        self.assertIn("ValueError: \\ud800", said)

    def test_lone_surrogates_of_a_test(self) -> None:
        """Nor does the error of a mock alone, or that of a test, in which such a text is."""
        said = self.ran(
            """
            import pytest
            from urllib.request import ProxyHandler, build_opener

            def test_mock(trafficmock, trafficmock_proxy):
                def handler(route):
                    raise ValueError("mock \\ud800")
                trafficmock.route("http://api.test/", handler)
                opener = build_opener(ProxyHandler({"http": trafficmock_proxy.url}))
                with pytest.raises(OSError):
                    opener.open("http://api.test/", timeout=10)

            @pytest.mark.parametrize("number", range(4))
            def test_itself(number):
                assert number != 1, "itself \\ud800"
            """,
            "-n2",
            plugins=("xdist",),
        )
        self.assertIn("2 failed, 3 passed", said)
        self.assertIn("ValueError: mock \\ud800", said)
        self.assertIn("AssertionError: itself \\ud800", said)

    def test_frames_of_plugins(self) -> None:
        """A fixture of ours that fails is not shown in the code of a plugin that called it."""
        said = self.ran(
            """
            import pytest

            @pytest.mark.asyncio
            async def test_waits(trafficmock): pass

            def test_plain(trafficmock): pass

            @pytest.fixture
            def own(request):
                return request.getfixturevalue("trafficmock")

            def test_own(own): pass
            """,
            "--trafficmock-proxy-url=http://127.0.0.1:1",
            plugins=("pytest_asyncio.plugin",),
        )
        self.assertIn("3 errors", said)
        found = re.findall("^E .*ConnectionLostError: no traffic", said, re.MULTILINE)
        self.assertEqual(len(found), 3, said)
        self.assertNotRegex(said, r"pytest_asyncio.plugin\.py:\d+: (\w+Error)?\n")
        self.assertIn('return request.getfixturevalue("trafficmock")', said)

    def test_reports_of_xdist(self) -> None:
        """What pytest's own reports read of a worker's results is what pytest made of them.

        The reason of a skip is a tuple, which the JUnit report and the short summary insist on.
        """
        said = self.ran(
            """
            import pytest

            @pytest.mark.parametrize("number", range(6))
            def test_a(trafficmock, number, record_property):
                record_property("number", number)
                if number % 3 == 0:
                    pytest.skip("meant")
                if number == 4:
                    pytest.xfail("expected")

            @pytest.mark.skip(reason="never")
            def test_b(): pass
            """,
            "-n2",
            "-ra",
            "--junitxml=junit.xml",
            plugins=("xdist",),
        )
        self.assertIn("3 passed, 3 skipped, 1 xfailed", said)
        self.assertIn("SKIPPED [2]", said)
        self.assertEqual(self.status, 0, said)
        junit = (self.place / "junit.xml").read_text(encoding="utf-8")
        self.assertEqual(junit.count("<testcase "), 7)

    INTERRUPTED = """
        import pytest
        from threading import Thread
        from urllib.request import ProxyHandler, build_opener

        def left_open(mocks, proxy):
            stream = mocks.stream("http://api.test/")
            opener = build_opener(ProxyHandler({"http": proxy.url}))
            def read():
                try:
                    opener.open("http://api.test/", timeout=10).read()
                except OSError:
                    pass
            Thread(target=read, daemon=True).start()
            stream.send("x")

        """

    def interrupted(self, rest: str, *options: str) -> str:
        said = self.ran(textwrap.dedent(self.INTERRUPTED) + textwrap.dedent(rest), *options)
        self.assertIn("errors in mocks, after the last test", said)
        self.assertIn("was open, so the answer was broken off", said)
        self.assertIn("trafficmock report: ", said)
        return said

    def test_interrupted(self) -> None:
        """A run that is interrupted in a test with an open stream ends as others that are."""
        said = self.interrupted(
            """
            def test_open(trafficmock, trafficmock_proxy):
                left_open(trafficmock, trafficmock_proxy)
                raise KeyboardInterrupt
            """,
            "--trafficmock-report=out",
        )
        self.assertIn("KeyboardInterrupt", said)
        self.assertEqual(self.status, 2, said)

    def test_exit_with_shared_routes(self) -> None:
        """So does one that ``pytest.exit`` ends, with routes that all tests share."""
        said = self.interrupted(
            """
            def test_open(trafficmock_shared, trafficmock_proxy):
                left_open(trafficmock_shared, trafficmock_proxy)
                pytest.exit("enough")
            """,
            "--trafficmock-report=out",
        )
        self.assertIn("Exit: enough", said)
        self.assertEqual(self.status, 2, said)

    def test_open_stream(self) -> None:
        """A test that leaves a stream open fails with the place of the route; the others run."""
        said = self.ran(
            """
            from threading import Thread
            from urllib.request import ProxyHandler, build_opener

            def test_open(trafficmock, trafficmock_proxy):
                stream = trafficmock.stream("http://api.test/")
                opener = build_opener(ProxyHandler({"http": trafficmock_proxy.url}))
                def read():
                    try:
                        opener.open("http://api.test/", timeout=10).read()
                    except OSError:
                        pass
                Thread(target=read, daemon=True).start()
                stream.send("x")

            def test_last(trafficmock):
                pass
            """
        )
        self.assertIn("PASSED test_a.py::test_last", said)
        self.assertIn("ERROR test_a.py::test_open", said)
        self.assertIn("ended while its streamed answer (test_a.py:6)", said)


CASES = """
import sys
from trafficmock.testing import {module} as runner
from trafficmock.testing.adapters import {connection} as connection
from trafficmock.testing.reporting.run_recorder import RunRecorder

def broken(*args, **named):
    raise RuntimeError("injected")

class Tests(runner.TestCase):
    def test_a_ended(self):
        RunRecorder.test_ended, self.works = broken, RunRecorder.test_ended
        self.fail("by itself")

    def test_b_traffic(self):
        connection.traffic = broken
        self.fail("by itself")

    def test_c_lost(self):
        self.trafficmock._session.finish = broken

    def test_d_last(self):
        pass
"""


class CaseFaultTests(TestCase):
    """The same for the test cases of unittest and of trial."""

    def ran(self, module: str, connection: str, *command: str, **extra: str) -> str:
        place = Path(self.mktemp()).absolute()
        place.mkdir()
        (place / "cases.py").write_text(CASES.format(module=module, connection=connection))
        environment = {"TRAFFICMOCK_REPORT": "out", **extra}
        ended = finish(*command, "cases.Tests", environment=environment, cwd=place, path=str(place))
        self.place = place
        return ended.stdout

    def test_unittest(self) -> None:
        """The tests of unittest all run; each error is that of its test."""
        said = self.ran("unittest", "threaded_connection", "unittest", "-v")
        self.assertRegex(said, r"Ran 4 tests in .*\n\nFAILED \(failures=2, errors=1\)")
        self.assertIn("trafficmock failed to list the traffic of this test", said)
        self.assertIn("trafficmock failed to report how a test has ended", self.data())

    def test_trial(self) -> None:
        """So they do under trial, and a connection that is left open fails no later test."""
        said = self.ran("trial", "twisted_connection", "twisted.trial")
        self.assertRegex(said, r"Ran 4 tests in .*\n\nFAILED \(failures=2, errors=1, successes=1\)")
        self.assertIn("trafficmock failed to list the traffic of this test", said)
        self.assertIn("trafficmock failed to report how a test has ended", self.data())

    def test_setting(self) -> None:
        """A wrong setting of the report is an error of each test, and says what is wrong."""
        said = self.ran(
            "unittest", "threaded_connection", "unittest", TRAFFICMOCK_REPORT_MODE="sometimes"
        )
        self.assertIn("Ran 4 tests", said)
        self.assertIn("sometimes", said)

    def data(self) -> str:
        (path,) = (self.place / "out" / "data").glob("*.jsonl")
        return path.read_text()
