"""Prints the table of rows, and how each ended in each way of testing.

python -m tests.testing.table
"""

import sys
from typing import Any

from twisted.trial.reporter import TestResult
from twisted.trial.runner import TestLoader

from tests.testing import test_rows
from tests.testing.rows import rows

ADAPTERS = ("BlockingTests", "AsyncioTests", "TwistedTests", "JavaScriptTests")
"""The test cases."""
NOTES = {
    "matching_predicate": "a predicate gets a URL object, as in Playwright's API for JavaScript",
    "matching_url_pattern": "a URLPattern has a pathname and a hostname too",
    "matching_filters": "filters stand in an object alone: there are no keywords",
    "fulfilling_fulfill_with_a_disposed_response": (
        "dispose() gives a promise, as in Playwright's API for JavaScript"
    ),
    **test_rows.ONLY_PYTHON,
}
"""What is different in JavaScript, by row."""
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


def run() -> Ended:
    """Run all rows."""
    names = [f"{test_rows.__name__}.{case}" for case in ADAPTERS]
    collector = Collector()
    TestLoader().loadByNames(names).run(collector)
    return dict(sorted(collector.ended.items()))


def table(ended: Ended) -> str:
    """Write all rows."""
    lines = [f"| Rule | {' | '.join(HEADINGS)} |", "|---|" + "---|" * len(ADAPTERS)]
    for name, statement in statements().items():
        cells = [ended[name].get(case, "") for case in ADAPTERS]
        mark = f" [^{name}]" if name in NOTES else ""
        lines.append(f"| {statement} | {' | '.join(cells)}{mark} |")
    notes = [f"[^{name}]: {note}." for name, note in NOTES.items()]
    return "\n".join([*lines, "", "\n\n".join(notes)])


def statements() -> dict[str, str]:
    """Give what each row states, by its name."""
    return {title: (row.__doc__ or "").splitlines()[0] for title, row in rows()}


def main(*arguments: str) -> None:
    """Run the rows, and print."""
    if arguments:
        raise SystemExit(__doc__)
    sys.stdout.write(table(run()) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
