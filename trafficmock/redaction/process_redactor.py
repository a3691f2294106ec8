"""The redactor for what a process says: texts of errors, lines of its log, and ``repr``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, evolve, field

from trafficmock.redaction.redactor import Redactor
from trafficmock.texts.named_fields import OFF

if TYPE_CHECKING:
    from collections.abc import Sequence


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


def share_marks(fields: Sequence[str], key: str) -> None:
    """Make the marks of a proxy from now on, and redact what it redacts, too.

    :param fields: those of the proxy; of a later one, those that are known here. If it redacts
        nothing, the own ones stay.
    :param key: in hexadecimal digits.
    """
    own = evolve(_PROCESS.redactor, key=bytes.fromhex(key))
    added = () if own.is_off or OFF in fields else fields
    _PROCESS.redactor = own.adding(added, known_only=True) if added else own


def safe_url(url: str) -> str:
    """Return a URL for a message: with marks for its secrets."""
    return process_redactor().url(url)
