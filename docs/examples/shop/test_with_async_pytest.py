"""The shop in a browser: pytest-playwright-asyncio, with the same fixture ``trafficmock``."""

import pytest
from playwright.async_api import Page, expect
from shop_process import Shop

from trafficmock.testing.aio import AsyncRequest, AsyncRoute, AsyncTrafficMock

# The plugin's pages live on the session's event loop.
pytestmark = pytest.mark.asyncio(loop_scope="session")


async def paid(route: AsyncRoute, request: AsyncRequest) -> None:
    await route.fulfill(json={"receipt": "R1"})


async def buy(page: Page, shop: Shop) -> None:
    await page.goto(shop.url)
    await page.click("text=Buy the teapot")


async def test_paid(page: Page, shop: Shop, trafficmock: AsyncTrafficMock) -> None:
    await trafficmock.route("**/charges", paid)
    await buy(page, shop)
    await expect(page.locator("#said")).to_have_text("Thank you! Receipt R1.")


async def test_declined(page: Page, shop: Shop, trafficmock: AsyncTrafficMock) -> None:
    await trafficmock.route("**/charges", lambda route, _: route.fulfill(status=402))
    await buy(page, shop)
    await expect(page.locator("#said")).to_have_text("Your card was declined.")


async def test_what_is_charged(page: Page, shop: Shop, trafficmock: AsyncTrafficMock) -> None:
    await trafficmock.route("**/charges", paid)
    async with trafficmock.expect_request("**/charges") as charge:
        await buy(page, shop)
    request = await charge.value
    assert request.post_data_json == {"amount": 4200, "currency": "EUR"}


async def test_unreachable(page: Page, shop: Shop, trafficmock: AsyncTrafficMock) -> None:
    async def unreachable(route: AsyncRoute, request: AsyncRequest) -> None:
        # Here, unlike in blocking tests, a handler may use the page: it is on the page's loop.
        await page.evaluate("document.title = 'Out of reach'")
        await route.abort("connectionrefused")

    await trafficmock.route("**/charges", unreachable)
    await buy(page, shop)
    await expect(page.locator("#said")).to_have_text("Please try again later.")
    await expect(page).to_have_title("Out of reach")


async def test_second_try(page: Page, shop: Shop, trafficmock: AsyncTrafficMock) -> None:
    await trafficmock.route("**/charges", paid)
    await trafficmock.route("**/charges", lambda route, _: route.abort(), times=1)
    await buy(page, shop)
    await expect(page.locator("#said")).to_have_text("Thank you! Receipt R1.")
