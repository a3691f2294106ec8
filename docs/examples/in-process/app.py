"""A shop that asks a price service over https. It knows nothing of mocks."""

import requests
from flask import Flask, Response, jsonify

app = Flask(__name__)


@app.get("/price/<item>")
def price(item: str) -> tuple[Response, int]:
    try:
        answer = requests.get("https://prices.example/v1", params={"item": item}, timeout=10)
        answer.raise_for_status()
    except requests.RequestException:
        return jsonify(error="no prices today"), 503
    return jsonify(item=item, price=answer.json()["price"]), 200
