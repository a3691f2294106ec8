"""The rows of ``tests/testing/rows`` in JavaScript, with the fixtures for Playwright."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar

from tests.e2e.specs import Group, Run
from tests.playwright import specs
from tests.support.hypothesis_profiles import DEEP
from tests.testing.rows import rows

if TYPE_CHECKING:
    from collections.abc import Callable

DIRECTORY = specs.PACKAGE / "test" / "specs" / "rows"
CONFIG = "playwright/test/specs/rows/playwright.config.mjs"
ROWS = Group("rows", agent="ours")
ASKING = Group("rows", agent="ours", proxy_options=("--local", "off"))

_TEST = re.compile(r"^test(?:\.skip)?\(", re.MULTILINE)
_TITLE = re.compile(rf'{_TEST.pattern}\s*"([^"]+)"', re.MULTILINE)


def titles() -> dict[str, str]:
    """Give the file of each row's test, by the row's name."""
    return {
        title: path.name
        for path in sorted(DIRECTORY.glob("*.spec.mjs"))
        for title in _TITLE.findall(path.read_text())
    }


def run_rows(only: str = "", group: Group = ROWS) -> Run:
    """Run all rows, or only one, in one worker."""
    return specs.run_specs(group, CONFIG, *([f"--grep=(^| ){only}$"] if only else ()))


def differences() -> dict[str, str]:
    """Say of rows in what they state something else here, after they ran."""
    return {
        title: text
        for (_, title), result in run_rows().results.items()
        for text in [result.annotations.get("differs") or result.annotations.get("meaningless")]
        if text
    }


class JavaScriptTests(specs.RunTestCase):
    """The rows with the fixtures for Playwright."""

    only: ClassVar[str] = ""
    """The one row that runs; all of them without one."""
    group: ClassVar[Group] = ROWS


class AskingTests(JavaScriptTests):
    """The same where the agent asks the proxy about each request."""

    group = ASKING
    if not DEEP:
        skip = "only with TRAFFICMOCK_DEEP=1"


def _test(title: str, file: str) -> Callable[[JavaScriptTests], None]:
    def test(self: JavaScriptTests) -> None:
        self.check(run_rows(self.only, self.group), file, title)

    test.__doc__ = next((row.__doc__ for name, row in rows() if name == title), title)
    return test


for each, place in titles().items():
    setattr(JavaScriptTests, f"test_{each}", _test(each, place))


class EveryRowTests(specs.RunTestCase):
    """What is easily forgotten when a row is added, or a test of one."""

    def test_each_row_has_a_test(self) -> None:
        """A row of the Python side that has no test here is named, with the reason."""
        expected = {title: f"{title.partition('_')[0]}.spec.mjs" for title, _ in rows()}
        self.assertEqual(titles(), expected)

    def test_each_test_has_a_row(self) -> None:
        """A title that is not read, or is there twice, would hide a test."""
        for path in DIRECTORY.glob("*.spec.mjs"):
            text = path.read_text()
            found = _TITLE.findall(text)
            self.assertEqual(len(found), len(_TEST.findall(text)))
            self.assertEqual(len(set(found)), len(found), path.name)

    def test_the_proxy_is_well(self) -> None:
        """The proxy outlives its clients and ends cleanly."""
        self.check_proxy(run_rows())
