"""A part of a shop that asks by httpx, with respx."""

import httpx
import respx


def price(item: str) -> int:
    answer = httpx.get("https://prices.example/v1", params={"item": item})
    return int(answer.json()["price"])


@respx.mock
def test_price() -> None:
    prices = respx.get("https://prices.example/v1").respond(json={"price": 12})
    assert price("teapot") == 12
    assert prices.calls.last.request.url == "https://prices.example/v1?item=teapot"
