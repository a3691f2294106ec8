"""Prints the table of rows, and how each ended in each way of testing.

python -m tests.testing.table                              # against our proxy
TRAFFICMOCK_E2E_PROXY=npm python -m tests.testing.table    # against the npm proxy
python -m tests.testing.table --differences                # both; the rows that end otherwise
"""

import json
import os
import subprocess
import sys
from typing import Any

from twisted.trial.reporter import TestResult
from twisted.trial.runner import TestLoader

from tests.playwright import test_rows as javascript
from tests.testing import test_rows as python
from tests.testing.rows import rows
from tests.testing.test_rows import EVERY_ROW

ADAPTERS = {
    "BlockingTests": python,
    "AsyncioTests": python,
    "TwistedTests": python,
    "JavaScriptTests": javascript,
}
"""The test cases, with the modules that they are in."""
HEADINGS = ("Blocking", "asyncio", "Twisted", "JavaScript")
Ended = dict[str, dict[str, str]]
"""How each row ended, by adapter."""


class Collector(TestResult):
    """Keeps how each test ended, by name and case."""

    def __init__(self) -> None:
        super().__init__()
        self.ended: Ended = {}

    def _note(self, test: Any, how: str) -> None:
        *_, case, name = test.id().split(".")
        self.ended.setdefault(name.removeprefix("test_"), {})[case] = how

    def addSuccess(self, test: Any) -> None:
        self._note(test, "ok")

    def addError(self, test: Any, error: Any) -> None:
        self._note(test, "FAILS")

    def addFailure(self, test: Any, fail: Any) -> None:
        self._note(test, "FAILS")

    def addSkip(self, test: Any, reason: Any) -> None:
        self._note(test, "n/a")


def run(only: str = "") -> Ended:
    """Run all rows, or only one, against the proxy that the environment names."""
    javascript.JavaScriptTests.only = only
    names = [f"{module.__name__}.{case}" for case, module in ADAPTERS.items()]
    if only:
        names = [f"{name}.test_{only}" for name in names]
    collector = Collector()
    TestLoader().loadByNames(names).run(collector)
    return dict(sorted(collector.ended.items()))


def run_against(proxy: str) -> Ended:
    """Run all rows in a process of their own.

    The npm proxy gets the rows that ask for our additions too, each in another process: one of
    them ends the application.
    """
    ended = run_apart(proxy)
    for name in [name for name, row in ended.items() if "n/a" in row.values()]:
        ended |= run_apart(proxy, name)
    return ended


def run_apart(proxy: str, *only: str) -> Ended:
    """Run rows in a process of their own."""
    env = {**os.environ, "TRAFFICMOCK_E2E_PROXY": proxy}
    env |= {EVERY_ROW: "1"} if only else {}
    command = [sys.executable, "-m", "tests.testing.table", "--json", *only]
    finished = subprocess.run(command, env=env, stdout=subprocess.PIPE, check=True)
    ended: Ended = json.loads(finished.stdout)
    return ended


def table(ended: Ended) -> str:
    """Write all rows."""
    lines = [f"| Rule | {' | '.join(HEADINGS)} |", "|---|" + "---|" * len(ADAPTERS)]
    differing = javascript.differences()
    for name, statement in statements().items():
        cells = [ended[name].get(case, "") for case in ADAPTERS]
        mark = f" [^{name}]" if name in differing else ""
        lines.append(f"| {statement} | {' | '.join(cells)}{mark} |")
    notes = [f"[^{name}]: {differing[name]}." for name in statements() if name in differing]
    return "\n".join([*lines, "", "\n\n".join(notes)])


def statements() -> dict[str, str]:
    """Give what each row states, by its name."""
    return {title: (row.__doc__ or "").splitlines()[0] for title, row in rows()}


def differences(ours: Ended, npm: Ended) -> str:
    """Write the rows that do not end alike, with what they state."""
    stated = statements()
    lines = [f"{len(ours)} rows on {len(ADAPTERS)} adapters; those that end otherwise:", ""]
    lines += ["| row | what it states | ours | npm 0.1.8 |", "|---|---|---|---|"]
    for name, row in ours.items():
        other = npm.get(name, {})
        if row != other:
            cells = [_summary(each) for each in (row, other)]
            title = name.replace("_", " ")
            lines.append(f"| {title} | {stated[name]} | {cells[0]} | {cells[1]} |")
    return "\n".join(lines)


def _summary(row: dict[str, str]) -> str:
    """Say how a row ended, and where it did not end alike everywhere who ended how."""
    ways: dict[str, list[str]] = {}
    for case, heading in zip(ADAPTERS, HEADINGS, strict=True):
        ways.setdefault(row.get(case, ""), []).append(heading)
    if len(ways) == 1:
        return next(iter(ways))
    return "; ".join(f"{ended}: {', '.join(who)}" for ended, who in ways.items())


def main(*arguments: str) -> None:
    """Run the rows, and print."""
    if arguments[:1] == ("--json",):
        sys.stdout.write(json.dumps(run(*arguments[1:])))
    elif arguments == ("--differences",):
        sys.stdout.write(differences(run_against("ours"), run_against("npm")) + "\n")
    elif not arguments:
        sys.stdout.write(table(run()) + "\n")
    else:
        raise SystemExit(__doc__)


if __name__ == "__main__":
    main(*sys.argv[1:])
