"""Starts the shop, and buys in it as a browser would."""

import atexit
import functools
import json
import os
import subprocess
import urllib.request
from pathlib import Path

from trafficmock.testing.launch import Proxy, process_proxy

NODE = os.environ.get("SHOP_NODE", "node")
SHOP = Path(__file__).with_name("shop.mjs")


class Shop:
    """A shop that runs attached to a proxy."""

    def __init__(self, proxy: Proxy, client_id: str = "shop") -> None:
        self.client_id = client_id
        self.process = subprocess.Popen(
            [NODE, SHOP],
            # The whole environment: with it the process runs attached.
            env=proxy.environment(client_id),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self.process.stdout is not None
        self.url: str = json.loads(self.process.stdout.readline())["url"]

    def buy(self) -> str:
        """Buy the teapot; give what the shop says."""
        with urllib.request.urlopen(f"{self.url}/buy", b"") as answer:
            said: str = answer.read().decode()
            return said

    def stop(self) -> None:
        """End it."""
        self.process.terminate()
        self.process.communicate()


@functools.cache
def shop() -> Shop:
    """Give the shop that all tests of this process share."""
    started = Shop(process_proxy())
    atexit.register(started.stop)
    return started
