"""Starts the shop in an environment; a test asks it for a page and gets its text."""

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

NODE = os.environ.get("SHOP_NODE", "node")

Pages = Callable[..., str]


@contextmanager
def started(environment: dict[str, str]) -> Iterator[Pages]:
    process = subprocess.Popen(
        [NODE, Path(__file__).with_name("shop.mjs")],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    url = process.stdout.readline().strip()

    def page(path: str, headers: dict[str, str] | None = None) -> str:
        try:
            with urlopen(Request(url + path, headers=headers or {})) as answer:
                return answer.read().decode()
        except HTTPError as answer:
            return answer.read().decode()

    yield page
    process.terminate()
    process.communicate()
