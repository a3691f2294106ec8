"""Test cases of unittest that call clients in their own process."""

import unittest

import httpx
import requests

import trafficmock
from trafficmock.testing.unittest import TrafficMockMixin

URL = "https://prices.example/v1"
BEFORE = requests.adapters.HTTPAdapter.send


def setUpModule() -> None:
    unittest.addModuleCleanup(check)
    unittest.addModuleCleanup(trafficmock.attach_self().stop)


def check() -> None:
    assert requests.adapters.HTTPAdapter.send is BEFORE


class BlockingTests(TrafficMockMixin, unittest.TestCase):
    """A blocking client."""

    def test_requests(self) -> None:
        self.trafficmock.route(URL, lambda route: route.fulfill(json=1))
        self.assertEqual(requests.get(URL, timeout=10).json(), 1)


class CoroutineTests(TrafficMockMixin, unittest.IsolatedAsyncioTestCase):
    """An asynchronous client."""

    async def test_httpx(self) -> None:
        self.trafficmock.route(URL, lambda route: route.fulfill(json=2))
        async with httpx.AsyncClient() as client:
            self.assertEqual((await client.get(URL)).json(), 2)
