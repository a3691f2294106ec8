"""Where clients of a test send its context, and what a strict test makes of that."""

import asyncio
import http.client
from collections.abc import Callable, Coroutine
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.request import ProxyHandler, Request, build_opener

import aiohttp
import httpx
import requests
import treq
from twisted.internet import reactor  # noqa: TID251 - trial's own
from twisted.internet.threads import deferToThread
from twisted.trial.unittest import SynchronousTestCase, TestCase
from twisted.web.client import HTTPConnectionPool

from tests.support.processes.node_parts import node_binary
from tests.support.processes.tested_proxy import start_proxy
from tests.support.threaded_server import threaded_server
from tests.testing import runs
from trafficmock.testing import sync
from trafficmock.testing.objects import sent_contexts

A, B = "a" * 32, "b" * 32

Headers = dict[str, str]


class Answering(BaseHTTPRequestHandler):
    """A server that is not attached."""

    def do_GET(self) -> None:
        """Answer without a body."""
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Write nothing."""


def by_urllib(url: str, headers: Headers) -> object:
    return build_opener(ProxyHandler({})).open(Request(url, headers=headers)).read()


def by_requests(url: str, headers: Headers) -> object:
    return requests.get(url, headers=headers, timeout=60)


def by_httpx(url: str, headers: Headers) -> object:
    return httpx.get(url, headers=headers)


async def by_async_httpx(url: str, headers: Headers) -> None:
    async with httpx.AsyncClient() as client:
        await client.get(url, headers=headers)


async def by_aiohttp(url: str, headers: Headers) -> None:
    async with aiohttp.ClientSession() as session, session.get(url, headers=headers):
        pass


def with_loop(
    ask: Callable[[str, Headers], Coroutine[Any, Any, None]],
) -> Callable[[str, Headers], object]:
    return lambda url, headers: asyncio.run(ask(url, headers))


CLIENTS: dict[str, Callable[[str, Headers], object]] = {
    "urllib": by_urllib,
    "requests": by_requests,
    "httpx": by_httpx,
    "httpx, awaited": with_loop(by_async_httpx),
    "aiohttp": with_loop(by_aiohttp),
}


class ClientTests(TestCase):
    """The clients of a test, against a server on loopback."""

    def setUp(self) -> None:
        stack = ExitStack()
        self.addCleanup(stack.close)
        self.origin = f"http://127.0.0.1:{stack.enter_context(threaded_server(Answering))}"
        self.addCleanup(lambda: [sent_contexts.take(each) for each in (A, B)])

    async def test_clients(self) -> None:
        """Each client is seen, once for each server; what has no context is not."""
        for name, client in CLIENTS.items():
            sent_contexts.watch(A)
            sent_contexts.watch(B)
            for headers in ({}, {"baggage": f"trafficmock.test={A}"}, {"cookie": f"x=1; t={A}"}):
                await deferToThread(client, f"{self.origin}/price", headers)
            self.assertEqual((name, sent_contexts.take(A)), (name, [self.origin]))
            self.assertEqual((name, sent_contexts.take(B)), (name, []))

    async def test_twisted(self) -> None:
        """So are those of Twisted."""
        sent_contexts.watch(A)
        pool = HTTPConnectionPool(reactor, persistent=False)
        headers: dict[bytes | str, bytes | str] = {"baggage": f"trafficmock.test={A}"}
        answer = await treq.get(f"{self.origin}/price", headers=headers, pool=pool)
        await treq.content(answer)
        self.assertEqual(sent_contexts.take(A), [self.origin])

    async def test_refused_connection(self) -> None:
        """What no server answers is no call: a test may wait for its application in this way."""
        with threaded_server(Answering) as port:
            pass
        sent_contexts.watch(A)
        headers = {"baggage": f"trafficmock.test={A}"}
        for client in CLIENTS.values():
            failed = deferToThread(client, f"http://127.0.0.1:{port}/", headers)
            await self.assertFailure(failed, OSError, httpx.ConnectError)
        self.assertEqual(sent_contexts.take(A), [])

    def test_restored(self) -> None:
        """The libraries are as before when no test is watched."""
        before = http.client.HTTPConnection.send
        sent_contexts.watch(A)
        sent_contexts.watch(B)
        sent_contexts.take(A)
        self.assertIsNot(http.client.HTTPConnection.send, before)
        sent_contexts.take(B)
        self.assertIs(http.client.HTTPConnection.send, before)


class StrictTests(SynchronousTestCase):
    """A strict test whose client calls servers, with the proxy and an attached application."""

    def test_strict(self) -> None:
        """It fails if what it called is not attached, and by no call of the attached one."""
        stack = ExitStack()
        self.addCleanup(stack.close)
        proxy = start_proxy([])
        stack.callback(proxy.stop)
        app = [str(node_binary()), str(runs.APPLICATIONS / "prices.mjs")]
        child = runs.attached(proxy.url, app, data=str(Path(self.mktemp()).absolute()))
        stack.callback(child.stop)
        attached = child.announced()["url"]
        other = f"http://127.0.0.1:{stack.enter_context(threaded_server(Answering))}"

        def called(*urls: str, **options: Any) -> list[str]:
            """Give the errors of a strict test that calls URLs."""
            try:
                with sync.mocks(proxy.url, strict=True, **options) as mocks:
                    mocks.mock("**/*", json={})
                    for url in urls:
                        by_requests(url, mocks.headers)
            except ExceptionGroup as group:
                return [str(error) for error in group.exceptions]
            return []

        self.assertEqual(called(), [])
        self.assertEqual(called(f"{attached}/price"), [])
        (error,) = called(f"{other}/price")
        self.assertIn(f"sent requests to {other}, but no attached application", error)
        self.assertEqual(called(f"{other}/price", origins=[attached]), [])
        # Its context has come to an attached application: which of the two asked is not known.
        self.assertEqual(called(f"{other}/price", f"{attached}/price"), [])
