"""Prints the prices that a service tells."""

import requests

answer = requests.get("https://prices.example/v1", timeout=10)
answer.raise_for_status()
for item, price in answer.json().items():
    print(f"{item}: {price}")
