"""A task that asks a price service. Its broker is a directory, as an example may have it."""

import os
from pathlib import Path
from typing import Any

import requests
from celery import Celery

QUEUE = Path(os.environ["QUEUE"])

app = Celery("shop", broker="filesystem://", backend=f"file://{QUEUE}")
app.conf.broker_transport_options = {
    "data_folder_in": str(QUEUE),
    "data_folder_out": str(QUEUE),
    "control_folder": str(QUEUE),
}


@app.task
def price(item: str) -> Any:
    answer = requests.get("https://prices.example/v1", params={"item": item}, timeout=10)
    return answer.json()["price"]
