"""Mocks for test cases of trial; importing this module installs no reactor."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from twisted.internet.defer import Deferred, maybeDeferred
from twisted.trial import unittest

from trafficmock.testing import tx
from trafficmock.testing.adapters.teardown import show_in_text, warn, wrap_test_method
from trafficmock.testing.adapters.twisted_connection import TwistedConnection
from trafficmock.testing.case_settings import CaseSettings
from trafficmock.testing.launch.proxy_process import process_proxy
from trafficmock.testing.objects.async_traffic_mock import AsyncTrafficMock, finish
from trafficmock.testing.reporting.case_report import reported_case
from trafficmock.testing.self_attachment import begin_test
from trafficmock.testing.session.session import Session
from trafficmock.testing.session.traffic_report import TITLE

if TYPE_CHECKING:
    from twisted.python.failure import Failure


class TrafficMockMixin(CaseSettings):
    """Adds mocks to a test case of trial; their errors fail the test at its end.

    Put it before ``TestCase`` among the bases. Without the attribute ``trafficmock_proxy``, the
    tests use the proxy that the environment names, else one that is started and runs as long as
    the process. :mod:`trafficmock.testing.unittest` has classes of the same names for unittest.
    """

    _trafficmock_mine: tuple[TwistedConnection, Session] | None = None
    _trafficmock_has_failed: bool = False

    def run(self: Any, result: Any = None) -> Any:
        """Run the test; the text of its error, if it fails, has the traffic of the test."""
        with reported_case(self, result), wrap_test_method(self, self._trafficmock_wrapped):
            return super().run(result)  # type: ignore[misc] # the test case's

    def begin_mocks(self: Any) -> Deferred[AsyncTrafficMock]:
        """Connect to the proxy and register this test; a clean-up ends both.

        :returns: a Deferred of the mocks. It fails with ``ConnectionLostError`` if no proxy
            answers, and with ``RefusedError`` if the proxy refuses the connection.
        """
        return Deferred.fromCoroutine(_begin(self))

    def _trafficmock_wrapped(self: Any, method: Callable[[], Any]) -> Callable[[], Any]:
        def with_report() -> Deferred[Any]:
            if self._trafficmock_mine is not None:
                # Called by the reactor, in whose context the test and its callbacks run.
                self.addCleanup(begin_test(self._trafficmock_mine[1]))
            return maybeDeferred(method).addCallbacks(
                self._trafficmock_passed, self._trafficmock_failed
            )

        # Trial refuses generator functions: it must get the method itself.
        return method if inspect.isgeneratorfunction(method) else with_report

    def _trafficmock_passed(self, result: Any) -> Any:
        if self._trafficmock_mine is not None:
            self._trafficmock_mine[1].passed = True
        return result

    def _trafficmock_failed(self, failure: Failure) -> Any:
        mine = self._trafficmock_mine
        if mine is not None:
            mine[1].judged, mine[1].passed = True, False
            self._trafficmock_has_failed = True
        if mine is None or failure.check(unittest.SkipTest, KeyboardInterrupt):
            return failure
        return Deferred.fromCoroutine(_report(*mine, failure))


class TestCase(TrafficMockMixin, unittest.TestCase):
    """A test case of trial whose mocks are ``self.trafficmock``.

    Tests may be ``async def`` or return Deferreds.
    """

    trafficmock: AsyncTrafficMock

    def setUp(self) -> Any:
        """Connect to the proxy; the Deferred fires when the test is registered."""
        return Deferred.fromCoroutine(self._set_up())

    async def _set_up(self) -> None:
        self.trafficmock = await self.begin_mocks()


async def _begin(case: Any) -> AsyncTrafficMock:
    from twisted.internet import reactor  # noqa: PLC0415, TID251 - trial has picked it by now

    proxy = case.trafficmock_proxy or process_proxy(*case.trafficmock_proxy_options)
    connection = await tx.connect(reactor, proxy.url, token=proxy.token)
    mocks = await connection.begin(case._trafficmock_info())  # noqa: SLF001 - our mixin's
    (session,) = connection.client.sessions.values()
    case._trafficmock_mine = connection, session  # noqa: SLF001 - our mixin's
    case.addCleanup(lambda: Deferred.fromCoroutine(_end(case, mocks, connection)))
    return mocks


async def _end(case: Any, mocks: AsyncTrafficMock, connection: TwistedConnection) -> None:
    try:
        errors = await finish(mocks)
        # Trial runs `tearDown` after the clean-ups: it may fail the test yet.
        failed = True if errors or case._trafficmock_has_failed else None  # noqa: SLF001 - our mixin's
        await connection.report(case._trafficmock_mine[1], failed=failed)  # noqa: SLF001 - our mixin's
    finally:
        # What stays open would fail the next test.
        await connection.close()
    _raise_each(case, errors)
    if not failed:
        warn(case._trafficmock_mine[1])  # noqa: SLF001 - our mixin's


def _raise_each(case: Any, errors: Sequence[BaseException]) -> None:
    """Raise the errors of a test one by one, each in a clean-up of its own.

    Trial shows neither the errors in an exception group nor the notes of an error.
    """
    if not errors:
        return
    first, *others = errors
    for note in getattr(first, "__notes__", ()):
        show_in_text(first, note)
    # Trial also runs clean-ups that a clean-up adds.
    case.addCleanup(_raise_each, case, others)
    raise first


async def _report(connection: TwistedConnection, session: Session, failure: Failure) -> Failure:
    error, text = failure.value, await connection.traffic(session)
    if error is not None and text:
        show_in_text(error, f"\n{TITLE}:\n{text}")
    return failure
