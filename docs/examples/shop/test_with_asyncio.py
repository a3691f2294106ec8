"""The shop's server with asyncio: handlers run on the test's own event loop."""

import asyncio
import unittest
from contextlib import AbstractAsyncContextManager

from shop_process import shop

from trafficmock.testing import aio
from trafficmock.testing.aio import AsyncRequest, AsyncRoute, AsyncTrafficMock
from trafficmock.testing.launch import process_proxy


def mocks(title: str) -> AbstractAsyncContextManager[AsyncTrafficMock]:
    return aio.mocks(process_proxy().url, title=title)


async def buy() -> str:
    return await asyncio.to_thread(shop().buy)


async def paid(route: AsyncRoute, request: AsyncRequest) -> None:
    await route.fulfill(json={"receipt": "R1"})


class ShopTests(unittest.IsolatedAsyncioTestCase):
    async def test_paid(self) -> None:
        async with mocks(self.id()) as trafficmock:
            await trafficmock.route("**/charges", paid)
            self.assertEqual(await buy(), "Thank you! Receipt R1.")

    async def test_declined(self) -> None:
        async with mocks(self.id()) as trafficmock:
            await trafficmock.route("**/charges", lambda route, _: route.fulfill(status=402))
            self.assertEqual(await buy(), "Your card was declined.")

    async def test_what_is_charged(self) -> None:
        async with mocks(self.id()) as trafficmock:
            await trafficmock.route("**/charges", paid)
            async with trafficmock.expect_request("**/charges") as charge:
                await buy()
            request = await charge.value
            self.assertEqual(request.post_data_json, {"amount": 4200, "currency": "EUR"})

    async def test_unreachable(self) -> None:
        async with mocks(self.id()) as trafficmock:
            await trafficmock.route("**/charges", lambda r, _: r.abort("connectionrefused"))
            self.assertEqual(await buy(), "Please try again later.")

    async def test_second_try(self) -> None:
        async with mocks(self.id()) as trafficmock:
            await trafficmock.route("**/charges", paid)
            await trafficmock.route("**/charges", lambda route, _: route.abort(), times=1)
            self.assertEqual(await buy(), "Thank you! Receipt R1.")
