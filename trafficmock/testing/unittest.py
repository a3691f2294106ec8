"""Mocks for the standard library's ``unittest``."""

from __future__ import annotations

import contextlib
import functools
import inspect
import unittest
from collections.abc import Callable
from typing import Any

from trafficmock.testing.adapters.teardown import note_traffic, raise_errors, warn, wrap_test_method
from trafficmock.testing.adapters.threaded_connection import ThreadedConnection
from trafficmock.testing.case_settings import CaseSettings
from trafficmock.testing.errors import (
    ConnectionLostError,
    NoApplicationError,
    RefusedError,
    UnownedRequestsError,
)
from trafficmock.testing.launch.proxy_process import Proxy, process_proxy
from trafficmock.testing.objects.blocking.traffic_mock import TrafficMock, finish
from trafficmock.testing.reporting.case_report import reported_case
from trafficmock.testing.reporting.run_recorder import recorder
from trafficmock.testing.self_attachment import begin_test
from trafficmock.testing.session.session import Session
from trafficmock.testing.session.unowned_text import UNOWNED, unowned_lines
from trafficmock.testing.sync import begin


class TrafficMockMixin(CaseSettings):
    """Adds ``self.trafficmock`` to a test case; errors of the mocks fail the test at its end.

    Put it before ``TestCase`` among the bases. Without the attribute ``trafficmock_proxy``, the
    tests use the proxy that the environment names, else one that is started and runs as long as
    the process.

    With ``trafficmock_strict``, each test is strict. From the first test of the class to the last,
    requests that no test owns are refused as well; they fail the class, as an error in its
    ``tearDownClass``.
    """

    trafficmock: TrafficMock
    _trafficmock_mine: tuple[ThreadedConnection, Session] | None = None
    _trafficmock_failed: bool = False
    _trafficmock_reports: bool = False
    _trafficmock_run: ThreadedConnection | None = None

    def run(self: Any, result: Any = None) -> Any:
        """Run the test; its error, if it fails, has a note with the traffic of the test."""
        with reported_case(self, result), wrap_test_method(self, self._trafficmock_wrapped):
            return super().run(result)  # type: ignore[misc] # the test case's

    def setUp(self: Any) -> None:
        """Connect to the proxy and register the test; clean-ups end both.

        :raises ConnectionLostError: no proxy answers.
        :raises RefusedError: the proxy refuses the connection.
        """
        super().setUp()  # type: ignore[misc] # the test case's
        proxy = self.trafficmock_proxy or process_proxy(*self.trafficmock_proxy_options)
        if self.trafficmock_strict:
            _begin_strict_class(type(self), proxy)
        _begin_report(type(self), proxy)
        connection = ThreadedConnection(proxy.url, token=proxy.token)
        self.addCleanup(connection.close)
        title = self.id()
        mocks, session = begin(connection, self._trafficmock_info())
        self.trafficmock = mocks
        self._trafficmock_mine = connection, session
        self.addCleanup(lambda: self._trafficmock_end(title))
        self.addCleanup(begin_test(session))

    def _trafficmock_end(self: Any, title: str) -> None:
        connection, session = self._trafficmock_mine
        if session.passed is None:
            # Errors in `tearDown` and in subtests are known to unittest alone.
            session.passed = getattr(getattr(self, "_outcome", None), "success", None)
        errors = finish(self.trafficmock)
        # An error in `tearDown` is in the result alone, which is judged at the end.
        failed = True if errors or self._trafficmock_failed else None
        connection.report(session, failed=failed)
        raise_errors(title, errors)
        if not failed:
            warn(session)

    def _trafficmock_wrapped(self, method: Callable[[], Any]) -> Callable[[], Any]:
        if inspect.iscoroutinefunction(method):

            @functools.wraps(method)
            async def awaiting() -> Any:
                try:
                    return await method()
                except Exception as error:
                    self._trafficmock_note(error)
                    raise

            return awaiting

        @functools.wraps(method)
        def calling() -> Any:
            try:
                return method()
            except Exception as error:
                self._trafficmock_note(error)
                raise

        return calling

    def _trafficmock_note(self, error: Exception) -> None:
        if self._trafficmock_mine is None:
            return
        connection, session = self._trafficmock_mine
        session.judged, session.passed = True, False
        if isinstance(error, unittest.SkipTest):
            return
        self._trafficmock_failed = True
        note_traffic(error, connection.traffic(session))


def _begin_report(case: Any, proxy: Proxy) -> None:
    """Have what no test owned reported after the last test of a class, if there is a report."""
    if recorder() is None or "_trafficmock_reports" in vars(case):
        return
    case._trafficmock_reports = True  # noqa: SLF001 - our mixin's
    case.addClassCleanup(_report_unowned, proxy)


def _report_unowned(proxy: Proxy) -> None:
    # A report does not fail tests.
    with contextlib.suppress(ConnectionLostError, RefusedError):
        connection = ThreadedConnection(proxy.url, token=proxy.token)
        connection.report_unowned()
        connection.close()


def _begin_strict_class(case: Any, proxy: Proxy) -> None:
    """Begin a strict run that lasts as long as the tests of a class."""
    # Of this class alone: its subclasses may be strict as well, each with a run of its own.
    run = vars(case).get("_trafficmock_run")
    if run is not None:
        run.refresh()
        return
    connection = case._trafficmock_run = ThreadedConnection(proxy.url, token=proxy.token)  # noqa: SLF001 - our mixin's
    case.addClassCleanup(_end_strict_class, case, connection)
    connection.make_run_strict(case.trafficmock_allow)
    connection.unmatched()


def _end_strict_class(case: Any, connection: ThreadedConnection) -> None:
    """End the strict run of a class.

    :raises UnownedRequestsError: strict mode refused requests that no test owns.
    :raises NoApplicationError: no application was connected to the proxy.
    """
    case._trafficmock_run = None  # noqa: SLF001 - our mixin's
    answer = connection.unmatched()
    connection.close()
    if answer is None:
        return
    if answer.requests:
        lines = unowned_lines(answer.requests, answer.dropped)
        raise UnownedRequestsError("\n".join((f"{UNOWNED}:", *lines)))
    if answer.no_application:
        raise NoApplicationError(answer.no_application)


class TestCase(TrafficMockMixin, unittest.TestCase):
    """A test case of unittest whose mocks are ``self.trafficmock``."""
