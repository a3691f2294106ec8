"""The shop's server with trial: coroutines on the reactor."""

from shop_process import shop
from twisted.internet.defer import Deferred
from twisted.internet.threads import deferToThread

from trafficmock.testing.trial import TestCase


def buy() -> Deferred[str]:
    return deferToThread(shop().buy)


class ShopTests(TestCase):
    async def test_paid(self) -> None:
        await self.trafficmock.route(
            "**/charges", lambda route, _: route.fulfill(json={"receipt": "R1"})
        )
        self.assertEqual(await buy(), "Thank you! Receipt R1.")

    async def test_declined(self) -> None:
        await self.trafficmock.route("**/charges", lambda route, _: route.fulfill(status=402))
        self.assertEqual(await buy(), "Your card was declined.")

    async def test_what_is_charged(self) -> None:
        await self.trafficmock.route(
            "**/charges", lambda route, _: route.fulfill(json={"receipt": "R1"})
        )
        async with self.trafficmock.expect_request("**/charges") as charge:
            await buy()
        request = await charge.value
        self.assertEqual(request.post_data_json, {"amount": 4200, "currency": "EUR"})

    async def test_unreachable(self) -> None:
        await self.trafficmock.route(
            "**/charges", lambda route, _: route.abort("connectionrefused")
        )
        self.assertEqual(await buy(), "Please try again later.")

    async def test_second_try(self) -> None:
        await self.trafficmock.route(
            "**/charges", lambda route, _: route.fulfill(json={"receipt": "R2"})
        )
        await self.trafficmock.route("**/charges", lambda route, _: route.abort(), times=1)
        self.assertEqual(await buy(), "Thank you! Receipt R2.")
