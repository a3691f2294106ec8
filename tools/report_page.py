"""The page of reports for the npm package, which ``python -m tools.facts`` writes.

It is the dashboard as one file, without data; the JavaScript reporter puts in the data of its run.
A test fails while it is not current.
"""

from __future__ import annotations

from pathlib import Path

from trafficmock.report.saved_page import template

FILE = Path(__file__).parents[1] / "playwright" / "src" / "report" / "page.html"


def write() -> None:
    """Write the page anew."""
    FILE.write_text(template(), encoding="utf-8")
