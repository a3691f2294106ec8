"""Mocks for tests that trial runs; importing this installs no reactor."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from twisted.internet.defer import Deferred, maybeDeferred
from twisted.trial import unittest

from trafficmock.testing import tx
from trafficmock.testing.adapters.teardown import TITLE, show_in_text, wrap_test_method
from trafficmock.testing.case_settings import CaseSettings
from trafficmock.testing.launch.proxy_process import process_proxy
from trafficmock.testing.objects.traffic_mock import AsyncTrafficMock, finish

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from twisted.python.failure import Failure

    from trafficmock.testing.adapters.twisted_connection import TwistedConnection
    from trafficmock.testing.session.session import Session


class TrafficMockMixin(CaseSettings):
    """Gives a test case mocks whose leftovers fail the test.

    ``trafficmock_proxy`` says which proxy; else the environment's, or one that is started
    and lives as long as the process. Put it before ``TestCase`` among the bases. The module for
    ``unittest`` has a mixin and a ``TestCase`` of the same names, as trial has them of unittest.
    """

    _trafficmock_mine: tuple[TwistedConnection, Session] | None = None

    def run(self: Any, result: Any = None) -> Any:
        """Run the test; the error of one that fails has the traffic around it."""
        with wrap_test_method(self, self._trafficmock_wrapped):
            return super().run(result)  # type: ignore[misc] # the test case's

    def begin_mocks(self: Any) -> Deferred[AsyncTrafficMock]:
        """Connect for this test; its end disconnects.

        :raises ConnectionLostError: there is no proxy.
        """
        return Deferred.fromCoroutine(_begin(self))

    def _trafficmock_wrapped(self, method: Callable[[], Any]) -> Callable[[], Any]:
        def with_report() -> Deferred[Any]:
            return maybeDeferred(method).addErrback(self._trafficmock_failed)

        # Trial refuses generators, which it has to see.
        return method if inspect.isgeneratorfunction(method) else with_report

    def _trafficmock_failed(self, failure: Failure) -> Any:
        mine = self._trafficmock_mine
        if mine is None or failure.check(unittest.SkipTest, KeyboardInterrupt):
            return failure
        return Deferred.fromCoroutine(_report(*mine, failure))


class TestCase(TrafficMockMixin, unittest.TestCase):
    """A test case whose tests find their mocks in ``self.trafficmock``.

    Tests may be ``async def`` or return Deferreds.
    """

    trafficmock: AsyncTrafficMock

    def setUp(self) -> Any:
        """Connect."""
        return Deferred.fromCoroutine(self._set_up())

    async def _set_up(self) -> None:
        self.trafficmock = await self.begin_mocks()


async def _begin(case: Any) -> AsyncTrafficMock:
    from twisted.internet import reactor  # noqa: PLC0415, TID251 - trial has picked it by now

    proxy = case.trafficmock_proxy or process_proxy()
    connection = await tx.connect(reactor, proxy.url, token=proxy.token)
    mocks = await connection.begin(case._trafficmock_info())  # noqa: SLF001 - our mixin's
    (session,) = connection.client.sessions.values()
    case._trafficmock_mine = connection, session  # noqa: SLF001 - our mixin's
    case.addCleanup(lambda: Deferred.fromCoroutine(_end(case, mocks, connection)))
    return mocks


async def _end(case: Any, mocks: AsyncTrafficMock, connection: TwistedConnection) -> None:
    errors = await finish(mocks)
    await connection.close()
    _raise_each(case, errors)


def _raise_each(case: Any, errors: Sequence[BaseException]) -> None:
    """Raise what is left of a test, one error after the other.

    Trial shows nothing of the errors in a group, and nothing of notes.
    """
    if not errors:
        return
    first, *others = errors
    for note in getattr(first, "__notes__", ()):
        show_in_text(first, note)
    # Trial goes on with the clean-ups that a clean-up adds.
    case.addCleanup(_raise_each, case, others)
    raise first


async def _report(connection: TwistedConnection, session: Session, failure: Failure) -> Failure:
    error, text = failure.value, await connection.traffic(session)
    if error is not None and text:
        show_in_text(error, f"\n{TITLE}:\n{text}")
    return failure
