"""Mocks for the standard library's ``unittest``."""

from __future__ import annotations

from typing import Any

from trafficmock.testing.connection import Connection
from trafficmock.testing.ending import raise_left
from trafficmock.testing.launch import Proxy, process_proxy
from trafficmock.testing.session import TestInfo
from trafficmock.testing.sync import TrafficMock, begin, finish


class TrafficMockMixin:
    """Gives a test case ``self.trafficmock``, whose leftovers fail the test.

    Put it before ``TestCase`` among the bases. ``trafficmock_proxy`` says which proxy; else
    the environment's, or one that is started and lives as long as the process.
    """

    trafficmock_proxy: Proxy | None = None
    trafficmock_base_url: str | None = None
    trafficmock: TrafficMock

    def setUp(self: Any) -> None:
        """Connect; the test's end disconnects."""
        super().setUp()  # type: ignore[misc] # the test case's
        proxy = self.trafficmock_proxy or process_proxy()
        connection = Connection(proxy.url, token=proxy.token)
        self.addCleanup(connection.close)
        title = self.id()
        info = TestInfo(title=title, file=type(self).__module__, base_url=self.trafficmock_base_url)
        mocks, _ = begin(connection, info)
        self.trafficmock = mocks
        self.addCleanup(lambda: raise_left(title, finish(mocks)))
