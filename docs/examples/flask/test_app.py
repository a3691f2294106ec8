"""What the application makes of a price service that does not exist."""

import json
import urllib.error
from urllib.request import Request, urlopen

from trafficmock.testing.sync import TrafficMock

PRICES = "https://prices.example/v1*"


def ask(shop: str, test: TrafficMock) -> tuple[int, dict[str, object]]:
    try:
        with urlopen(Request(f"{shop}/price/teapot", headers=test.headers)) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as answer:
        return answer.code, json.load(answer)


def test_price(shop: str, trafficmock: TrafficMock) -> None:
    trafficmock.route(PRICES, lambda route, _: route.fulfill(json={"price": 12}))
    assert ask(shop, trafficmock) == (200, {"item": "teapot", "price": 12})


def test_what_is_asked(shop: str, trafficmock: TrafficMock) -> None:
    trafficmock.route(PRICES, lambda route, _: route.fulfill(json={"price": 12}))
    with trafficmock.expect_request(PRICES) as asked:
        ask(shop, trafficmock)
    assert asked.value.url == "https://prices.example/v1?item=teapot"
    assert asked.value.method == "GET"


def test_broken(shop: str, trafficmock: TrafficMock) -> None:
    trafficmock.route(PRICES, lambda route, _: route.fulfill(status=500))
    assert ask(shop, trafficmock) == (503, {"error": "no prices today"})


def test_unreachable(shop: str, trafficmock: TrafficMock) -> None:
    trafficmock.route(PRICES, lambda route, _: route.abort("connectionrefused"))
    assert ask(shop, trafficmock) == (503, {"error": "no prices today"})


def test_only_the_shop(shop: str, trafficmock: TrafficMock) -> None:
    trafficmock.route(PRICES, lambda route, _: route.fulfill(json={"price": 1}), client_id="other")
    assert ask(shop, trafficmock) == (503, {"error": "no prices today"})
