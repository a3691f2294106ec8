"""Prints the table of rows and adapters with the result of each.

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

from tests.support.tested_proxy import target
from tests.testing.rows import rows
from tests.testing.test_rows import EVERY_ROW

ADAPTERS = ("BlockingTests", "AsyncioTests", "TwistedTests")
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
    module = "tests.testing.test_rows"
    names = [f"{module}.{case}.test_{only}" for case in ADAPTERS] if only else [module]
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
    names = [case.removesuffix("Tests").lower() for case in ADAPTERS]
    lines = [f"| row, against the proxy {target()!r} | {' | '.join(names)} |"]
    lines.append("|---|" + "---|" * len(ADAPTERS))
    for name, row in ended.items():
        cells = [row.get(case, "") for case in ADAPTERS]
        lines.append(f"| {name.replace('_', ' ')} | {' | '.join(cells)} |")
    return "\n".join(lines)


def differences(ours: Ended, npm: Ended) -> str:
    """Write the rows that do not end alike, with what they state."""
    stated = {title: (row.__doc__ or "").splitlines()[0] for title, row in rows()}
    lines = [f"{len(ours)} rows on {len(ADAPTERS)} adapters; those that end otherwise:", ""]
    lines += ["| row | what it states | ours | npm 0.1.8 |", "|---|---|---|---|"]
    for name, row in ours.items():
        other = npm.get(name, {})
        if row != other:
            cells = [", ".join(sorted(set(each.values()))) for each in (row, other)]
            title = name.replace("_", " ")
            lines.append(f"| {title} | {stated[name]} | {cells[0]} | {cells[1]} |")
    return "\n".join(lines)


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
