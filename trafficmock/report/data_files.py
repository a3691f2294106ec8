"""The data of a report: one file of JSON lines for each process of the run."""

from __future__ import annotations

import json
import os
import re
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from attrs import define, field

from trafficmock.errors import LocalError
from trafficmock.report.foreign_files import check_regular

DATA = "data"
HARS = "har"
FORMAT = 1
"""The version of the records, and of ``run.json``."""

LONGEST_NAME = 80
"""The most characters of a part of a file's name."""


@define(eq=False)
class DataFile:
    """The records of one process; it is made with the first record.

    An error of the file system ends the writing, and does no harm to the test that runs.

    :param directory: the directory of the report.
    :param name: the beginning of the file's name: the runner and the worker.
    :ivar problem: why nothing is written any more.
    """

    directory: Path
    name: str
    problem: str = field(init=False, default="")
    _path: Path | None = field(init=False, default=None)

    def write(self, record: dict[str, Any]) -> None:
        """Append a record."""
        if self.problem:
            return
        try:
            line = msgspec.json.encode(record)
            with self._found().open("ab") as file:
                file.write(line + b"\n")
        except (OSError, UnicodeEncodeError) as error:
            self.problem = str(error)

    def write_har(self, title: str, har: bytes) -> str | None:
        """Write the HAR of a test.

        :returns: its path within the report; ``None`` if it could not be written.
        """
        if self.problem:
            return None
        name = f"{HARS}/{file_name(title)}-{secrets.token_hex(4)}.har"
        try:
            path = self.directory / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(har)
        except OSError as error:
            self.problem = str(error)
            return None
        return name

    def _found(self) -> Path:
        if self._path is None:
            data = self.directory / DATA
            data.mkdir(parents=True, exist_ok=True)
            name = f"{file_name(self.name)}-{os.getpid()}-{secrets.token_hex(4)}.jsonl"
            self._path = data / name
        return self._path


def file_name(text: str) -> str:
    """Return a text as a part of a file's name, safe on any file system."""
    return re.sub(r"[^A-Za-z0-9.-]+", "_", text).strip("._")[-LONGEST_NAME:] or "test"


def forget(directory: Path, name: str) -> None:
    """Remove what an earlier run of the same runner has left in a directory.

    :param name: the beginning of the names of its files.
    :raises LocalError: the directory cannot be written.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for path in (directory / DATA).glob(f"{file_name(name)}-*.jsonl"):
            for record in read_records(path):
                har = record.get("test", {}).get("har")
                if isinstance(har, str) and re.fullmatch(rf"{HARS}/[A-Za-z0-9._-]+\.har", har):
                    (directory / har).unlink(missing_ok=True)
            path.unlink(missing_ok=True)
        # What cannot be written is said before the first test, and not after the last one.
        probe = directory / f".{secrets.token_hex(4)}"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise LocalError(f"the report cannot be written: {error}") from error


def record_of(line: bytes) -> dict[str, Any] | None:
    """Return the record of a line; ``None`` if it is none."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def read_records(path: Path, damaged: list[str] | None = None) -> Iterator[dict[str, Any]]:
    """Read the records of one process; lines that are none are left out.

    :param damaged: gets what was left out, but for a last line that is not whole: its process was
        ended while it wrote.
    """
    check_regular(path)
    wrong = number = 0
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            record = record_of(line)
            if record is not None:
                yield record
            elif line.endswith(b"\n") or number == 1:
                wrong += 1
    if damaged is not None and (wrong or not number):
        lines = f"{wrong} of {number} lines are no records" if number else "it is empty"
        damaged.append(f"{path} is damaged: {lines}")
