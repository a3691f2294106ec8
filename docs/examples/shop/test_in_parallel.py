"""The shop with pytest-playwright and pytest-xdist: one shop, and three tests that mock one URL."""

from playwright.sync_api import Page, expect

from trafficmock.testing.sync import TrafficMock


def test_paid(page: Page, trafficmock: TrafficMock) -> None:
    trafficmock.route("**/charges", lambda route: route.fulfill(json={"receipt": "R1"}))
    page.goto("/")
    page.click("text=Buy the teapot")
    expect(page.locator("#said")).to_have_text("Thank you! Receipt R1.")


def test_declined(page: Page, trafficmock: TrafficMock) -> None:
    trafficmock.route("**/charges", lambda route: route.fulfill(status=402))
    page.goto("/")
    page.click("text=Buy the teapot")
    expect(page.locator("#said")).to_have_text("Your card was declined.")


def test_unreachable(page: Page, trafficmock: TrafficMock) -> None:
    trafficmock.route("**/charges", lambda route: route.abort("connectionrefused"))
    page.goto("/")
    page.click("text=Buy the teapot")
    expect(page.locator("#said")).to_have_text("Please try again later.")
