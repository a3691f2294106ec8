"""Makes and writes ``run.json`` and ``index.html`` of a report from the data of its processes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from trafficmock.errors import LocalError
from trafficmock.report.data_files import DATA, FORMAT, HARS, read_records
from trafficmock.report.foreign_files import Room, check_directory, check_regular, read_file
from trafficmock.report.record_checks import BadRecordError, check_record, check_run, is_har_path
from trafficmock.report.report_settings import PAGE_BYTES
from trafficmock.report.run_document import run_document
from trafficmock.report.saved_page import saved_page
from trafficmock.whole_files import write_whole

RUN = "run.json"
PAGE = "index.html"

MOST_RUN_BYTES = 2**30
"""The largest ``run.json`` that is shown."""

MOST_ROUNDS = 5
"""How often a merge begins anew, because data was added while it ran."""


def write_report(directory: Path, damaged: list[str] | None = None) -> dict[str, Any]:
    """Write ``run.json`` and ``index.html`` from all data in a directory.

    Several processes may do so at once: each reads all files that are there, and replaces both
    results as a whole.

    :param damaged: gets what of the data could not be read.
    :returns: the document of the run.
    :raises LocalError: a data file has other records than this version writes.
    :raises OSError: a file cannot be read or written.
    """
    directory.mkdir(parents=True, exist_ok=True)
    for _ in range(MOST_ROUNDS):
        sizes = _sizes(directory)
        found: list[str] = []
        document, made = make_report({str(path): [*read_records(path, found)] for path in sizes})
        for name, content in made.items():
            write_whole(directory / name, content)
        # Another process may have replaced both by newer ones meanwhile.
        if _sizes(directory) == sizes:
            break
    if damaged is not None:
        damaged += found
    return document


def make_report(
    data: Mapping[str, Sequence[dict[str, Any]]],
) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Make the files of a report.

    :param data: the records of each process, by the path of its data file.
    :returns: the document of the run, and the contents of the files by name.
    :raises LocalError: a data file has other records than this version writes.
    """
    for path, records in data.items():
        _check(path, records)
    try:
        document = run_document(data.values())
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        # The path may be one of Windows.
        directory, *_ = re.split(r"[/\\][^/\\]*$", next(iter(data)))
        raise _foreign(directory, "") from error
    texts = {RUN: json.dumps(document, indent=1) + "\n", PAGE: saved_page(for_page(document))}
    return document, {
        name: text.encode("utf-8", "backslashreplace") for name, text in texts.items()
    }


def _check(path: str, records: Iterable[dict[str, Any]]) -> None:
    """Check the records of a process.

    :raises LocalError: one has not the fields that it needs.
    """
    try:
        for record in records:
            check_record(record)
    except BadRecordError as error:
        raise _foreign(path, f" ({error})") from error


def _foreign(path: str, why: str) -> LocalError:
    return LocalError(
        f"{path} has data of another version of trafficmock, or of another program{why}: remove "
        "it, and run the tests again"
    )


def read_report(directory: Path) -> dict[str, Any]:
    """Read the document of a report.

    :raises LocalError: the directory has none.
    """
    path = directory / RUN
    try:
        document = json.loads(read_file(path, Room(str(path), MOST_RUN_BYTES)))
    except OSError as error:
        raise LocalError(
            f"{directory} is no report: {path} cannot be read: {error.strerror or error}"
        ) from None
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise LocalError(f"{path} is no report of this version of trafficmock")
    try:
        check_run(document)
    except BadRecordError as error:
        raise LocalError(f"{path} is no report of this version of trafficmock: {error}") from None
    return document


def merge_reports(
    sources: Sequence[Path], output: Path, damaged: list[str] | None = None
) -> dict[str, Any]:
    """Merge the reports of shards.

    :param sources: the directories of reports.
    :param output: the directory of the result, which may be one of them.
    :param damaged: gets what of the data could not be read.
    :returns: the document of all runs.
    :raises LocalError: a source is no report, or one of another version; or a file of one is a
        link, a pipe, or another that is no file.
    :raises OSError: a file cannot be read or written.
    """
    for source in sources:
        if not (source / DATA).is_dir():
            raise LocalError(f"{source} is no report: it has no directory {DATA!r}")
    files = {source: _files_of(source) for source in sources}
    for part in (DATA, HARS):
        check_directory(output / part)
    for source, (data, hars) in files.items():
        if source.resolve() != output.resolve():
            names = {path.name: _copy(path, output / HARS, path.read_bytes()) for path in hars}
            for path in data:
                _copy(path, output / DATA, _renamed(path.read_bytes(), names))
    return write_report(output, damaged)


def _files_of(source: Path) -> tuple[list[Path], list[Path]]:
    """Return the data files and HARs of a report; whatever else lies there is not its.

    :raises LocalError: one is a link, or no file.
    """
    found = []
    for part, ending in ((DATA, ".jsonl"), (HARS, ".har")):
        check_directory(source / part)
        paths = sorted((source / part).glob(f"*{ending}"))
        for path in paths:
            check_regular(path)
        found.append(paths)
    return found[0], [path for path in found[1] if is_har_path(f"{HARS}/{path.name}")]


def _copy(path: Path, into: Path, content: bytes) -> str:
    """Copy a file, beside another one of its name if that is another.

    A data file only grows, so the longer one of two that begin alike is the newer.

    :returns: its name there.
    """
    into.mkdir(parents=True, exist_ok=True)
    place = into / path.name
    if place.is_symlink() or place.exists():
        check_regular(place)
        there = place.read_bytes()
        if there.startswith(content):
            return place.name
        if not content.startswith(there):
            digest = sha256(content).hexdigest()[:8]
            place = place.with_name(f"{path.stem}-{digest}{path.suffix}")
    write_whole(place, content)
    return place.name


def _renamed(content: bytes, names: Mapping[str, str]) -> bytes:
    """Return records that name their HARs as these were copied."""
    changed = {f"{HARS}/{old}": f"{HARS}/{new}" for old, new in names.items() if old != new}
    if not changed:
        return content
    lines = content.splitlines(keepends=True)
    for number, line in enumerate(lines):
        try:
            record = json.loads(line)
            har = changed.get(record["test"]["har"])
        except (ValueError, RecursionError, KeyError, TypeError):
            continue
        if har is not None:
            record["test"]["har"] = har
            lines[number] = json.dumps(record, separators=(",", ":")).encode() + b"\n"
    return b"".join(lines)


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
