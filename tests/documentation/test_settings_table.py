"""The table of settings has the names that the code has, and no others."""

import inspect
import re
from collections.abc import Iterable
from pathlib import Path

import pytest
from twisted.trial.unittest import SynchronousTestCase

from tests.documentation.test_generated import DOCS, rows
from tests.support.processes.proxy_process import REPOSITORY
from trafficmock.attach import python_preload
from trafficmock.testing import pytest_plugin
from trafficmock.testing.case_settings import CaseSettings
from trafficmock.testing.session.options_of_test import TestOptions
from trafficmock.testing.sync import mocks

PAGE = DOCS / "explanation" / "concepts.md"
SOURCES = REPOSITORY / "playwright" / "src"
_NAME = re.compile(r"`([^`]+)`")
_VARIABLE = re.compile(r"\bTRAFFICMOCK_[A-Z0-9_]+")
PASSED_ON = {
    "TRAFFICMOCK_PARENT_NAME",
    "TRAFFICMOCK_PARENT_PID",
    "TRAFFICMOCK_WORKER_ENTRY",
}
"""Variables that agents write for child processes and threads, and users do not."""


def source(name: str) -> str:
    """Read a file of the package for Playwright."""
    return (SOURCES / name).read_text(encoding="utf-8")


def words(pattern: str, text: str) -> set[str]:
    """Give the quoted words within the only match of a pattern."""
    (found,) = re.findall(pattern, text, re.DOTALL)
    return set(re.findall(r'"(\w+)"', found))


class SettingsTableTests(SynchronousTestCase):
    """Each column against the place in the code that reads these names."""

    def setUp(self) -> None:
        self.head, *self.settings = rows(PAGE, "settings")

    def assert_column(self, title: str, known: Iterable[str]) -> None:
        column = self.head.index(title)
        named = [name for row in self.settings for name in _NAME.findall(row[column])]
        self.assertEqual(sorted(named), sorted(known))

    def test_playwright(self) -> None:
        """The fixtures' options; the two for all settings of a test are in the text above."""
        (text,) = re.findall(
            r"\nconst options = \{(.*?)\n\};", source("fixtures/fixtures.js"), re.DOTALL
        )
        options = set(re.findall(r"^  (trafficmock\w*):", text, re.MULTILINE))
        of_test = words(r"const TEST = \[(.*?)\]", source("arguments/options.js"))
        self.assertLessEqual({"trafficmock", "trafficmockOptions"}, options)
        options -= {"trafficmock", "trafficmockOptions"}
        self.assert_column(
            "Playwright, `use`", {*options, *(f"trafficmock.{each}" for each in of_test)}
        )

    def test_connect(self) -> None:
        """The options that ``connect`` of the JavaScript core accepts."""
        options, _, _ = source("arguments/options.js").partition("const FLAGS")
        known = words(r"\n  connect: \[(.*?)\]", options)
        self.assert_column("`connect()`", known)

    def test_pytest(self) -> None:
        """The options and ini values that the plugin adds."""
        parser = pytest.Parser(_ispytest=True)
        pytest_plugin.pytest_addoption(parser)
        options = {name for each in parser.getgroup("trafficmock").options for name in each.names()}
        self.assert_column("pytest", options)
        self.assert_column("ini value of pytest", parser._inidict)

    def test_cases(self) -> None:
        """The attributes of test cases."""
        known = {each for each in CaseSettings.__annotations__ if each.startswith("trafficmock_")}
        self.assert_column("unittest, trial", known)

    def test_mocks(self) -> None:
        """The arguments of the context manager, with the settings of a test."""
        own = set(inspect.signature(mocks).parameters) - {"options"}
        self.assert_column("`mocks()`", own | TestOptions.__annotations__.keys())

    def test_environment(self) -> None:
        """The variables that the test side reads."""
        known = set(re.findall(r"TRAFFICMOCK_\w+", source("settings.js")))
        self.assert_column("Environment", known)

    def test_serve(self) -> None:
        """The options of the command are those of its own table, which is made from the code."""
        known = set(re.findall(r"`(--[\w-]+)`", (DOCS / "options.md").read_text(encoding="utf-8")))
        column = self.head.index("`trafficmock serve`")
        named = {name for row in self.settings for name in _NAME.findall(row[column])}
        self.assertLessEqual({"--strict", "--token"}, named)
        self.assertEqual(named - known, set())


class AgentVariableTests(SynchronousTestCase):
    """The tables of the agents' variables."""

    def check(self, page: str, sources: Iterable[Path]) -> None:
        text = (DOCS / "how-to" / "attach" / page).read_text(encoding="utf-8")
        named = set(re.findall(r"^\| `(TRAFFICMOCK_\w+)` \|", text, re.MULTILINE))
        read = {name for file in sources for name in _VARIABLE.findall(file.read_text("utf-8"))}
        self.assertEqual(named, read - PASSED_ON)

    def test_node(self) -> None:
        """The page of the Node agent has those that it reads."""
        self.check("node.md", (REPOSITORY / "agent" / "src").rglob("*.js"))

    def test_python(self) -> None:
        """The page of the preload has those that it reads."""
        self.check("python.md", python_preload.DIRECTORY.rglob("*.py"))
