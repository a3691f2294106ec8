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


def httpx_transport(url: str) -> int:
    import httpx as library

    with library.Client(transport=library.HTTPTransport(proxy=PROXY), trust_env=False) as client:
        return client.get(url).status_code


def urllib3(url: str) -> int:
    import urllib3 as library

    return library.ProxyManager(PROXY).request("GET", url, retries=False).status


def urllib3_pool(url: str) -> int:
    """Take a pool of the manager, as botocore does."""
    import urllib3 as library

    manager, target = library.ProxyManager(PROXY), library.util.parse_url(url)
    pool = manager.connection_from_url(url)
    is_plain = target.scheme == "http"
    path = url if is_plain else target.request_uri
    return pool.urlopen("GET", path, retries=False, assert_same_host=False).status


def urllib_handler(url: str) -> int:
    """As Slack's client does."""
    from urllib import request

    handler = request.ProxyHandler({"http": PROXY, "https": PROXY})
    return int(request.build_opener(handler).open(url).status)


def urllib_request(url: str) -> int:
    from urllib import request

    asked = request.Request(url)  # noqa: S310 - the URLs of the tests
    asked.set_proxy(PROXY.partition("://")[2], "http")
    return int(request.build_opener(request.ProxyHandler({})).open(asked).status)


def http_client(url: str) -> int:
    """``set_tunnel`` for https, and the whole URL for plain HTTP."""
    import http.client
    from urllib.parse import urlsplit

    proxy, target = urlsplit(PROXY), urlsplit(url)
    is_secure = target.scheme == "https"
    kind = http.client.HTTPSConnection if is_secure else http.client.HTTPConnection
    connection = kind(proxy.hostname or "", proxy.port)
    if is_secure:
        connection.set_tunnel(target.netloc)
    connection.request("GET", target.path if is_secure else url)
    return connection.getresponse().status


LIBRARIES = (
    requests,
    requests_session,
    httpx,
    httpx_async,
    httpx_transport,
    aiohttp,
    urllib3,
    urllib3_pool,
    urllib_handler,
    urllib_request,
    http_client,
)

if __name__ == "__main__":
    for call in LIBRARIES:
        for each in URLS:
            try:
                name, text = "", str(call(each))
            except Exception as error:  # noqa: BLE001 - what the library raises is the result
                name, text = type(error).__name__, str(error)
            sys.stdout.write(json.dumps([call.__name__, name, text]) + "\n")
