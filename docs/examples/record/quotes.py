"""The application: GET /quote/5 asks the service for a price. It knows nothing of recordings."""

import os
import time
import uuid
from datetime import UTC, datetime

import requests
from flask import Flask, Response, jsonify

app = Flask(__name__)
RATES = f"http://127.0.0.1:{os.environ.get('RATES_PORT', '5001')}"
TOKEN = {"authorization": "Bearer t-0815-sekret"}


@app.get("/quote/<int:amount>")
def quote(amount: int) -> tuple[Response, int]:
    asked = {
        "amount": amount,
        "request_id": str(uuid.uuid4()),
        "sent_at": datetime.now(UTC).isoformat(),
    }
    try:
        job = requests.post(f"{RATES}/quotes", json=asked, headers=TOKEN, timeout=10).json()
        while (state := requests.get(f"{RATES}{job['job']}", headers=TOKEN, timeout=10).json())[
            "state"
        ] != "done":
            time.sleep(0.01)
    except requests.RequestException:
        return jsonify(error="no quotes today"), 503
    return jsonify(price=state["price"]), 200
