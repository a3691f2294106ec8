"""Adds the errors of a test's mocks to the one failure that pytest reports for the test."""

from __future__ import annotations

import traceback
from collections.abc import Iterable
from contextlib import suppress

import pytest
from attrs import define, field

from trafficmock.testing.adapters.teardown import raise_errors, warn
from trafficmock.testing.adapters.threaded_connection import ThreadedConnection
from trafficmock.testing.errors import ConnectionLostError
from trafficmock.testing.session import required_routes
from trafficmock.testing.session.session import Session
from trafficmock.testing.session.traffic_report import TITLE

ERRORS = "errors in the mocks of this test"
SHARED = "in the routes that the tests of this worker share (trafficmock_shared)"


@define(eq=False)
class SharedErrors:
    """The errors of the routes that all tests of a worker share; they fail the test that runs.

    :param sessions: the sessions of the shared routes: of the worker, and of the run.
    """

    connection: ThreadedConnection
    sessions: list[Session]

    def take(self) -> list[BaseException]:
        """Return and forget the errors so far."""
        errors = [error for session in self.sessions for error in _taken(self.connection, session)]
        for error in errors:
            error.add_note(SHARED)
        return errors


@define(eq=False)
class TestErrors:
    """The errors of one test's mocks, and what its report gets.

    :param item: the test.
    :param shared: the errors of the shared routes, if its worker has any.
    :ivar failed: whether a report of the test has failed; it has the traffic and the errors until
        then.
    """

    __test__ = False

    item: pytest.Item
    shared: SharedErrors | None = None
    connection: ThreadedConnection | None = field(init=False, default=None)
    session: Session | None = field(init=False, default=None)
    failed: bool = field(init=False, default=False)
    _has_errors: bool = field(init=False, default=False)
    _traffic: str = field(init=False, default="")
    _late: list[BaseException] = field(init=False, factory=list)

    def begin(self, connection: ThreadedConnection, session: Session) -> None:
        """Set the connection and the session of this test's mocks."""
        self.connection, self.session = connection, session

    def raise_after_call(self) -> None:
        """Fail the test after its call, with the errors of its mocks.

        :raises ExceptionGroup: there are errors.
        """
        self._judge()
        raise_errors(self.item.nodeid, self._take())

    def _judge(self) -> None:
        """Look for routes that had to be met; a test that failed before has none."""
        connection, session = self.connection, self.session
        if connection is not None and session is not None and not session.ended:
            with suppress(ConnectionLostError):  # the end of the test reports the loss
                connection.background.wait_for(lambda: required_routes.check(session))

    def end(self) -> None:
        """End the mocks of this test; errors since its call fail the teardown.

        :raises ExceptionGroup: there are errors, and the test has not failed before.
        """
        connection, session = self.connection, self.session
        if connection is None or session is None:
            return
        session.judged, session.passed = True, not self.failed
        errors = connection.background.wait_for(session.finish)
        self._has_errors = bool(errors)
        if errors and not self.failed:
            # Read here: the connection may be closed when the report of the teardown is made.
            self._traffic = connection.traffic(session)
        self._raise_unless_failed(errors)
        if not self.failed:
            warn(session)

    def report(self) -> None:
        """Offer the traffic to the report of the run, after the end."""
        if self.connection is not None and self.session is not None:
            failed = self.failed or self._has_errors
            self.connection.report(self.session, failed=failed, stays_open=True)

    def raise_after_teardown(self) -> None:
        """Fail the teardown by errors of shared routes during it.

        :raises ExceptionGroup: there are errors, and the test has not failed before.
        """
        if self.shared is not None:
            self._raise_unless_failed(self.shared.take())

    def _raise_unless_failed(self, errors: list[BaseException]) -> None:
        if self.failed:
            self._late += errors
        else:
            raise_errors(self.item.nodeid, errors)

    def add_to(self, report: pytest.TestReport) -> None:
        """Add traffic and errors to the first report that fails, later errors to the teardown."""
        expected = report.skipped and hasattr(report, "wasxfail")
        if (report.failed or expected) and not self.failed:
            self.failed = True
            if text := _formatted(self._take()):
                report.sections.append((ERRORS, text))
            if text := self._traffic or self._traffic_text():
                report.sections.append((TITLE, text))
        elif report.when == "teardown" and (text := _formatted(self._late)):
            # pytest shows such a section with the failure of the call if its title has "teardown".
            report.sections.append((f"{ERRORS}, teardown", text))

    def _take(self) -> list[BaseException]:
        errors = self.shared.take() if self.shared else []
        if self.connection is not None and self.session is not None:
            errors = [*_taken(self.connection, self.session), *errors]
        return errors

    def _traffic_text(self) -> str:
        if self.connection is None or self.session is None:
            return ""
        return self.connection.traffic(self.session)


def _taken(connection: ThreadedConnection, session: Session) -> list[BaseException]:
    """Take the errors of a session; none where it has ended, or its connection is lost."""
    if session.ended:
        return []
    try:
        return connection.background.wait_for(session.take_errors)
    except ConnectionLostError:
        # The end of the test reports the loss.
        return []


def _formatted(errors: Iterable[BaseException]) -> str:
    return "".join(text for each in errors for text in traceback.format_exception(each))
