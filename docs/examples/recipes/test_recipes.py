"""Recipes: what a test lets the shop's services do."""

import gzip
import json
import threading
from collections.abc import Callable

from shop_process import Pages

from trafficmock.testing.sync import Route, TrafficMock, WebSocketRoute

PRICES = "https://prices.example/v1/teapot"


def test_first_answer_fails(shop: Pages, trafficmock: TrafficMock) -> None:
    trafficmock.route(PRICES, lambda route: route.fulfill(json={"price": 42}))
    trafficmock.route(PRICES, lambda route: route.fulfill(status=503), times=1)
    assert shop("/price") == "42 €"


def test_sequence(shop: Pages, trafficmock: TrafficMock) -> None:
    trafficmock.mock(PRICES, sequence=[503, 503, {"json": {"price": 42}}])
    assert shop("/price") == "42 €"
    assert len(trafficmock.requests(PRICES)) == 3


def test_slow_service(shop: Pages, trafficmock: TrafficMock) -> None:
    checked = threading.Event()

    def answer_late(route: Route) -> None:
        checked.wait(timeout=10)
        route.fulfill(json={"price": 42})

    trafficmock.route(PRICES, answer_late)
    assert shop("/price-in-time") == "TimeoutError"
    checked.set()


def test_connection_fails(shop: Pages, trafficmock: TrafficMock) -> None:
    trafficmock.route(PRICES, lambda route: route.abort("connectionrefused"))
    assert shop("/price") == "ECONNREFUSED"


def test_expired_token(shop: Pages, trafficmock: TrafficMock) -> None:
    tokens = iter(["expired", "valid"])

    def token(route: Route) -> None:
        answer = {"access_token": next(tokens), "token_type": "Bearer", "expires_in": 3600}
        route.fulfill(json=answer)

    def orders(route: Route) -> None:
        valid = route.request.headers["authorization"] == "Bearer valid"
        route.fulfill(**{"json": ["order 1"]} if valid else {"status": 401})

    trafficmock.route("https://login.example/oauth/token", token, method="POST")
    trafficmock.route("https://orders.example/v1", orders)
    assert json.loads(shop("/orders")) == ["order 1"]


def operation(name: str, data: object) -> Callable[[Route], None]:
    """Answer one GraphQL operation, and leave the others to older routes."""

    def handler(route: Route) -> None:
        if route.request.post_data_json["operationName"] == name:
            route.fulfill(json={"data": data})
        else:
            route.fallback()

    return handler


def test_graphql(shop: Pages, trafficmock: TrafficMock) -> None:
    trafficmock.route("https://api.example/graphql", operation("User", {"name": "Ada"}))
    trafficmock.route("https://api.example/graphql", operation("Basket", {"items": 2}))
    assert shop("/basket") == "Ada: 2"


def test_cookies(shop: Pages, trafficmock: TrafficMock) -> None:
    cookies = [("set-cookie", "session=1; HttpOnly"), ("set-cookie", "theme=dark; Path=/")]
    trafficmock.route("https://login.example/session", lambda route: route.fulfill(headers=cookies))
    assert shop("/session") == "session=1; HttpOnly | theme=dark; Path=/"


def test_compressed(shop: Pages, trafficmock: TrafficMock) -> None:
    trafficmock.route(
        "https://feed.example/teapots",
        lambda route: route.fulfill(
            body=gzip.compress(b"one, two"),
            headers={"content-encoding": "gzip", "content-type": "text/plain"},
        ),
    )
    assert shop("/feed") == "gzip: one, two"


def test_large_bodies(shop: Pages, trafficmock: TrafficMock) -> None:
    trafficmock.route(
        "https://backup.example/upload", lambda route: route.fulfill(body=b"y" * 20_000_000)
    )
    with trafficmock.expect_request("https://backup.example/upload") as upload:
        assert shop("/backup") == "20000000"
    assert len(upload.value.post_data_buffer or b"") == 5_000_000


def test_each_application(shop: Pages, other_shop: Pages, trafficmock: TrafficMock) -> None:
    trafficmock.route(PRICES, lambda route: route.fulfill(json={"price": 42}), client_id="shop")
    trafficmock.route(
        PRICES, lambda route: route.fulfill(json={"price": 24}), client_id="other-shop"
    )
    assert (shop("/price"), other_shop("/price")) == ("42 €", "24 €")


def test_web_socket(shop: Pages, trafficmock: TrafficMock) -> None:
    def ticker(socket: WebSocketRoute) -> None:
        socket.on_message(lambda message: socket.send(f"{message}: 42 €"))

    trafficmock.route_web_socket("wss://ticker.example/prices", ticker)
    assert shop("/ticker") == "teapot: 42 €"
