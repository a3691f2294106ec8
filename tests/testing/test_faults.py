"""Faults of mocks at Python clients of the forward proxy, as those of a server that fails."""

from __future__ import annotations

import asyncio
import http.client
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import httpx
import requests
import urllib3
from twisted.trial.unittest import SynchronousTestCase

from tests.support.failing_server import PART, SERVER_FAULTS, WHOLE, ServerFault, failing_server
from tests.testing.shared_app import shared_app
from trafficmock.testing import sync

Client = Callable[[str | None, str, float], bytes]

SECONDS = 30
SHORT = 1.0
"""The client's own limit, for an answer that stalls."""


def with_httpx(proxy: str | None, url: str, timeout: float) -> bytes:
    with httpx.Client(proxy=proxy, timeout=timeout, trust_env=False) as client:
        return client.get(url).content


def with_requests(proxy: str | None, url: str, timeout: float) -> bytes:
    with requests.Session() as session:
        session.trust_env = False
        proxies = {} if proxy is None else {"http": proxy}
        return session.get(url, proxies=proxies, timeout=timeout).content


def with_urllib3(proxy: str | None, url: str, timeout: float) -> bytes:
    pool = urllib3.PoolManager() if proxy is None else urllib3.ProxyManager(proxy)
    return pool.request("GET", url, retries=False, timeout=timeout).data


def with_http_client(proxy: str | None, url: str, timeout: float) -> bytes:
    target = urlsplit(proxy or url)
    connection = http.client.HTTPConnection(str(target.hostname), target.port, timeout=timeout)
    try:
        connection.request("GET", urlsplit(url).path if proxy is None else url)
        return connection.getresponse().read()
    finally:
        connection.close()


def with_aiohttp(proxy: str | None, url: str, timeout: float) -> bytes:
    async def content() -> bytes:
        limit = aiohttp.ClientTimeout(timeout)
        async with (
            aiohttp.ClientSession(timeout=limit) as session,
            session.get(url, proxy=proxy) as answer,
        ):
            return await answer.read()

    return asyncio.run(content())


CLIENTS: tuple[Client, ...] = (
    with_httpx,
    with_requests,
    with_urllib3,
    with_http_client,
    with_aiohttp,
)


def failure(call: Callable[[], Any]) -> list[str]:
    """Give the classes of the error of a call and of its causes."""
    try:
        call()
    except Exception as error:  # noqa: BLE001 - each client has its own
        found: list[str] = []
        each: BaseException | None = error
        while each is not None:
            found.append(type(each).__name__)
            each = each.__cause__ or each.__context__
        return found
    return []


class FaultTests(SynchronousTestCase):
    """Each fault is the client's own error of it."""

    def test_as_of_a_server(self) -> None:
        """The errors have the causes of those that a failing server makes."""
        proxy = shared_app().proxy.url
        with failing_server() as port:
            for fault in SERVER_FAULTS:
                for client in CLIENTS:
                    self.assert_same(proxy, f"http://127.0.0.1:{port}", fault, client)

    def assert_same(self, proxy: str, server: str, fault: ServerFault, client: Client) -> None:
        limit = SHORT if fault.kind == "stall" else SECONDS

        def break_answer(route: sync.Route) -> None:
            route.continue_(fault=fault.kind, after=fault.after)

        expected = failure(lambda: client(None, server + fault.path, limit))
        with sync.mocks(proxy) as mocks:
            mocks.mock("http://fault.test/", body=WHOLE, fault=fault.kind, after=fault.after)
            got = failure(lambda: client(proxy, "http://fault.test/", limit))
            mocks.route(f"{server}/", break_answer)
            way_back = failure(lambda: client(proxy, f"{server}/", limit))
        self.assertTrue(expected, (fault, client))
        # `requests` and urllib3 wrap a reset before the answer as one of the proxy.
        self.assertEqual(got[-1], expected[-1], (fault, client.__name__))
        self.assertEqual(way_back, got, (fault, client.__name__))

    def test_reset_within_the_body(self) -> None:
        """A connection that is reset within the body has given the bytes before."""
        proxy = shared_app().proxy.url
        target = urlsplit(proxy)
        with sync.mocks(proxy) as mocks:
            mocks.mock("http://fault.test/", body=WHOLE, fault="connection_reset", after=len(PART))
            connection = http.client.HTTPConnection(
                str(target.hostname), target.port, timeout=SECONDS
            )
            connection.request("GET", "http://fault.test/")
            response = connection.getresponse()
            self.assertEqual(response.read(len(PART)), PART)
            self.assertRaises(ConnectionResetError, response.read)
            connection.close()
