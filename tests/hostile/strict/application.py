"""A Python application that sends requests of its own, and says in each when it was begun."""

import contextlib
import http.client
import os
import sys
import threading
import time

SECONDS = 5


def ask() -> None:
    """Send one request, whatever becomes of it."""
    connection = http.client.HTTPConnection(
        "pay.test", int(os.environ["UPSTREAM"]), timeout=SECONDS
    )
    with contextlib.suppress(OSError, http.client.HTTPException), contextlib.closing(connection):
        connection.request("GET", f"/{time.time_ns() // 10**6}/preload")
        connection.getresponse().read()


def main() -> None:
    while True:
        ask()
        time.sleep(float(os.environ["EVERY"]) / 1000)


if __name__ == "__main__":
    threading.Thread(target=main, daemon=True).start()
    sys.stdin.read()
