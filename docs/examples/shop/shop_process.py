"""Starts the shop, and buys in it as a browser would."""

import atexit
import functools
import os
import re
import urllib.request
from contextlib import ExitStack
from pathlib import Path

from trafficmock.testing.launch import Proxy, attached_application, process_proxy

SHOP = [os.environ.get("SHOP_NODE", "node"), Path(__file__).with_name("shop.mjs")]
READY = re.compile(r'"url":"(http://[^"]+)"')


class Shop:
    """A shop that runs attached to a proxy."""

    def __init__(self, proxy: Proxy, client_id: str = "shop") -> None:
        self.client_id = client_id
        self._running = ExitStack()
        application = attached_application(SHOP, ready=READY, client_id=client_id, proxy=proxy)
        self.url: str = self._running.enter_context(application).url

    def buy(self) -> str:
        """Buy the teapot; give what the shop says."""
        with urllib.request.urlopen(f"{self.url}/buy", b"") as answer:
            said: str = answer.read().decode()
            return said

    def stop(self) -> None:
        """End it."""
        self._running.close()


@functools.cache
def shop() -> Shop:
    """Give the shop that all tests of this process share."""
    started = Shop(process_proxy())
    atexit.register(started.stop)
    return started
