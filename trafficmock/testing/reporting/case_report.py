"""Reports test cases of unittest and trial, and ``mocks()`` blocks of code."""

from __future__ import annotations

import inspect
import traceback
import unittest
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from trafficmock.errors import LocalError
from trafficmock.testing.reporting.guard import guarded
from trafficmock.testing.reporting.record_of_test import FinishedTest
from trafficmock.testing.reporting.run_recorder import now_ms, recorder, shown_path
from trafficmock.testing.session.session import Session

_BAD = ("errors", "failures", "unexpectedSuccesses")


def failed_by(error: BaseException) -> bool | None:
    """Return whether an error fails a test; ``None`` for one that skips it."""
    # pytest may not be installed; its exception has this name.
    is_skip = isinstance(error, unittest.SkipTest) or type(error).__name__ == "Skipped"
    return None if is_skip else True


@contextmanager
def reported_case(case: Any, result: Any) -> Iterator[None]:
    """Report a test case that runs within the block.

    Under pytest, which has results of its own, its plugin reports.

    :param case: a test case of unittest or trial.
    :param result: the result that the runner gave it.
    """
    try:
        run = recorder()
    except LocalError as error:
        # Raised here, it would end the run instead of failing the test.
        if result is not None:
            result.addError(case, (type(error), error, error.__traceback__))
        run = None
    lists = {name: getattr(result, name, None) for name in (*_BAD, "skipped")}
    if run is None or not isinstance(lists["errors"], list):
        yield
        return
    before = {name: len(found or ()) for name, found in lists.items()}
    run.judged = True
    began = now_ms()
    yield
    with guarded("report how a test has ended", run.fail):
        later = {name: (found or [])[before[name] :] for name, found in lists.items()}
        bad = [each for name in _BAD for each in later[name]]
        outcome = "failed" if bad else "skipped" if later["skipped"] else "passed"
        file, line = _place(case)
        run.test_ended(
            FinishedTest(
                title=case.id(),
                file=file,
                line=line,
                outcome=outcome,
                error="\n".join(_text(each) for each in bad),
                started_at=began,
                duration_ms=now_ms() - began,
            )
        )


def end_block(session: Session, error: BaseException | None) -> None:
    """Report a ``mocks()`` block as a test, where no test runner reports the end of the test.

    :param error: the error that it has raised.
    """
    run = recorder()
    if run is None or run.judged:
        return
    failed = None if error is None else failed_by(error)
    began = session.started_at or now_ms()
    with guarded("report how a test has ended", run.fail):
        run.test_ended(
            FinishedTest(
                title=session.info.title,
                file=session.info.file,
                outcome="failed" if failed else "passed" if error is None else "skipped",
                error="".join(traceback.format_exception(error)) if failed and error else "",
                started_at=began,
                # The clock of the proxy may be another one.
                duration_ms=max(0, now_ms() - began),
            )
        )


def _text(bad: Any) -> str:
    """Return the text of a failure in a result: of unittest a string, of trial a ``Failure``."""
    said = bad[1] if isinstance(bad, tuple) else "unexpected success"
    return said if isinstance(said, str) else str(getattr(said, "getTraceback", lambda: said)())


def _place(case: Any) -> tuple[str, int | None]:
    """Return the file and line of a test method."""
    method = inspect.unwrap(getattr(type(case), case._testMethodName, None) or type(case))  # noqa: SLF001 - unittest's and trial's name for it
    code = getattr(method, "__code__", None)
    if code is None:
        return type(case).__module__, None
    return shown_path(code.co_filename), code.co_firstlineno
