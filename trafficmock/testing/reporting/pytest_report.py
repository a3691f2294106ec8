"""The report of a pytest run: which test runs, and how it ends."""

from __future__ import annotations

import os
from collections.abc import Generator

import pytest
from attrs import define, field

from trafficmock.report.data_files import forget
from trafficmock.report.report_directory import PAGE
from trafficmock.report.report_settings import ReportSettings
from trafficmock.testing.reporting import run_recorder
from trafficmock.testing.reporting.guard import guarded
from trafficmock.testing.reporting.record_of_test import FinishedTest
from trafficmock.testing.reporting.run_recorder import RunRecorder, now_ms
from trafficmock.testing.session.traffic_report import TITLE

RUNNER = "pytest"
WORKER = "PYTEST_XDIST_WORKER"


@define(eq=False)
class PytestReport:
    """A plugin of pytest that is registered in runs with a report.

    :param settings: where, and of which tests.
    :ivar recorder: that of this process, made with its first test; the controller of xdist has
        none.
    """

    settings: ReportSettings
    recorder: RunRecorder | None = field(init=False, default=None)
    _problem: str = field(init=False, default="")
    _began: int = field(init=False, default=0)
    _outcome: str = field(init=False, default="passed")
    _error: str = field(init=False, default="")
    _sections: dict[str, str] = field(init=False, factory=dict, repr=False)
    _test: str = field(init=False, default="")
    _retry: int = field(init=False, default=0)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Begin a test; plugins that retry run the same one again before any other."""
        if self.recorder is None:
            worker = os.environ.get(WORKER, "main")
            self.recorder = RunRecorder(self.settings, RUNNER, worker, judged=True)
            run_recorder.choose(self.recorder)
        self._began, self._outcome, self._error, self._sections = now_ms(), "passed", "", {}
        self._retry = self._retry + 1 if item.nodeid == self._test else 0
        self._test = item.nodeid

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Take how each part of a test has ended; the last part is the teardown."""
        report = yield
        with guarded("report how a test has ended", self._fail):
            self._take(item, call, report)
        return report

    def _take(
        self, item: pytest.Item, call: pytest.CallInfo[None], report: pytest.TestReport
    ) -> None:
        if report.failed:
            self._outcome = "failed"
            # An error of the teardown comes after that of the test itself.
            self._error = "\n\n".join(filter(None, (self._error, report.longreprtext)))
            if self.recorder is not None:
                self.recorder.error = self._error
        elif report.skipped and self._outcome == "passed":
            # An expected failure is reported as skipped, too.
            self._outcome = "passed" if hasattr(report, "wasxfail") else "skipped"
        # Its traffic is in the report as it is; later reports have the captured output again.
        self._sections |= {title: text for title, text in report.sections if title != TITLE}
        if call.when == "teardown" and self.recorder is not None:
            file, line, _ = item.location
            self.recorder.test_ended(
                FinishedTest(
                    title=item.nodeid,
                    file=file,
                    line=None if line is None else line + 1,
                    outcome=self._outcome,
                    error=self._error,
                    started_at=self._began,
                    duration_ms=now_ms() - self._began,
                    retry=self._retry,
                    sections=self._sections if self._outcome == "failed" else {},
                )
            )

    def _fail(self, problem: str) -> None:
        self._problem = self._problem or problem
        if self.recorder is not None:
            self.recorder.fail(problem)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        """Write the end of this process; the process that outlives all workers merges."""
        with guarded("end the report", self._fail):
            if self.recorder is not None:
                self.recorder.end()
                self._problem = self.recorder.problem
            if WORKER not in os.environ:
                self._problem = run_recorder.merge(self.settings.directory) or self._problem

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say where the report is."""
        terminalreporter.line(f"trafficmock report: {self.settings.directory / PAGE}")
        if self._problem:
            text = f"the trafficmock report is not complete: {self._problem}"
            terminalreporter.line(text, red=True)


def register(config: pytest.Config, settings: ReportSettings) -> None:
    """Begin the report of a run, and remove that of an earlier one, unless this is a worker.

    :raises LocalError: the directory cannot be written.
    """
    if WORKER not in os.environ:
        forget(settings.directory, RUNNER)
    run_recorder.choose(None)
    config.pluginmanager.register(PytestReport(settings), "trafficmock-report")
