"""Writes ``run.json`` and ``index.html`` of a report from the data of its processes."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

from trafficmock.errors import LocalError
from trafficmock.report.data_files import DATA, FORMAT, HARS, read_records
from trafficmock.report.report_settings import PAGE_BYTES
from trafficmock.report.run_document import run_document
from trafficmock.report.saved_page import saved_page
from trafficmock.whole_files import write_whole

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

RUN = "run.json"
PAGE = "index.html"

MOST_ROUNDS = 5
"""How often a merge begins anew, because data was added while it ran."""


def write_report(directory: Path) -> dict[str, Any]:
    """Write ``run.json`` and ``index.html`` from all data in a directory.

    Several processes may do so at once: each reads all files that are there, and replaces both
    results as a whole.

    :returns: the document of the run.
    :raises LocalError: a data file has other records than this version writes.
    :raises OSError: a file cannot be read or written.
    """
    for _ in range(MOST_ROUNDS):
        sizes = _sizes(directory)
        try:
            document = run_document([[*read_records(path)] for path in sizes])
        except (KeyError, TypeError, AttributeError) as error:
            raise LocalError(
                f"{directory / DATA} has data of another version of trafficmock, or of another "
                "program: remove it, and run the tests again"
            ) from error
        _replace(directory / RUN, json.dumps(document, indent=1) + "\n")
        _replace(directory / PAGE, saved_page(for_page(document)))
        # Another process may have replaced both by newer ones meanwhile.
        if _sizes(directory) == sizes:
            break
    return document


def read_report(directory: Path) -> dict[str, Any]:
    """Read the document of a report.

    :raises LocalError: the directory has none.
    """
    path = directory / RUN
    try:
        document = json.loads(path.read_bytes())
    except OSError as error:
        raise LocalError(
            f"{directory} is no report: {path} cannot be read: {error.strerror}"
        ) from None
    except ValueError:
        document = None
    if (
        not isinstance(document, dict)
        or document.get("format") != FORMAT
        or not isinstance(document.get("tests"), list)
    ):
        raise LocalError(f"{path} is no report of this version of trafficmock")
    return document


def merge_reports(sources: Sequence[Path], output: Path) -> dict[str, Any]:
    """Merge the reports of shards.

    :param sources: the directories of reports.
    :param output: the directory of the result, which may be one of them.
    :returns: the document of all runs.
    :raises LocalError: a source is no report, or one of another version.
    :raises OSError: a file cannot be read or written.
    """
    for source in sources:
        if not (source / DATA).is_dir():
            raise LocalError(f"{source} is no report: it has no directory {DATA!r}")
    for source in sources:
        if source.resolve() != output.resolve():
            for part in (DATA, HARS):
                for path in sorted((source / part).glob("*")):
                    (output / part).mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(path, output / part / path.name)
    return write_report(output)


def for_page(document: dict[str, Any]) -> dict[str, Any]:
    """Return a document for the page: beyond :data:`PAGE_BYTES`, tests have no traffic there."""
    room, tests = PAGE_BYTES, []
    for test in document["tests"]:
        parts = [test["requests"], test["webSockets"], test.get("sections", [])]
        size = len(json.dumps(parts))
        room -= size
        if room >= 0:
            tests.append(test)
        else:
            room += size
            left = "its traffic is in run.json, because the page would be too large"
            without = {"requests": [], "webSockets": [], "sections": [], "missing": left}
            tests.append(test | without)
    return {**document, "tests": tests}


def _sizes(directory: Path) -> dict[Path, int]:
    """Return the sizes of all data files; what is appended later changes one."""
    paths = sorted((directory / DATA).glob("*.jsonl"))
    return {path: path.stat().st_size for path in paths}


def _replace(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, text.encode("utf-8", "backslashreplace"))
