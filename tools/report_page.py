"""Writes the page of reports for the npm package: ``python -m tools.report_page``.

It is the dashboard as one file, without data; the JavaScript reporter puts in the data of its run.
A test fails while it is not current.
"""

from __future__ import annotations

import sys
from pathlib import Path

from trafficmock.report.saved_page import template

FILE = Path(__file__).parents[1] / "playwright" / "src" / "report" / "page.html"


def main() -> None:
    """Write the page."""
    if not FILE.exists() or FILE.read_text(encoding="utf-8") != template():
        FILE.write_text(template(), encoding="utf-8")
        sys.stdout.write(f"{FILE.name}\n")


if __name__ == "__main__":
    main()
