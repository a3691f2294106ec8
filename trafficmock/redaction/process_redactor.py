"""The redactor for what a process says: texts of errors, lines of its log, and ``repr``."""

from __future__ import annotations

from functools import cache

from trafficmock.redaction.redactor import Redactor


@cache
def process_redactor() -> Redactor:
    """Return the redactor of this process; its key is random."""
    return Redactor()


def safe_url(url: str) -> str:
    """Return a URL for a message: with marks for its secrets."""
    return process_redactor().url(url)
