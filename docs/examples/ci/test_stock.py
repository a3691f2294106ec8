"""What the Python application makes of a warehouse that the test decides about."""

from urllib.request import Request, urlopen

from trafficmock.testing.sync import TrafficMock

WAREHOUSE = "https://warehouse.example/**"


def ask(stock: str, test: TrafficMock) -> str:
    with urlopen(Request(f"{stock}/teapots", headers=test.headers), timeout=30) as answer:
        return answer.read().decode()


def test_count(stock: str, trafficmock: TrafficMock) -> None:
    trafficmock.mock(WAREHOUSE, json={"count": 7})
    assert ask(stock, trafficmock) == "7 left"


def test_unreachable(stock: str, trafficmock: TrafficMock) -> None:
    trafficmock.route(WAREHOUSE, lambda route: route.abort("connectionrefused"))
    assert ask(stock, trafficmock) == "ask again later"
