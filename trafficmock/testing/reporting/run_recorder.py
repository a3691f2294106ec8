"""One process of a run, with the tests that its report gets."""

from __future__ import annotations

import atexit
import json
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import msgspec
from attrs import define, field

from trafficmock.errors import LocalError
from trafficmock.report.data_files import DataFile
from trafficmock.report.report_directory import write_report
from trafficmock.report.report_settings import ReportSettings, report_settings
from trafficmock.testing.reporting.record_of_test import (
    FinishedTest,
    SessionTraffic,
    record_of_test,
)
from trafficmock.testing.reporting.run_age import run_started_at
from trafficmock.testing.session.session import Session
from trafficmock.wire.outbound import ReportResult
from trafficmock.wire.payloads.refused_request import UnmatchedRequest

_LATER = 2**53 - 1
"""Epoch milliseconds: the latest time that a query can have."""


def now_ms() -> int:
    """Return the time in epoch milliseconds."""
    return time.time_ns() // 1_000_000


@define(eq=False)
class RunRecorder:
    """Writes what the report gets of this process.

    :param settings: where, and of which tests.
    :param runner: the name of the test runner.
    :param worker: the name of this process among its workers.
    :ivar error: the error of the test that runs, as far as it is known.
    :ivar judged: whether a test runner reports how each test ends: the traffic of a session may
        then be needed although its own block of code has ended without an error.
    """

    settings: ReportSettings
    runner: str
    worker: str = "0"
    judged: bool = field(default=False, kw_only=True)
    error: str = field(init=False, default="", repr=False)
    started_at: int = field(init=False, factory=now_ms)
    _file: DataFile = field(init=False)
    _offered: list[SessionTraffic] = field(init=False, factory=list)
    _later: list[Callable[[], object]] = field(init=False, factory=list)
    _counts: Counter[str] = field(init=False, factory=Counter)
    _last_outcome: str = field(init=False, default="")
    _workers: dict[str, Any] = field(init=False, factory=dict, repr=False)
    _refused: list[UnmatchedRequest] = field(init=False, factory=list)
    _dropped: int = field(init=False, default=0)
    _problem: str = field(init=False, default="")
    _ended: bool = field(init=False, default=False)

    def __attrs_post_init__(self) -> None:
        self._file = DataFile(self.settings.directory, f"{self.runner}-{self.worker}")
        process = {
            "runner": self.runner,
            "worker": self.worker,
            "pid": os.getpid(),
            "startedAt": self.started_at,
            "runStartedAt": run_started_at(),
        }
        self._file.write({"type": "begin", "process": process})

    @property
    def problem(self) -> str:
        """Why the report is not complete; empty if it is."""
        return self._file.problem or self._problem

    def fail(self, problem: str) -> None:
        """Note why the report is not complete; the first reason counts."""
        self._problem = self._problem or problem

    def wants(self, *, failed: bool | None) -> bool:
        """Return whether the proxy is asked for the traffic of a session.

        :param failed: whether its test has failed; ``None`` if that is not known yet.
        """
        return self.settings.mode == "on" or (self.judged if failed is None else failed)

    @property
    def asked(self) -> dict[str, Any]:
        """The arguments of each query."""
        return {"body_bytes": self.settings.body_bytes, "redact": self.settings.redact}

    @property
    def counted(self) -> dict[str, Any]:
        """The arguments of a query for the counts alone: nothing came that late."""
        return self.asked | {"since": _LATER}

    def offer(
        self, session: Session, answer: ReportResult | None, missing: str = "", error: str = ""
    ) -> None:
        """Keep the traffic of a session until its test ends.

        :param answer: what the proxy has of it; ``None`` if it could not be asked.
        :param missing: why it could not be asked.
        :param error: the text that the proxy was given to redact.
        """
        if any(each.session is session for each in self._offered):
            return
        self._offered.append(SessionTraffic(session, answer, missing, error))
        self.heard(answer)

    def add_hars(self, session: Session) -> None:
        """Write what a session that has ended has used of HARs."""
        hars, session.hars = session.hars, {}
        for path, use in hars.items():
            used = {"entries": use.entries, "used": sorted(use.used)}
            self._file.write({"type": "har", "file": shown_path(path), **used})

    def ask_later(self, ask: Callable[[], object]) -> None:
        """Keep a function that asks for the traffic of a session, should its test fail yet."""
        self._later.append(ask)

    def test_ended(self, test: FinishedTest) -> None:
        """Write the traffic of a test that has ended, or drop it."""
        later, self._later = self._later, []
        self.error = test.error
        if test.outcome == "failed":
            for ask in later:
                ask()
        offered, self._offered, self.error = self._offered, [], ""
        if test.retry:
            # That of the last retry counts.
            self._counts[self._last_outcome] -= 1
        self._counts[test.outcome] += 1
        self._last_outcome = test.outcome
        if self.settings.mode != "on" and test.outcome != "failed":
            return
        for traffic in offered:
            record = record_of_test(traffic, test)
            if traffic.answer is not None and traffic.answer.entries:
                har = self._file.write_har(test.title, bytes(traffic.answer.har))
                record |= {"har": har} if har else {}
            self._file.write({"type": "test", "test": record})

    def unowned(self, answer: ReportResult | None, missing: str = "") -> None:
        """Write what no test owned; what is there twice is merged later.

        :param answer: ``None`` if the proxy could not be asked.
        :param missing: why it could not be asked.
        """
        if answer is None:
            self._problem = missing
            return
        self.heard(answer)
        if answer.entries or answer.connections or answer.omitted:
            sides = {"requests": answer.entries, "webSockets": answer.connections}
            self._file.write({"type": "unowned", **sides, "omitted": answer.omitted})

    def refused(self, requests: Iterable[UnmatchedRequest], dropped: int) -> None:
        """Take the requests without a test that strict mode refused."""
        self._refused += requests
        self._dropped = max(dropped, self._dropped)

    def end(self) -> None:
        """Write the end of this process."""
        if self._ended:
            return
        self._ended = True
        process: dict[str, Any] = {"endedAt": now_ms()}
        if self.problem:
            process["problem"] = self.problem
        self._file.write(
            {
                "type": "end",
                "process": process,
                "counts": dict(+self._counts),
                "workers": self._workers,
                "refused": msgspec.to_builtins(self._refused),
                "refusedDropped": self._dropped,
            }
        )

    def heard(self, answer: ReportResult | None) -> None:
        """Take what the proxy has counted for a connection."""
        if answer is not None:
            counts = json.loads(bytes(answer.counts))
            self._workers[counts["worker"]] = {**counts, "service": answer.service}


def merge(directory: Path) -> str:
    """Write the report of all processes that have written so far.

    :returns: why it could not be written, or what one of the processes could not write; else empty.
    """
    try:
        document = write_report(directory)
    except (OSError, LocalError) as error:
        return str(error)
    return next((each["problem"] for each in document["processes"] if "problem" in each), "")


_STARTED_IN = Path.cwd()
"""Trial has another working directory while it runs tests."""


def shown_path(path: str) -> str:
    """Return a path from the directory in which the run began, if it is within that."""
    whole = Path(os.path.normpath(path))
    inside = whole.is_relative_to(_STARTED_IN)
    return (whole.relative_to(_STARTED_IN) if inside else whole).as_posix()


_current: RunRecorder | None = None
_is_chosen = False


def choose(recorder: RunRecorder | None) -> None:
    """Set the recorder of this process; ``None`` for a process without a report."""
    global _current, _is_chosen
    _current, _is_chosen = recorder, True


def recorder() -> RunRecorder | None:
    """Return the recorder of this process; ``None`` if no report is wanted.

    The first call decides, by the environment, unless a runner has chosen.

    :raises LocalError: a value of the environment is invalid.
    """
    if not _is_chosen:
        settings = report_settings(os.environ, _STARTED_IN)
        choose(None if settings is None else RunRecorder(settings, "python"))
        if _current is not None:
            atexit.register(finish, _current)
    return _current


def finish(recorder: RunRecorder) -> None:
    """End a process of a run, and write the report."""
    recorder.end()
    merge(recorder.settings.directory)
