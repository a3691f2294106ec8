"""The shop in the process of its tests, with responses."""

import responses
from app import app


@responses.activate
def test_price() -> None:
    responses.get("https://prices.example/v1", json={"price": 12})
    answer = app.test_client().get("/price/teapot")
    assert answer.json == {"item": "teapot", "price": 12}
    assert responses.calls[0].request.url == "https://prices.example/v1?item=teapot"
