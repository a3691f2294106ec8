"""What handlers of messages do: ask a third party, which all tests mock."""

from __future__ import annotations

import os
import time
from urllib.error import URLError
from urllib.parse import urlencode
from urllib.request import urlopen

SECONDS = 60


def ask(way: str, who: str) -> None:
    """Ask, for the message that the page of a test has sent. Nobody's request is refused."""
    query = urlencode({"way": way, "who": who})
    try:
        urlopen(f"http://api.shop.test/price?{query}", timeout=SECONDS).close()
    except URLError as error:
        if "Ambiguous" not in str(error):
            raise


def outlast() -> None:
    """Work for longer than the context of a request counts after it."""
    time.sleep(2 * int(os.environ["TRAFFICMOCK_CONTEXT_MS"]) / 1000)
