"""Test cases of trial that call clients in their own process."""

from typing import Any

import requests
import treq
from twisted.internet import reactor  # noqa: TID251 - trial has one
from twisted.internet.defer import Deferred
from twisted.internet.threads import deferToThread

import trafficmock
from trafficmock.testing import trial, tx

trafficmock.attach_self()
URL = "https://prices.example/v1"


class DeferredTests(trial.TestCase):
    """Coroutines, threads and Deferreds."""

    timeout = 20.0

    async def test_coroutine(self) -> None:
        await self.trafficmock.route(URL, lambda route: route.fulfill(json=1))
        self.assertEqual(await (await treq.get(URL, persistent=False)).json(), 1)

    async def test_thread(self) -> None:
        await self.trafficmock.route(URL, lambda route: route.fulfill(json=2))
        answer = await deferToThread(requests.get, URL, timeout=10)
        self.assertEqual(answer.json(), 2)

    async def test_block(self) -> None:
        """Another test of this process, whose context is current in the block."""
        async with tx.mocks(reactor, title="block") as mocks:
            await mocks.mock(URL, json=4)
            await self.trafficmock.mock(URL, json=5)
            self.assertEqual(await (await treq.get(URL, persistent=False)).json(), 4)
        self.assertEqual(await (await treq.get(URL, persistent=False)).json(), 5)

    def test_callbacks(self) -> Any:
        async def routed() -> None:
            await self.trafficmock.route(URL, lambda route: route.fulfill(json=3))

        begun = Deferred.fromCoroutine(routed())
        asked: Any = begun.addCallback(lambda _: treq.get(URL, persistent=False))
        return asked.addCallback(treq.json_content).addCallback(self.assertEqual, 3)
