"""Run as a child, ``refused_calls.py REFUSED AMBIGUOUS HELD``: how libraries fail for three URLs.

For each library and URL a line of JSON comes: the library, the classes of the error, and its text;
for an answer its status. The requests for the third URL are sent at the same time, after those for
the others: then the test ends the proxy.
"""

from __future__ import annotations

import asyncio
import json
import pickle
import sys
import threading
from concurrent.futures import ThreadPoolExecutor


def requests(url: str) -> object:
    import requests as library

    try:
        return library.get(url, timeout=20).status_code
    except library.RequestException as error:
        assert url == HELD or not isinstance(error, library.ConnectionError)
        return error


def urllib3(url: str) -> object:
    import urllib3 as library

    try:
        return library.PoolManager().request("GET", url, timeout=20).status
    except library.exceptions.HTTPError as error:
        return error


def urllib(url: str) -> object:
    from urllib.request import urlopen

    try:
        return urlopen(url, timeout=20).status  # noqa: S310 - the test's
    except OSError as error:
        # A ``URLError``; of a connection that ends without an answer, urllib raises its error.
        return error


def http_client(url: str) -> object:
    from http.client import HTTPConnection, HTTPException
    from urllib.parse import urlsplit

    try:
        connection = HTTPConnection(urlsplit(url).netloc, timeout=20)
        connection.request("GET", urlsplit(url).path)
        return connection.getresponse().status
    except HTTPException as error:
        return error


def httpx(url: str) -> object:
    import httpx as library

    try:
        return library.get(url, timeout=20).status_code
    except library.TransportError as error:
        assert str(error.request.url) == url
        return error


def httpx_async(url: str) -> object:
    import httpx as library

    async def get() -> object:
        async with library.AsyncClient(timeout=20) as client:
            try:
                return (await client.get(url)).status_code
            except library.TransportError as error:
                return error

    return asyncio.run(get())


def aiohttp(url: str) -> object:
    import aiohttp as library

    async def get() -> object:
        async with library.ClientSession() as session:
            try:
                async with session.get(url) as answer:
                    return answer.status
            except library.ClientError as error:
                return error

    return asyncio.run(get())


def treq(url: str) -> object:
    import treq as library
    from twisted.internet import reactor, threads  # noqa: TID251 - the program's own
    from twisted.web.client import ResponseFailed

    try:
        return threads.blockingCallFromThread(reactor, library.get, url, persistent=False).code  # type: ignore[arg-type] # no types
    except ResponseFailed as error:
        assert error.reasons[0].getErrorMessage()
        return error


def run_reactor() -> None:
    from twisted.internet import reactor  # noqa: TID251 - the program's own

    threading.Thread(target=reactor.run, args=(False,), daemon=True).start()


CALLS = (requests, urllib3, urllib, http_client, httpx, httpx_async, aiohttp, treq)
REFUSED, AMBIGUOUS, HELD = sys.argv[1:]


def tell(name: str, found: object) -> None:
    row = [name, found]
    if isinstance(found, Exception):
        row = [name, [each.__name__ for each in type(found).__mro__], str(found)]
    sys.stdout.write(json.dumps(row) + "\n")
    sys.stdout.flush()


run_reactor()
for call in CALLS:
    for url in (REFUSED, AMBIGUOUS):
        found = call(url)
        if isinstance(found, Exception):
            copied = pickle.loads(pickle.dumps(found))  # noqa: S301 - our own
            assert (type(copied), copied.code) == (type(found), found.code)  # type: ignore[attr-defined] # ours
        tell(call.__name__, found)
with ThreadPoolExecutor(len(CALLS)) as pool:
    waiting = [pool.submit(call, HELD) for call in CALLS]
    for call, each in zip(CALLS, waiting, strict=True):
        tell(call.__name__, each.result())
