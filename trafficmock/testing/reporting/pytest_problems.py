"""What is found at the end of a pytest run, when no test can have it: its summary says it.

Errors fail the run. A worker of pytest-xdist hands its own to the controller.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pytest

from trafficmock.testing.reporting.guard import TITLE, guarded

_OUTPUT = "trafficmock_problems"
_NOTES = "trafficmock_notes"
_PROBLEMS: pytest.StashKey[list[tuple[str, str]]] = pytest.StashKey()
"""The title and the text of each."""
_SAID: pytest.StashKey[list[tuple[str, str]]] = pytest.StashKey()
"""The same of what fails no run."""
_IN_TEARDOWN: pytest.StashKey[bool] = pytest.StashKey()

_LEFT = "errors in mocks, after the last test"


def at_end(config: pytest.Config, what: str) -> AbstractContextManager[None]:
    """Return a context manager of what a hook does when no test runs."""
    return guarded(what, lambda text: _add(config, TITLE, text))


@contextmanager
def teardown(config: pytest.Config) -> Iterator[None]:
    """Run the teardown of a test; fixtures that end within it may fail that test."""
    config.stash[_IN_TEARDOWN] = True
    try:
        yield
    finally:
        config.stash[_IN_TEARDOWN] = False


@contextmanager
def ending(config: pytest.Config) -> Iterator[None]:
    """Run the end of a fixture, whose error fails the test that is torn down.

    A run that was interrupted, or stopped by ``-x``, ends its fixtures when no test is torn down.
    An error of a fixture then ends pytest without its summary and its reports, so it is kept for
    the summary.
    """
    try:
        yield
    except (Exception, BaseExceptionGroup) as error:
        if config.stash.get(_IN_TEARDOWN, False):
            raise
        _add(config, _LEFT, "".join(traceback.format_exception(error)).rstrip())


def note(config: pytest.Config, title: str, text: str) -> None:
    """Say something in the summary of the run, without failing it."""
    _add(config, title, text, fails=False)


def _add(config: pytest.Config, title: str, text: str, *, fails: bool = True) -> None:
    output: dict[str, Any] | None = getattr(config, "workeroutput", None)
    if output is None:
        config.stash.setdefault(_PROBLEMS if fails else _SAID, []).append((title, text))
    else:
        said = output.setdefault(_OUTPUT if fails else _NOTES, [])
        said.append((sendable(title), sendable(text)))


def add_of_worker(config: pytest.Config, output: dict[str, Any]) -> None:
    """Add those of a worker of xdist."""
    for name, fails in ((_OUTPUT, True), (_NOTES, False)):
        for title, text in output.get(name, ()):
            _add(config, title, text, fails=fails)


def lost_worker(config: pytest.Config, name: str) -> None:
    """Fail a strict run, one of whose workers of xdist has ended without its last message.

    :param name: as xdist shows it, such as ``gw1``.
    """
    text = (
        f"The worker {name} of pytest-xdist ended before it could tell which requests of no test "
        "strict mode refused."
    )
    _add(config, "requests without a test are not known", text)


def fail_run(session: pytest.Session) -> None:
    """Fail a run that would pass: what was not looked at is not known to be right."""
    if session.config.stash.get(_PROBLEMS, None) and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def write(reporter: pytest.TerminalReporter) -> None:
    """Write them, each once, although every worker may have met the same."""
    for key in (_SAID, _PROBLEMS):
        for title, text in dict.fromkeys(reporter.config.stash.get(key, None) or ()):
            reporter.section(title, red=True, bold=True)
            reporter.line(text)


def fail_test(report: pytest.TestReport, text: str) -> None:
    """Fail a test by an error in a hook of trafficmock; one that has failed shows it, too."""
    if report.failed:
        report.sections.append((TITLE, text))
    else:
        report.outcome, report.longrepr = "failed", text


def sendable(value: Any) -> Any:
    """Return what a worker of xdist sends, with lone surrogates escaped in all of its texts.

    What an application sends, and so the error of a test, may have them. A worker cannot send such
    a text, and would end with the tests that it still has.
    """
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {sendable(key): sendable(item) for key, item in value.items()}
    if isinstance(value, tuple):
        # The reason of a skip is one, which pytest's own reports insist on.
        return tuple(map(sendable, value))
    return [*map(sendable, value)] if isinstance(value, list) else value
