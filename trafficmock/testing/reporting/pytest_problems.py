"""Errors in the hooks of trafficmock at the end of a pytest run: they fail it, in its summary.

A worker of pytest-xdist hands its own to the controller.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from trafficmock.testing.reporting.guard import TITLE, guarded

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

_OUTPUT = "trafficmock_problems"
_PROBLEMS: pytest.StashKey[list[str]] = pytest.StashKey()


def at_end(config: pytest.Config, what: str) -> AbstractContextManager[None]:
    """Return a context manager of what a hook does when no test runs."""
    return guarded(what, lambda text: _add(config, text))


def _add(config: pytest.Config, text: str) -> None:
    output: dict[str, Any] | None = getattr(config, "workeroutput", None)
    if output is None:
        config.stash.setdefault(_PROBLEMS, []).append(text)
    else:
        output.setdefault(_OUTPUT, []).append(text)


def add_of_worker(config: pytest.Config, output: dict[str, Any]) -> None:
    """Add those of a worker of xdist."""
    for text in output.get(_OUTPUT, ()):
        _add(config, str(text))


def fail_run(session: pytest.Session) -> None:
    """Fail a run that would pass: what was not looked at is not known to be right."""
    if session.config.stash.get(_PROBLEMS, None) and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def write(reporter: pytest.TerminalReporter) -> None:
    """Write them, each once, although every worker may have met the same."""
    problems = reporter.config.stash.get(_PROBLEMS, None)
    for text in dict.fromkeys(problems or ()):
        reporter.section(TITLE, red=True, bold=True)
        reporter.line(text)


def fail_test(report: pytest.TestReport, text: str) -> None:
    """Fail a test by an error in a hook of trafficmock; one that has failed shows it, too."""
    if report.failed:
        report.sections.append((TITLE, text))
    else:
        report.outcome, report.longrepr = "failed", text


def make_sendable(report: pytest.TestReport) -> None:
    """Escape lone surrogates in the sections of a report.

    What an application sends may have them. A worker of xdist cannot send such a text, and would
    end with the tests that it still has.
    """
    report.sections = [
        (title, text.encode("utf-8", "backslashreplace").decode())
        for title, text in report.sections
    ]
