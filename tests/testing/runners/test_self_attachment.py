"""Tests of applications that run in the process of the tests, which the option attaches."""

import shutil
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tests.support.hypothesis_profiles import DEEP
from tests.testing import runs

SAMPLES = "tests.testing.runners.samples"
EXAMPLE = runs.REPOSITORY / "docs" / "examples" / "in-process"

NAMED = """
from urllib.request import urlopen


def test_name(trafficmock):
    trafficmock.mock("http://prices.example/", body="3", client_id="shop")
    assert urlopen("http://prices.example/").read() == b"3"
"""


OWN_CALLS = """
import sys
from urllib.request import urlopen

import pytest

@pytest.fixture(scope="session")
def store(trafficmock_app):
    command = [sys.executable, "-m", "http.server", "{port}", "--bind", "127.0.0.1"]
    return trafficmock_app(command, ready="http://127.0.0.1:{port}/").url

def test_recorded(store, trafficmock):
    # Nothing answers what the test sends to its application but the application.
    trafficmock.route_from_har("calls.har", mode="once", update_content="embed")
    assert b"test_own" in urlopen(store).read()
    assert [each.url for each in trafficmock.requests()] == [store]

def test_replayed(store, trafficmock):
    trafficmock.route_from_har("calls.har", mode="once", update_content="embed")
    assert b"test_own" in urlopen(store).read()

def test_mocked(store, trafficmock):
    trafficmock.mock("**/*", body="mocked")
    assert b"test_own" in urlopen(store).read()
    assert urlopen("http://third.example/").read() == b"mocked"

def test_named(store, trafficmock):
    trafficmock.mock(f"{store}named", body="mocked")
    assert urlopen(f"{store}named").read() == b"mocked"

def test_unmet(store, trafficmock):
    trafficmock.mock("**/", body="mocked", required=True)
    urlopen(store).read()
"""


class SelfAttachmentTests(SynchronousTestCase):
    """Each runner."""

    def setUp(self) -> None:
        self.folder = Path(self.mktemp()).resolve()
        self.environment = {"XDG_DATA_HOME": str(self.folder / "data"), **runs.LEAN}

    def test_example(self) -> None:
        """The example of the page works as it stands."""
        shutil.copytree(EXAMPLE, self.folder / "example")
        lean = runs.lean_pytest()
        output = runs.run(*lean, environment=self.environment, cwd=self.folder / "example")
        self.assertIn("3 passed", output, output)

    def test_name_of_worker(self) -> None:
        """A worker of xdist has the client id of its project, as pytest without workers."""
        self.folder.mkdir()
        (self.folder / "pyproject.toml").write_text('[project]\nname = "shop"\n')
        (self.folder / "test_name.py").write_text(NAMED)
        plugins = runs.lean_pytest("xdist")
        options = ("-n", "1", "--trafficmock-attach-self")
        output = runs.run(*plugins, *options, environment=self.environment, cwd=self.folder)
        self.assertIn("1 passed", output, output)

    def test_own_calls(self) -> None:
        """What a test sends to its application is answered by nothing that does not name it.

        A replay that answered nothing is said. The questions whether the application is ready are
        no traffic.
        """
        self.folder.mkdir()
        (self.folder / "test_own.py").write_text(OWN_CALLS)
        lean = [*runs.lean_pytest(), "--rootdir=.", "--trafficmock-attach-self", "-rA"]
        output = runs.run(*lean, environment=self.environment, cwd=self.folder)
        self.assertIn("1 failed, 4 passed, 1 warning", output, output)
        self.assertIn("test_own.py::test_replayed\n", output)
        self.assertIn("UnusedReplayWarning: handler of the HAR calls.har (test_own.py:19)", output)
        origin = r"the tests' own process sent it: only a URL that names http://127.0.0.1:\d+ takes"
        self.assertRegex(output, origin)
        # Once in the error, and once in the title of its group.
        told = output.partition("short test summary info")[0]
        self.assertEqual(told.count("no request met the route '**/'"), 2, output)

    def test_pytest(self) -> None:
        """Frameworks, clients, coroutine tests and strict mode, on four workers."""
        sample = str(Path(__file__).parent / "samples" / "in_own_process.py")
        plugins = runs.lean_pytest("xdist", "pytest_asyncio.plugin")
        options = ("-n", "4", "--trafficmock-attach-self")
        output = runs.run(*plugins, sample, *options, environment=self.environment)
        self.assertIn("25 passed", output, output)

    def test_django(self) -> None:
        """Both test clients of Django, on four workers."""
        sample = str(Path(__file__).parent / "samples" / "in_own_process_django.py")
        plugins = runs.lean_pytest("xdist", "pytest_asyncio.plugin")
        options = ("-n", "4", "--trafficmock-attach-self")
        output = runs.run(*plugins, sample, *options, environment=self.environment)
        self.assertIn("14 passed", output, output)

    def test_unittest(self) -> None:
        """The process is restored at the module's end."""
        sample = f"{SAMPLES}.in_own_process_unittest"
        output = runs.run("unittest", sample, environment=self.environment)
        self.assertRegex(output, r"Ran 2 tests[^!]*OK", output)

    def test_trial(self) -> None:
        """Deferreds, coroutines and threads."""
        directory = f"--temp-directory={self.folder}-trial"
        sample = f"{SAMPLES}.in_own_process_trial"
        output = runs.run("twisted.trial", directory, sample, environment=self.environment)
        self.assertIn("successes=3", output, output)

    def test_other_mocks(self) -> None:
        """The examples with responses and respx, the calls that the page compares, and both."""
        shutil.copytree(EXAMPLE, self.folder / "example")
        for name in ("test_responses.py", "test_respx.py"):
            shutil.copy(EXAMPLE.parent / "in-process-compared" / name, self.folder / "example")
        lean = [*runs.lean_pytest(), "test_responses.py", "test_respx.py"]
        output = runs.run(*lean, environment=self.environment, cwd=self.folder / "example")
        self.assertIn("2 passed", output, output)
        sample = str(Path(__file__).parent / "samples" / "beside_other_mocks.py")
        lean = [*runs.lean_pytest(), sample, "--trafficmock-attach-self"]
        output = runs.run(*lean, environment=self.environment)
        self.assertIn("6 passed", output, output)

    if not DEEP:
        for each in (test_pytest, test_django, test_unittest, test_trial, test_other_mocks):
            each.skip = "only with TRAFFICMOCK_DEEP=1"  # type: ignore[attr-defined]
