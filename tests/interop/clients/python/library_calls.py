"""Run as a child, ``library_calls.py URL LIBRARY…``: each library gets the URL.

For each one a line of JSON comes: the name of the error, if there is one, and its text; else an
empty name and the body. It runs on every Python that can be attached.
"""

import asyncio
import json
import sys
from urllib.parse import urlsplit

URL = sys.argv[1]


def http_client() -> str:
    from http.client import HTTPConnection

    connection = HTTPConnection(urlsplit(URL).netloc, timeout=20)
    connection.request("GET", urlsplit(URL).path)
    return connection.getresponse().read().decode()


def urllib() -> str:
    from urllib.request import urlopen

    with urlopen(URL, timeout=20) as answer:  # noqa: S310 - a URL of the test's
        return str(answer.read().decode())


def urllib3() -> str:
    import urllib3 as library

    answer = library.PoolManager().request("GET", URL, retries=False, timeout=20)
    return answer.data.decode()


def requests() -> str:
    import requests as library

    return library.get(URL, timeout=20).text


def httpx() -> str:
    import httpx as library

    return library.get(URL, timeout=20).text


def httpx_async() -> str:
    import httpx as library

    async def get() -> str:
        async with library.AsyncClient() as client:
            return (await client.get(URL, timeout=20)).text

    return asyncio.run(get())


def aiohttp() -> str:
    import aiohttp as library

    async def get() -> str:
        async with library.ClientSession() as client, client.get(URL) as answer:
            return await answer.text()

    return asyncio.run(get())


def treq() -> str:
    import treq as library
    from twisted.internet.defer import ensureDeferred
    from twisted.internet.task import react

    said: list[str] = []
    failed: list[Exception] = []

    async def get() -> None:
        try:
            said.append(await (await library.get(URL, timeout=20)).text())
        except Exception as error:  # noqa: BLE001 - what the client raises is the result
            failed.append(error)

    try:
        react(lambda _: ensureDeferred(get()))
    except SystemExit:
        if failed:
            raise failed[0] from None
    return said[0]


def outcome(name: str) -> list[str]:
    try:
        return ["", globals()[name]()]
    except Exception as error:  # noqa: BLE001 - what the client raises is the result
        return [type(error).__name__, str(error)]


if __name__ == "__main__":
    for library in sys.argv[2:]:
        sys.stdout.write(json.dumps(outcome(library)) + "\n")
