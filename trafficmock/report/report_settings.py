"""What users set of a report, and its limits."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, get_args

from attrs import frozen

from trafficmock.errors import LocalError
from trafficmock.texts.named_fields import NamedFields

DIRECTORY_VARIABLE = "TRAFFICMOCK_REPORT"
MODE_VARIABLE = "TRAFFICMOCK_REPORT_MODE"
BODY_VARIABLE = "TRAFFICMOCK_REPORT_BODY_BYTES"
REDACT_VARIABLE = "TRAFFICMOCK_REPORT_REDACT"

BODY_BYTES = 256 * 2**10
"""The most bytes of each body and each frame, unless :data:`BODY_VARIABLE` is set."""

MOST_BODY_BYTES = 8 * 2**20
"""The highest value of :data:`BODY_VARIABLE`."""

PAGE_BYTES = 64 * 2**20
"""The most bytes of data in the page of a report; ``run.json`` has all."""

MOST_HAR_ENTRIES = 50_000
"""The most entries of such a HAR."""

MOST_HAR_BYTES = 256 * 2**20
"""The largest HAR that is shown as a page."""

LONGEST_ERROR = 20_000
"""The most characters of the error of a test."""

ReportMode = Literal["retain-on-failure", "on", "off"]
MODES: tuple[ReportMode, ...] = get_args(ReportMode)


@frozen
class ReportSettings:
    """Where a report is written, and of which tests.

    :param directory: its directory, absolute.
    :param mode: which tests have their traffic in it.
    :param body_bytes: the most bytes of each body and each frame.
    :param redact: what is secret besides fields of known names, or ``off``.
    """

    directory: Path
    mode: ReportMode = "retain-on-failure"
    body_bytes: int = BODY_BYTES
    redact: tuple[str, ...] = ()


def report_settings(
    environment: Mapping[str, str], base: Path, *, directory: str = "", mode: str = ""
) -> ReportSettings | None:
    """Read the settings of a report.

    :param environment: the variables that hold where nothing is given.
    :param base: the directory where a relative one begins.
    :param directory: the directory, if it was given by an option.
    :param mode: the mode, if it was given by an option.
    :returns: ``None`` if no report is wanted.
    :raises LocalError: a value is invalid.
    """
    where = directory or environment.get(DIRECTORY_VARIABLE, "")
    chosen = mode or environment.get(MODE_VARIABLE, "") or MODES[0]
    if chosen not in MODES:
        raise LocalError(f"the mode of a report is {', '.join(MODES)}; not {chosen!r}")
    if not where or chosen == "off":
        return None
    words = added_secrets(environment)
    NamedFields.of(words)
    limit = _body_bytes(environment.get(BODY_VARIABLE, ""))
    return ReportSettings(base / where, chosen, limit, words)


def added_secrets(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return what is secret besides fields of known names, such as ``query:shop``; or ``off``."""
    return tuple(environment.get(REDACT_VARIABLE, "").split())


def _body_bytes(text: str) -> int:
    if not text:
        return BODY_BYTES
    if not (text.isascii() and text.isdigit() and int(text) <= MOST_BODY_BYTES):
        raise LocalError(f"{BODY_VARIABLE} is a number from 0 to {MOST_BODY_BYTES}, not {text!r}")
    return int(text)
