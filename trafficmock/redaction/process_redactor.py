"""The redactor for what a process says: texts of errors, lines of its log, and ``repr``."""

from __future__ import annotations

from attrs import define, field

from trafficmock.redaction.redactor import Redactor


@define
class _Process:
    """What holds for all of this process, since its errors come from everywhere."""

    redactor: Redactor = field(factory=Redactor)


_PROCESS = _Process()


def process_redactor() -> Redactor:
    """Return the redactor of this process; its key is random."""
    return _PROCESS.redactor


def redact_process(redactor: Redactor) -> None:
    """Set the redactor of this process, with the fields that a user has added.

    It is called where a process is put together.
    """
    _PROCESS.redactor = redactor


def safe_url(url: str) -> str:
    """Return a URL for a message: with marks for its secrets."""
    return process_redactor().url(url)
