"""Mocks for tests that trial runs; importing this installs no reactor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from twisted.internet.defer import Deferred
from twisted.trial import unittest

from trafficmock.testing import tx
from trafficmock.testing.awaitable import AsyncTrafficMock, finish
from trafficmock.testing.ending import raise_left
from trafficmock.testing.launch import Proxy, process_proxy
from trafficmock.testing.session import TestInfo

if TYPE_CHECKING:
    from trafficmock.testing.tx_connection import TwistedConnection


class TrafficMockMixin:
    """Gives a test case mocks whose leftovers fail the test.

    ``trafficmock_proxy`` says which proxy; else the environment's, or one that is started
    and lives as long as the process.
    """

    trafficmock_proxy: Proxy | None = None
    trafficmock_base_url: str | None = None

    def begin_mocks(self: Any) -> Deferred[AsyncTrafficMock]:
        """Connect for this test; its end disconnects.

        :raises ConnectionLostError: there is no proxy.
        """
        return Deferred.fromCoroutine(_begin(self))


class TestCase(TrafficMockMixin, unittest.TestCase):
    """A test case whose tests find their mocks in ``self.trafficmock``.

    Tests may be ``async def`` or return Deferreds.
    """

    __test__ = False

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
    info = TestInfo(title=case.id(), file=type(case).__module__, base_url=case.trafficmock_base_url)
    mocks = await connection.begin(info)
    case.addCleanup(lambda: Deferred.fromCoroutine(_end(mocks, connection, info.title)))
    return mocks


async def _end(mocks: AsyncTrafficMock, connection: TwistedConnection, title: str) -> None:
    errors = await finish(mocks)
    await connection.close()
    raise_left(title, errors)
