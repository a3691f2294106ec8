"""How the shop is started, and how a test asks it for a page and gets its text."""

import os
import re
from collections.abc import Callable
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

SHOP = [os.environ.get("SHOP_NODE", "node"), Path(__file__).with_name("shop.mjs")]
URL = re.compile(r"(http://\S+)\n")

Pages = Callable[..., str]


def pages_of(url: str) -> Pages:
    def page(path: str, headers: dict[str, str] | None = None) -> str:
        try:
            with urlopen(Request(url + path, headers=headers or {})) as answer:
                return answer.read().decode()
        except HTTPError as answer:
            return answer.read().decode()

    return page
