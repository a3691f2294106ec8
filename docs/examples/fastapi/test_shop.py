"""Two tests that mock the same URLs; the background task belongs to the test, too."""

import json
from urllib.request import Request, urlopen

from trafficmock.testing.sync import TrafficMock

PRICES = "https://prices.example/v1*"
AUDIT = "https://audit.example/**"


def ask(shop: str, test: TrafficMock) -> dict[str, object]:
    with urlopen(Request(f"{shop}/price/teapot", headers=test.headers)) as answer:
        body: dict[str, object] = json.load(answer)
        return body


def test_cheap(shop: str, trafficmock: TrafficMock) -> None:
    trafficmock.route(PRICES, lambda route: route.fulfill(json={"price": 3}))
    trafficmock.route(AUDIT, lambda route: route.fulfill(status=204))
    with trafficmock.expect_request(AUDIT) as told:
        assert ask(shop, trafficmock) == {"item": "teapot", "price": 3}
    assert told.value.post_data_json == {"item": "teapot"}


def test_dear(shop: str, trafficmock: TrafficMock) -> None:
    trafficmock.route(PRICES, lambda route: route.fulfill(json={"price": 300}))
    trafficmock.route(AUDIT, lambda route: route.abort("connectionrefused"))
    assert ask(shop, trafficmock) == {"item": "teapot", "price": 300}
