"""Prints the table of rows and adapters with the result of each.

python -m tests.testing.table
TRAFFICMOCK_E2E_PROXY=npm python -m tests.testing.table
"""

import io
import sys
from typing import Any

from twisted.trial.reporter import TestResult
from twisted.trial.runner import TestLoader

from tests.e2e.proxies import target

ADAPTERS = ("BlockingTests", "AsyncioTests", "TwistedTests")


class Collector(TestResult):
    """Keeps how each test ended, by case and name."""

    def __init__(self) -> None:
        super().__init__()
        self.ended: dict[tuple[str, str], str] = {}

    def _note(self, test: Any, how: str) -> None:
        *_, case, name = test.id().split(".")
        self.ended[name, case] = how

    def addSuccess(self, test: Any) -> None:
        self._note(test, "ok")

    def addError(self, test: Any, error: Any) -> None:
        self._note(test, "FAILS")

    def addFailure(self, test: Any, fail: Any) -> None:
        self._note(test, "FAILS")

    def addSkip(self, test: Any, reason: Any) -> None:
        self._note(test, "n/a")


def main() -> None:
    """Run all rows, and print."""
    collector = Collector()
    suite = TestLoader().loadByName("tests.testing.test_rows")
    suite.run(collector)
    out = io.StringIO()
    names = [case.removesuffix("Tests").lower() for case in ADAPTERS]
    out.write(f"| row, against the proxy {target()!r} | {' | '.join(names)} |\n")
    out.write("|---|" + "---|" * len(ADAPTERS) + "\n")
    for name in sorted({name for name, _ in collector.ended}):
        cells = [collector.ended.get((name, case), "") for case in ADAPTERS]
        title = name.removeprefix("test_").replace("_", " ")
        out.write(f"| {title} | {' | '.join(cells)} |\n")
    sys.stdout.write(out.getvalue())


if __name__ == "__main__":
    main()
