"""The shop in the process of its tests, by Flask's test client."""

import pytest
from app import app

from trafficmock.testing.sync import TrafficMock

PRICES = "https://prices.example/v1*"


def test_price(trafficmock: TrafficMock) -> None:
    trafficmock.route(PRICES, lambda route: route.fulfill(json={"price": 12}))
    with trafficmock.expect_request(PRICES) as asked:
        answer = app.test_client().get("/price/teapot")
    assert answer.json == {"item": "teapot", "price": 12}
    assert asked.value.url == "https://prices.example/v1?item=teapot"


def test_unreachable(trafficmock: TrafficMock) -> None:
    trafficmock.route(PRICES, lambda route: route.abort("connectionrefused"))
    assert app.test_client().get("/price/teapot").status_code == 503


@pytest.mark.trafficmock(strict=True)
def test_nothing_else(trafficmock: TrafficMock) -> None:
    trafficmock.mock(PRICES, json={"price": 3})
    assert app.test_client().get("/price/teapot").json == {"item": "teapot", "price": 3}
