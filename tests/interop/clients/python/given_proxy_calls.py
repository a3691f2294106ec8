"""Run as a child, ``given_proxy_calls.py PROXY URL…``: libraries that are given a proxy.

For each library and URL a line of JSON comes: the library, the name of the error if there is one,
and its text; else an empty name and the status.
"""

from __future__ import annotations

import asyncio
import json
import sys

PROXY, *URLS = sys.argv[1:]


def requests(url: str) -> int:
    import requests as library

    return library.get(url, proxies={"http": PROXY, "https": PROXY}, timeout=20).status_code


def requests_session(url: str) -> int:
    """Without what a session reads from the environment, such as the certificates to trust."""
    import requests as library

    with library.Session() as session:
        prepared = session.prepare_request(library.Request("GET", url))
        answer = session.send(prepared, proxies={"http": PROXY, "https": PROXY}, timeout=20)
        return answer.status_code


def httpx(url: str) -> int:
    import httpx as library

    with library.Client(proxy=PROXY, trust_env=False) as client:
        return client.get(url).status_code


def httpx_async(url: str) -> int:
    import httpx as library

    async def get() -> int:
        async with library.AsyncClient(mounts={"all://": transport}, trust_env=False) as client:
            return (await client.get(url)).status_code

    transport = library.AsyncHTTPTransport(proxy=PROXY)
    return asyncio.run(get())


def aiohttp(url: str) -> int:
    import aiohttp as library

    async def get() -> int:
        async with library.ClientSession() as session, session.get(url, proxy=PROXY) as answer:
            return answer.status

    return asyncio.run(get())


LIBRARIES = (requests, requests_session, httpx, httpx_async, aiohttp)

if __name__ == "__main__":
    for call in LIBRARIES:
        for each in URLS:
            try:
                name, text = "", str(call(each))
            except Exception as error:  # noqa: BLE001 - what the library raises is the result
                name, text = type(error).__name__, str(error)
            sys.stdout.write(json.dumps([call.__name__, name, text]) + "\n")
