"""How tests that use the mocks end under pytest, unittest and trial: each as a child process."""

import functools
import os
import re
import subprocess
import sys
import urllib.error
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tests.support.hypothesis_profiles import DEEP
from tests.support.processes.tested_proxy import start_proxy
from tests.support.processes.trial_workers import made_once
from tests.testing import runs
from tests.testing.row_context import ask
from tests.testing.shared_app import shared_app

SAMPLES = Path(__file__).parent / "samples"


def run(*arguments: str, proxy: str | None = None, **more: str) -> str:
    """Run a Python module as a child; give what it printed."""
    if proxy is not None:
        node_app = shared_app()
        more |= {"SAMPLE_APP": node_app.app_url, "SAMPLE_UPSTREAM": node_app.upstream_url}
        more |= {"TRAFFICMOCK_PROXY_URL": proxy}
    return runs.run(*arguments, environment=more)


def run_pytest(
    notes: str,
    *arguments: str,
    proxy: str | None = None,
    sample: str = "with_pytest.py",
    **more: str,
) -> str:
    where = str(SAMPLES / sample)
    pytest = runs.lean_pytest("asyncio", "xdist")
    more |= {**runs.LEAN, "SAMPLE_NOTES": notes}
    return run(*pytest, where, *arguments, proxy=proxy, **more)


class PytestTests(SynchronousTestCase):
    """The plugin."""

    def output(self) -> str:
        return pytest_output()

    def test_outcomes(self) -> None:
        """Plain tests and coroutines get their mocks and base URL; what is left fails a test."""
        self.assertIn("2 failed, 5 passed, 4 deselected in", self.output())

    def test_traffic_of_a_failure(self) -> None:
        """A failing test's report lists what it owned, what passed through, and idle routes."""
        _, _, section = self.output().partition("traffic of this test")
        self.assertRegex(section, r"are connected:\n  app, by the Node agent, since \d\d:\d\d:\d\d")
        self.assertRegex(section, r"by this test: 1\n  GET \S+/json/owned, 200, client app")
        self.assertRegex(section, r"local host: 2\n  GET \S+/json/passed, 200, client app")
        refused = r"/refused, no response \(.*ECONNREFUSED 127.0.0.1:1\), client app"
        self.assertRegex(section, refused)
        idle = r"no request met the route \S+/json/unmet'?: handler test_that_fails\.<locals>\S+ \("
        self.assertRegex(section, idle)

    def test_group(self) -> None:
        """What is left is raised as a group that names the test, the handler and the line."""
        output = self.output()
        self.assertIn(
            "::test_whose_handler_fails: ValueError: in the handler (1 sub-exception)", output
        )
        self.assertRegex(output, r"in handler test_whose_handler_fails.<locals>.broken \(with_pyt")
        self.assertIn('raise ValueError("in the handler")', output)

    def test_one_outcome(self) -> None:
        """What handlers raise is in the one failure of the test that they ran for."""
        proxy = shared_app().proxy.url
        output = run_pytest("/nowhere", sample="with_errors.py", proxy=proxy)
        self.assertIn("3 failed, 2 passed, 1 xfailed, 1 error in", output)
        title = re.compile(r"^_{3,} (?:ERROR at teardown of )?(\w+) _{3,}$", re.MULTILINE)
        parts = title.split(output)
        texts = dict(zip(parts[1::2], parts[2::2], strict=True))
        for test in ("test_of_a_shared_handler", "test_of_a_teardown"):
            self.assertIn("share (trafficmock_shared)", texts[test])
            self.assertEqual(texts[test].count("ValueError: in the handler\n"), 1)
        for test, section, error in (
            ("test_that_fails_too", "", "\nValueError: in the handler\n"),
            ("test_that_holds_a_route", ", teardown", "with_errors.py:37) decided about GET "),
        ):
            _, _, errors = texts[test].partition(f" errors in the mocks of this test{section} -")
            self.assertIn(error, errors)
            self.assertEqual(texts[test].count("- traffic of this test -"), 1)

    def test_ending_predicates(self) -> None:
        """What a predicate raises fails its test alone; the run ends where pytest ends it."""
        proxy = shared_app().proxy.url
        output = run_pytest("/nowhere", sample="with_ending_predicates.py", proxy=proxy)
        # Newer versions of pytest take a group of skips for a skip.
        self.assertRegex(output, "(4 failed, 1 passed, 2 skipped|6 failed, 1 passed) in")
        self.assertIn("Exit: enough", output)
        for error in ("Failed: not this one", "SystemExit: not now"):
            self.assertEqual(output.count(f": {error} (1 sub-exception)\n"), 2, error)
        self.assertIn("in the URL predicate predicate fails (with_ending_predicates.py:", output)

    def test_last_test(self) -> None:
        """The traffic is reported too when the connection is closed before the report is made."""
        proxy = shared_app().proxy.url
        output = run_pytest("/nowhere", "-k", "test_whose_handler_fails", proxy=proxy)
        _, _, section = output.partition("traffic of this test")
        self.assertRegex(section, r"decided by this test: 1\n  GET \S+/json/broken")

    def test_one_proxy_for_all_workers(self) -> None:
        """Without a proxy given one is started, for all workers, and stopped at the end."""
        notes = Path(self.mktemp()).resolve()
        notes.mkdir()
        output = run_pytest(str(notes), "-n", "2", "-k", "test_proxy")
        self.assertIn("4 passed", output)
        written = {note.name: note.read_text() for note in notes.iterdir()}
        self.assertEqual(len({name.partition("-")[0] for name in written}), 2, written)
        (url_and_pid,) = set(written.values())
        with self.assertRaises(urllib.error.URLError):
            ask(url_and_pid.split()[0] + "/health")

    def test_parallel(self) -> None:
        """Tests side by side on one proxy, scoped by client id, do not see each other's mocks."""
        workers, count, runs = (8, 400, 20) if DEEP else (2, 4, 1)
        proxy = shared_app().proxy.url
        for _ in range(runs):
            output = run_pytest(
                "/nowhere",
                *("-n", str(workers), "-q"),
                proxy=proxy,
                sample="in_parallel.py",
                SAMPLE_COUNT=str(count),
            )
            self.assertIn(f"{count} passed", output)

    def test_options(self) -> None:
        """The option, the ini file and the environment say which proxy, in this order."""
        for arguments in (
            ("--trafficmock-proxy-url", "http://127.0.0.1:1"),
            ("-o", "trafficmock_proxy_url=http://127.0.0.1:1"),
        ):
            proxy = shared_app().proxy.url
            output = run_pytest(self.mktemp(), "-k", "test_plain", *arguments, proxy=proxy)
            self.assertIn("no trafficmock proxy at http://127.0.0.1:1", output)

    def test_token(self) -> None:
        """The token comes from the same places, whichever of them the address comes from."""
        proxy = start_proxy(["--token", "right"])
        self.addCleanup(proxy.stop)
        for environment, arguments in (
            ({"TRAFFICMOCK_TOKEN": "right"}, ("--trafficmock-proxy-url", proxy.url)),
            ({"TRAFFICMOCK_PROXY_URL": proxy.url}, ("-o", "trafficmock_token=right")),
            (
                {"TRAFFICMOCK_PROXY_URL": proxy.url, "TRAFFICMOCK_TOKEN": "wrong"},
                ("--trafficmock-token", "right"),
            ),
        ):
            notes = Path(self.mktemp()).resolve()
            notes.mkdir()
            output = run_pytest(str(notes), "-k", "test_proxy", *arguments, **environment)
            self.assertIn("4 passed", output)

    def test_cost_for_others(self) -> None:
        """A run whose tests have nothing to do with mocks imports next to nothing of ours."""
        folder = Path(self.mktemp()).resolve()
        folder.mkdir()
        test = folder / "test_others.py"
        test.write_text(
            "import atexit, sys\n"
            "def test_others(tmp_path): pass\n"
            "said = lambda: print(sorted(each for each in sys.modules if 'trafficmock' in each))\n"
            "atexit.register(said)\n"
        )
        testing = (
            *("pytest_plugin", "reporting", "reporting.guard", "reporting.pytest_problems"),
            *("reporting.report_options", "shared_directory", "strict_marks", "unowned_requests"),
        )
        ours = ["", ".testing", *(f".testing.{each}" for each in testing)]
        output = run(*runs.lean_pytest(), str(test), **runs.LEAN)
        self.assertIn(str([f"trafficmock{each}" for each in ours]), output)

    def test_token_of_a_started_proxy(self) -> None:
        """A proxy that is started for the tests asks for the token that they have."""
        notes = Path(self.mktemp()).resolve()
        notes.mkdir()
        output = run_pytest(str(notes), "-k", "test_proxy", TRAFFICMOCK_TOKEN="secret")
        self.assertIn("4 passed", output)
        self.assertIn("secret", (notes / "main-0").read_text())


@functools.cache
def pytest_output() -> str:
    return made_once(__name__, _pytest_output)


def _pytest_output() -> str:
    proxy = shared_app().proxy.url
    return run_pytest("/nowhere", "-k", "not test_proxy", proxy=proxy)


class UnittestTests(SynchronousTestCase):
    """The mixin for unittest."""

    def test_outcomes(self) -> None:
        """What a handler raised, and the traffic around a test that fails, are shown."""
        output = run(
            "unittest", "tests.testing.runners.samples.with_unittest", proxy=shared_app().proxy.url
        )
        self.assertIn("Ran 4 tests", output)
        self.assertIn("FAILED (failures=1, errors=1, skipped=1)", output)
        self.assertIn(
            "ExceptionGroup: errors in the mocks of tests.testing.runners.samples", output
        )
        self.assertIn("ValueError: in the handler", output)
        _, _, report = output.partition("AssertionError: 1 != 2\n\ntraffic of this test:\n")
        self.assertIn("  app, by the Node agent, since", report)
        self.assertRegex(report, r"local host: 1\n  GET \S+/json/own, 200, client app")


class TrialTests(SynchronousTestCase):
    """The test case for trial."""

    def test_outcomes(self) -> None:
        """Coroutines and Deferreds pass; each error of a handler is shown; nothing is left."""
        output = run(
            "twisted.trial",
            f"--temp-directory={Path(self.mktemp()).resolve()}",
            "tests.testing.runners.samples.with_trial",
            proxy=shared_app().proxy.url,
        )
        self.assertIn("Ran 6 tests", output)
        self.assertIn("FAILED (skips=1, failures=1, errors=3, successes=2)", output)
        self.assertNotIn("Reactor was unclean", output)
        self.assertNotIn("ExceptionGroup", output)
        error = output.partition("builtins.ValueError: in the handler\n")
        self.assertIn('raise ValueError("in the handler")\n', error[0])
        where = r"in handler \S+test_handler_fails\S+ \(with_trial.py:\d+\), registered for '\*"
        self.assertRegex(error[2], where)
        for number in (0, 1):
            self.assertIn(f"builtins.KeyError: 'handler {number}'", output)
        report = output.partition("FailTest: 1 != 2\n")[2]
        self.assertRegex(
            report, r"traffic of this test:\nApplications that are connected:\n  app, by"
        )
        self.assertRegex(report, r"local host: 1\n  GET \S+/json/trial, 200, client app")

    def test_no_reactor(self) -> None:
        """Importing any adapter installs no reactor."""
        code = (
            "import sys; import trafficmock.testing.trial, trafficmock.testing.tx;"
            "sys.exit('twisted.internet.reactor' in sys.modules)"
        )
        env = {**os.environ, "PYTHONPATH": str(runs.REPOSITORY)}
        subprocess.run([sys.executable, "-c", code], env=env, check=True)

    def test_lean(self) -> None:
        """The blocking and asyncio adapters do without Twisted."""
        code = (
            "import sys; import trafficmock.testing.sync, trafficmock.testing.aio;"
            "sys.exit('twisted' in sys.modules)"
        )
        env = {**os.environ, "PYTHONPATH": str(runs.REPOSITORY)}
        subprocess.run([sys.executable, "-c", code], env=env, check=True)


class LaunchTests(SynchronousTestCase):
    """A proxy that tests start for themselves."""

    def test_started_and_stopped(self) -> None:
        """It serves with the token that it was given, and is gone after ``stop``."""
        from trafficmock.testing.adapters.threaded_connection import ThreadedConnection  # noqa: PLC0415
        from trafficmock.testing.launch.proxy_process import start_proxy  # noqa: PLC0415 - beside its one use

        self.patch(os, "environ", {**os.environ, "PYTHONPATH": str(runs.REPOSITORY)})
        proxy = start_proxy("secret")
        self.addCleanup(proxy.stop)
        ThreadedConnection(proxy.url, token="secret").close()
        with self.assertRaisesRegex(Exception, "token"):
            ThreadedConnection(proxy.url, token="wrong")
        proxy.stop()
        with self.assertRaisesRegex(Exception, "no trafficmock proxy"):
            ThreadedConnection(proxy.url, token="secret")
