"""How a wait is given up on each adapter, and what tests see when the proxy goes away."""

import asyncio
from typing import Any

from twisted.internet import reactor  # noqa: TID251 - trial's own
from twisted.internet.defer import CancelledError
from twisted.trial.unittest import TestCase

from tests.support.processes.tested_proxy import start_proxy
from tests.testing.shared_app import shared_app
from trafficmock.testing import aio, sync, tx
from trafficmock.testing.adapters.threaded_connection import ThreadedConnection
from trafficmock.testing.errors import ConnectionLostError, RefusedError
from trafficmock.testing.objects.blocking.traffic_mock import finish
from trafficmock.testing.session.session import TestInfo

NEVER = "**/never"


def open_waits(mocks: Any) -> int:
    return len(mocks._session.observation._open)


class CancelTests(TestCase):
    """Giving up in the idiom of each way of writing tests."""

    def setUp(self) -> None:
        self.url = shared_app().proxy.url

    def test_asyncio(self) -> None:
        """A cancelled task ends its wait."""

        async def main() -> None:
            async with aio.mocks(self.url) as mocks:
                waiting = asyncio.ensure_future(mocks.wait_for_request(NEVER, timeout=0))
                await asyncio.sleep(0)
                self.assertEqual(open_waits(mocks), 1)
                waiting.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await waiting
                await mocks.take_errors()
                self.assertEqual(open_waits(mocks), 0)

        asyncio.run(main())

    async def test_twisted(self) -> None:
        """A cancelled Deferred ends its wait."""
        async with tx.mocks(reactor, self.url) as mocks:
            waiting: Any = mocks.wait_for_request(NEVER, timeout=0)
            self.assertEqual(open_waits(mocks), 1)
            waiting.cancel()
            await self.assertFailure(waiting, CancelledError)
            self.assertEqual(open_waits(mocks), 0)

    def test_blocking(self) -> None:
        """A block that raises gives its expectation up."""
        with sync.mocks(self.url) as mocks:
            with self.assertRaises(KeyError), mocks.expect_request(NEVER, timeout=0):
                raise KeyError
            self.assertEqual(open_waits(mocks), 0)


class ConnectionTests(TestCase):
    """The proxy is not there, does not want us, or goes away."""

    def test_not_there(self) -> None:
        """Nobody at the address: the error says where we looked and what to do."""
        with self.assertRaisesRegex(ConnectionLostError, "127.0.0.1:1.*trafficmock serve"):
            ThreadedConnection("http://127.0.0.1:1")

    async def test_not_there_for_twisted(self) -> None:
        """The same on the reactor."""
        with self.assertRaisesRegex(ConnectionLostError, "127.0.0.1:1.*trafficmock serve"):
            await tx.connect(reactor, "http://127.0.0.1:1")

    async def test_refused_and_lost(self) -> None:
        """A wrong token is refused; a proxy that stops fails every call, and the end."""
        proxy = start_proxy(["--token", "right"])
        self.addCleanup(proxy.stop)
        with self.assertRaises(RefusedError):
            ThreadedConnection(proxy.url, token="wrong")
        with self.assertRaises(RefusedError):
            await tx.connect(reactor, proxy.url, token="wrong")
        connection = ThreadedConnection(proxy.url, token="right")
        self.addCleanup(connection.close)
        mocks, _ = sync.begin(connection, TestInfo(title="t", file="f"))
        expectation = mocks.expect_request(NEVER, timeout=0)
        proxy.stop()
        with self.assertRaises(ConnectionLostError):
            expectation.value  # noqa: B018 - reading waits
        with self.assertRaises(ConnectionLostError):
            mocks.route(NEVER, print)
        (error,) = finish(mocks)
        self.assertIsInstance(error, ConnectionLostError)
