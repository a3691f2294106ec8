"""Run as a child, ``lost_calls.py URL LIBRARY…``: each library asks, of a server that hangs up.

For each one a line of JSON comes: the name of the error, and its text with those that caused it.
"""

import asyncio
import json
import sys
from urllib.parse import urlsplit

URL = sys.argv[1]


def http_client() -> None:
    from http.client import HTTPConnection

    connection = HTTPConnection(urlsplit(URL).netloc, timeout=20)
    connection.request("GET", "/")
    connection.getresponse()


def urllib3() -> None:
    import urllib3 as library

    library.PoolManager().request("GET", URL, retries=False, timeout=20)


def requests() -> None:
    import requests as library

    library.get(URL, timeout=20)


def httpx() -> None:
    import httpx as library

    library.get(URL, timeout=20)


def httpx_async() -> None:
    import httpx as library

    async def get() -> None:
        async with library.AsyncClient() as client:
            await client.get(URL, timeout=20)

    asyncio.run(get())


def aiohttp() -> None:
    import aiohttp as library

    async def get() -> None:
        async with library.ClientSession() as client, client.get(URL):
            pass

    asyncio.run(get())


def treq() -> None:
    import treq as library
    from twisted.internet.defer import ensureDeferred
    from twisted.internet.task import react

    failed: list[Exception] = []

    async def get() -> None:
        try:
            await library.get(URL, timeout=20)
        except Exception as error:  # noqa: BLE001 - what the client raises is the result
            failed.append(error)

    try:
        react(lambda _: ensureDeferred(get()))
    except SystemExit:
        raise failed[0] from None


def outcome(name: str) -> list[str]:
    try:
        globals()[name]()
    except Exception as error:  # noqa: BLE001 - what the client raises is the result
        return [type(error).__name__, str(error)]
    return ["", ""]


if __name__ == "__main__":
    for library in sys.argv[2:]:
        sys.stdout.write(json.dumps(outcome(library)) + "\n")
