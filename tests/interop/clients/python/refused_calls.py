"""Run as a child, ``refused_calls.py REFUSED AMBIGUOUS``: how libraries fail for two URLs.

For each library and URL a line of JSON comes: the library, the classes of the error, and its text;
for an answer its status.
"""

from __future__ import annotations

import asyncio
import json
import pickle
import sys


def requests(url: str) -> object:
    import requests as library

    try:
        return library.get(url, timeout=20).status_code
    except library.RequestException as error:
        assert not isinstance(error, library.ConnectionError)
        return error


def urllib3(url: str) -> object:
    import urllib3 as library

    try:
        return library.PoolManager().request("GET", url, timeout=20).status
    except library.exceptions.HTTPError as error:
        return error


def urllib(url: str) -> object:
    from urllib.error import URLError
    from urllib.request import urlopen

    try:
        return urlopen(url, timeout=20).status  # noqa: S310 - the test's
    except URLError as error:
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


for call in (requests, urllib3, urllib, http_client, httpx, httpx_async, aiohttp):
    for url in sys.argv[1:]:
        found = call(url)
        if isinstance(found, Exception):
            copied = pickle.loads(pickle.dumps(found))  # noqa: S301 - our own
            assert (type(copied), copied.code) == (type(found), found.code)  # type: ignore[attr-defined] # ours
            names = [each.__name__ for each in type(found).__mro__]
            row: list[object] = [call.__name__, names, str(found)]
        else:
            row = [call.__name__, found]
        sys.stdout.write(json.dumps(row) + "\n")
