"""Recipes: what a test lets the shop's services do."""

import gzip
import json
import threading
from concurrent.futures import ThreadPoolExecutor

from shop_process import Pages

from trafficmock.testing.sync import Route, TrafficMock, WebSocketRoute

PRICES = "https://prices.example/v1/teapot"


def test_sequence(shop: Pages, trafficmock: TrafficMock) -> None:
    price = trafficmock.mock(PRICES, sequence=[429, 503, {"json": {"price": 42}}])
    assert shop("/price") == "42 €"
    assert price.call_count == 3


def test_slow_service(shop: Pages, trafficmock: TrafficMock) -> None:
    trafficmock.mock(PRICES, json={"price": 42}, delay=1000)
    assert shop("/price-in-time") == "TimeoutError"


def test_answer_is_held_back(shop: Pages, trafficmock: TrafficMock) -> None:
    checked = threading.Event()

    def answer_late(route: Route) -> None:
        checked.wait(timeout=10)
        route.fulfill(json={"price": 42})

    trafficmock.route(PRICES, answer_late)
    assert shop("/price-in-time") == "TimeoutError"
    checked.set()


def test_connection_fails(shop: Pages, trafficmock: TrafficMock) -> None:
    trafficmock.mock(PRICES, sequence=[{"abort": "connectionrefused"}])
    assert shop("/price") == "ECONNREFUSED"


def test_stream_breaks_off(shop: Pages, trafficmock: TrafficMock) -> None:
    advice = trafficmock.stream("https://llm.example/v1/advice")
    with ThreadPoolExecutor() as visitor:
        told = visitor.submit(shop, "/advice")
        for token in ("Warm ", "the ", "pot ", "before "):
            advice.send(token)
        advice.abort()
        assert told.result() == "Warm the pot before  (broken off)"


def test_retried_once(shop: Pages, trafficmock: TrafficMock) -> None:
    charge = trafficmock.mock(
        "https://pay.example/v1/charges",
        match_headers={"Idempotency-Key": "order-7"},
        match_json={"lines": [{"sku": "teapot", "quantity": 2}]},
        sequence=[{"fault": "connection_reset"}, {"json": {"paid": True}}],
    )
    assert shop("/pay") == "paid"
    assert charge.call_count == 2


def test_expired_token(shop: Pages, trafficmock: TrafficMock) -> None:
    tokens = [{"json": {"access_token": token}} for token in ("expired", "valid")]
    trafficmock.mock("https://login.example/oauth/token", method="POST", sequence=tokens)
    trafficmock.mock("https://orders.example/v1", status=401)
    trafficmock.mock(
        "https://orders.example/v1",
        match_headers={"Authorization": "Bearer valid"},
        json=["order 1"],
    )
    assert json.loads(shop("/orders")) == ["order 1"]


def test_graphql(shop: Pages, trafficmock: TrafficMock) -> None:
    api = "https://api.example/graphql"
    trafficmock.mock(api, match_graphql="User", json={"data": {"name": "Ada"}})
    trafficmock.mock(api, match_graphql="Basket", json={"data": {"items": 2}})
    assert shop("/basket") == "Ada: 2"


def test_cookies(shop: Pages, trafficmock: TrafficMock) -> None:
    cookies = [("set-cookie", "session=1; HttpOnly"), ("set-cookie", "theme=dark; Path=/")]
    trafficmock.mock("https://login.example/session", headers=cookies)
    assert shop("/session") == "session=1; HttpOnly | theme=dark; Path=/"


def test_compressed(shop: Pages, trafficmock: TrafficMock) -> None:
    trafficmock.mock(
        "https://feed.example/teapots",
        body=gzip.compress(b"one, two"),
        headers={"content-encoding": "gzip", "content-type": "text/plain"},
    )
    assert shop("/feed") == "gzip: one, two"


def test_large_bodies(shop: Pages, trafficmock: TrafficMock) -> None:
    trafficmock.mock("https://backup.example/upload", body=b"y" * 20_000_000)
    with trafficmock.expect_request("https://backup.example/upload") as upload:
        assert shop("/backup") == "20000000"
    assert len(upload.value.post_data_buffer or b"") == 5_000_000


def test_each_application(shop: Pages, other_shop: Pages, trafficmock: TrafficMock) -> None:
    trafficmock.mock(PRICES, json={"price": 42}, client_id="shop")
    trafficmock.mock(PRICES, json={"price": 24}, client_id="other-shop")
    assert (shop("/price"), other_shop("/price")) == ("42 €", "24 €")


def test_web_socket(shop: Pages, trafficmock: TrafficMock) -> None:
    def ticker(socket: WebSocketRoute) -> None:
        socket.on_message(lambda message: socket.send(f"{message}: 42 €"))

    trafficmock.route_web_socket("wss://ticker.example/prices", ticker)
    assert shop("/ticker") == "teapot: 42 €"
