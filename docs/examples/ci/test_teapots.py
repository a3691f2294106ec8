"""What both applications make of services that the test decides about."""

import os
from urllib.request import Request, urlopen

from trafficmock.testing.sync import TrafficMock

STOCK = f"http://127.0.0.1:{os.environ['STOCK_PORT']}/teapots"
SHOP = f"http://127.0.0.1:{os.environ['SHOP_PORT']}/teapots"


def get(url: str, test: TrafficMock) -> str:
    with urlopen(Request(url, headers=test.headers)) as answer:
        return answer.read().decode()


def test_stock(trafficmock: TrafficMock) -> None:
    trafficmock.mock("http://warehouse.example/**", body="7")
    assert get(STOCK, trafficmock) == "7"


def test_price(trafficmock: TrafficMock) -> None:
    trafficmock.mock("http://prices.example/**", body="12 €")
    assert get(SHOP, trafficmock) == "12 €"
