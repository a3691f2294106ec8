"""A Python application: it asks a warehouse how many teapots there are."""

import requests
from flask import Flask

app = Flask(__name__)


@app.get("/teapots")
def teapots() -> str:
    try:
        answer = requests.get("https://warehouse.example/teapots", timeout=10)
    except requests.RequestException:
        return "ask again later"
    return f"{answer.json()['count']} left"
