"""Adds up what trial said at the end of each of its runs: ``N passed, N failed``."""

import re
import sys
from collections import Counter
from pathlib import Path

_CLOSING = re.compile(r"^(?:PASSED|FAILED) \((?P<counts>[a-zA-Z0-9=, ]*)\)$", re.MULTILINE)
_COUNT = re.compile(r"(\w+)=(\d+)")


def count(log: str) -> Counter[str]:
    """Add up the counts of all closing lines in ``log``: successes, failures, errors, skips..."""
    total: Counter[str] = Counter()
    for closing in _CLOSING.finditer(log):
        for name, number in _COUNT.findall(closing["counts"]):
            total[name] += int(number)
    return total


def closing_line(total: Counter[str]) -> str:
    """Write the counts as one line; what was expected to fail and did has passed."""
    passed = total["successes"] + total["expectedFailures"]
    failed = total["failures"] + total["errors"] + total["unexpectedSuccesses"]
    return f"{passed} passed, {failed} failed, {total['skips']} skipped"


def main() -> int:
    """Print the line for the log that the first argument names.

    :returns: 1 when something failed or nothing ran, else 0.
    """
    total = count(Path(sys.argv[1]).read_text(encoding="utf-8", errors="replace"))
    line = closing_line(total)
    print(line)  # noqa: T201 - this is what it is for
    return 0 if total["successes"] and ", 0 failed" in line else 1


if __name__ == "__main__":
    sys.exit(main())
