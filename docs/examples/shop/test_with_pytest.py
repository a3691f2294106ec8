"""The shop in a browser: pytest-playwright, with the fixture ``trafficmock``."""

from playwright.sync_api import Page, expect
from shop_process import Shop

from trafficmock.testing.sync import TrafficMock


def buy(page: Page, shop: Shop) -> None:
    page.goto(shop.url)
    page.click("text=Buy the teapot")


def test_paid(page: Page, shop: Shop, trafficmock: TrafficMock) -> None:
    trafficmock.route("**/charges", lambda route, _: route.fulfill(json={"receipt": "R1"}))
    buy(page, shop)
    expect(page.locator("#said")).to_have_text("Thank you! Receipt R1.")


def test_declined(page: Page, shop: Shop, trafficmock: TrafficMock) -> None:
    trafficmock.route("**/charges", lambda route, _: route.fulfill(status=402))
    buy(page, shop)
    expect(page.locator("#said")).to_have_text("Your card was declined.")


def test_what_is_charged(page: Page, shop: Shop, trafficmock: TrafficMock) -> None:
    trafficmock.route("**/charges", lambda route, _: route.fulfill(json={"receipt": "R1"}))
    with trafficmock.expect_request("**/charges") as charge:
        buy(page, shop)
    assert charge.value.post_data_json == {"amount": 4200, "currency": "EUR"}


def test_unreachable(page: Page, shop: Shop, trafficmock: TrafficMock) -> None:
    trafficmock.route("**/charges", lambda route, _: route.abort("connectionrefused"))
    buy(page, shop)
    expect(page.locator("#said")).to_have_text("Please try again later.")


def test_second_try(page: Page, shop: Shop, trafficmock: TrafficMock) -> None:
    trafficmock.route("**/charges", lambda route, _: route.fulfill(json={"receipt": "R2"}))
    trafficmock.route("**/charges", lambda route, _: route.abort(), times=1)
    buy(page, shop)
    expect(page.locator("#said")).to_have_text("Thank you! Receipt R2.")
