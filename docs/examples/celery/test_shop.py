"""Tests that mock what a task asks; one after the other, since they enqueue it themselves."""

import shop

from trafficmock.testing.sync import TrafficMock

PRICES = "https://prices.example/v1*"


def test_cheap(trafficmock: TrafficMock) -> None:
    trafficmock.route(PRICES, lambda route: route.fulfill(json={"price": 3}), client_id="worker")
    assert shop.price.delay("teapot").get(timeout=30) == 3


def test_dear(trafficmock: TrafficMock) -> None:
    trafficmock.route(PRICES, lambda route: route.fulfill(json={"price": 300}), client_id="worker")
    assert shop.price.delay("teapot").get(timeout=30) == 300
