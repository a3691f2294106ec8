"""Two tests that mock the same URL; each gets what it has mocked, also at the same time."""

import json
from urllib.request import Request, urlopen

from trafficmock.testing.sync import TrafficMock

PRICES = "https://prices.example/v1*"


def ask(shop: str, test: TrafficMock) -> dict[str, object]:
    with urlopen(Request(f"{shop}/price/teapot", headers=test.headers)) as answer:
        body: dict[str, object] = json.load(answer)
        return body


def test_cheap(shop: str, trafficmock: TrafficMock) -> None:
    trafficmock.route(PRICES, lambda route: route.fulfill(json={"price": 3}))
    assert ask(shop, trafficmock) == {"item": "teapot", "price": 3}


def test_dear(shop: str, trafficmock: TrafficMock) -> None:
    trafficmock.route(PRICES, lambda route: route.fulfill(json={"price": 300}))
    assert ask(shop, trafficmock) == {"item": "teapot", "price": 300}
