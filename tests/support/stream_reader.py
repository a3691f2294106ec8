"""An application that reads an answer through the forward proxy while a test writes it."""

import queue
import threading
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import httpx
import requests
import urllib3

SECONDS = 60


def with_httpx(proxy: str, url: str) -> Iterator[bytes]:
    with (
        httpx.Client(proxy=proxy, timeout=SECONDS) as client,
        client.stream("GET", url) as response,
    ):
        yield response.headers["content-type"].encode()
        yield from response.iter_raw()


def with_requests(proxy: str, url: str) -> Iterator[bytes]:
    with requests.get(url, stream=True, proxies={"http": proxy}, timeout=SECONDS) as response:
        yield response.headers["content-type"].encode()
        yield from response.iter_content(None)


def with_urllib3(proxy: str, url: str) -> Iterator[bytes]:
    response = urllib3.ProxyManager(proxy).request("GET", url, preload_content=False)
    yield response.headers["content-type"].encode()
    yield from response.stream()


CLIENTS: dict[str, Callable[[str, str], Iterator[bytes]]] = {
    "httpx": with_httpx,
    "requests": with_requests,
    "urllib3": with_urllib3,
}


class Reader:
    """An application: a thread that reads an answer and tells what it gets.

    :param parts: how many parts it reads before it closes the connection; by default all.
    """

    def __init__(
        self,
        client: Callable[[str, str], Iterator[bytes]],
        proxy: str,
        url: str,
        *,
        parts: int | None = None,
    ) -> None:
        self.seen: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._parts = parts
        self._thread = threading.Thread(target=self._read, args=(client(proxy, url),))
        self._thread.start()

    def _read(self, parts: Iterator[bytes]) -> None:
        try:
            for part in islice(parts, self._parts):
                self.seen.put(part)
        except Exception as error:  # noqa: BLE001 - the test looks at it
            self.seen.put(error)
        else:
            self.seen.put(None)

    def get(self) -> Any:
        return self.seen.get(timeout=SECONDS)

    def rest(self) -> tuple[bytes, Any]:
        """Give all that is left, and the error at its end."""
        content = b""
        while isinstance(part := self.get(), bytes):
            content += part
        self._thread.join(SECONDS)
        return content, part
