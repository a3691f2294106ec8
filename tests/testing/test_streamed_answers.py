"""Answers that a test writes piece by piece, read by applications meanwhile."""

import asyncio
import base64
import functools
import http.client
import json
import os
import subprocess
import threading
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import requests
from twisted.internet import reactor  # noqa: TID251 - the reactor of trial
from twisted.internet.defer import Deferred
from twisted.internet.threads import deferToThread
from twisted.trial.unittest import SynchronousTestCase, TestCase

from tests.support.processes.node_parts import AGENT_MODULES, node_binary
from tests.support.stream_reader import CLIENTS, SECONDS, Reader
from tests.testing.runs import APPLICATIONS
from tests.testing.shared_app import shared_app
from trafficmock.attach.node import with_preload
from trafficmock.testing import aio, sync, tx
from trafficmock.testing.errors import StreamClosedError, UsageError

BIG = b"x" * (3 * 2**20)


class NodeClientError(Exception):
    """A failure, as Node's client told it."""


def with_node(client: str, proxy: str, url: str) -> Iterator[bytes]:
    """Read in an application that has the Node agent, by ``fetch`` or ``node:http``."""
    attached = {
        "NODE_OPTIONS": with_preload("", AGENT_MODULES.parent / "register.js"),
        "TRAFFICMOCK_PROXY_URL": proxy,
    }
    argv = [str(node_binary()), str(APPLICATIONS / "reads.mjs"), client, url]
    env = {**os.environ, **attached}
    with subprocess.Popen(argv, stdout=subprocess.PIPE, env=env, text=True) as application:
        for line in application.stdout or ():
            told = json.loads(line)
            if "error" in told:
                raise NodeClientError(told["error"])
            yield base64.b64decode(told["piece"]) if "piece" in told else told["type"].encode()


ALL_CLIENTS: dict[str, Callable[[str, str], Iterator[bytes]]] = {
    **CLIENTS,
    "fetch": functools.partial(with_node, "fetch"),
    "node:http": functools.partial(with_node, "node:http"),
}
BREAKING = {
    "httpx": r"peer closed|reset",
    "fetch": "^TypeError: terminated$",
    "node:http": "^Error: aborted$",
}
"""What clients tell of an answer that breaks off."""


class StreamTests(SynchronousTestCase):
    """Blocking tests."""

    def setUp(self) -> None:
        self.proxy = shared_app().proxy.url
        self.url = f"http://streams.test/{uuid.uuid4().hex}"

    def history(self) -> Any:
        listed = requests.get(f"{self.proxy}/api/history", timeout=SECONDS).json()["entries"]
        (found,) = [each["id"] for each in listed if self.url in str(each)]
        entry = requests.get(f"{self.proxy}/api/history/{found}", timeout=SECONDS).json()
        return entry["entry"]

    def test_written_by_the_test(self) -> None:
        """Each part has come before the next is sent; the history shows the open answer."""
        for name, client in ALL_CLIENTS.items():
            with self.subTest(client=name), sync.mocks(self.proxy) as mocks:
                self.url = f"http://streams.test/{uuid.uuid4().hex}"
                chat = mocks.stream(self.url, content_type="text/event-stream")
                reader = Reader(client, self.proxy, self.url)
                self.assertEqual(chat.request.url, self.url)
                self.assertEqual(reader.get(), b"text/event-stream")
                chat.sse("one\ntwo", event="token", id="7")
                self.assertEqual(reader.get(), b"event: token\nid: 7\ndata: one\ndata: two\n\n")
                self.assertTrue(self.history()["outcome"]["response"]["bodyPending"])
                chat.json_line({"a": 1})
                self.assertEqual(reader.get(), b'{"a": 1}\n')
                chat.send("é")
                self.assertEqual(reader.get(), "é".encode())
                chat.end()
                self.assertEqual(reader.rest(), (b"", None))
                kinds = [each["kind"] for each in self.history()["events"]]
                self.assertEqual(kinds, ["observed", "fulfill", "piece", "piece", "piece", "end"])
                self.assertRaises(UsageError, chat.send, "late")

    def test_handler(self) -> None:
        """A handler begins the answer; what is larger than a window comes whole."""
        with sync.mocks(self.proxy) as mocks:

            def handler(route: sync.Route) -> None:
                stream = route.stream(content_type="text/plain")
                stream.send(BIG)
                stream.end()

            mocks.route(self.url, handler)
            for name, client in ALL_CLIENTS.items():
                with self.subTest(client=name):
                    reader = Reader(client, self.proxy, self.url)
                    self.assertEqual(reader.rest(), (b"text/plain" + BIG, None))

    def test_iterable(self) -> None:
        """The parts of an iterable are sent; an error of it breaks off and fails the test."""
        parts = iter(["a", b"b", ""])

        has_read = threading.Event()

        def failing() -> Iterator[str]:
            yield "begun"
            has_read.wait(SECONDS)
            raise RuntimeError("the model is gone")

        with sync.mocks(self.proxy) as mocks:
            mocks.route(self.url, lambda route: route.fulfill(body=parts, content_type="x/y"))
            self.assertEqual(
                Reader(CLIENTS["requests"], self.proxy, self.url).rest(), (b"x/yab", None)
            )
            mocks.route(self.url, lambda route: route.fulfill(body=failing(), content_type="x/y"))
            reader = Reader(CLIENTS["requests"], self.proxy, self.url)
            self.assertEqual((reader.get(), reader.get()), (b"x/y", b"begun"))
            has_read.set()
            self.assertIsInstance(reader.rest()[1], requests.RequestException)
            (raised,) = mocks.take_errors()
            self.assertIn("the model is gone", str(raised))

    def test_abort(self) -> None:
        """An abort cuts the answer off behind what was sent."""
        for name, text in BREAKING.items():
            with self.subTest(client=name), sync.mocks(self.proxy) as mocks:
                chat = mocks.stream(self.url, content_type="x/y")
                reader = Reader(ALL_CLIENTS[name], self.proxy, self.url)
                chat.send("begun")
                self.assertEqual((reader.get(), reader.get()), (b"x/y", b"begun"))
                chat.abort()
                self.assertRegex(str(reader.rest()[1]), text)

    def test_application_gone(self) -> None:
        """A test that writes to an application that has gone is told so."""
        with sync.mocks(self.proxy) as mocks:
            chat = mocks.stream(self.url)
            connection = http.client.HTTPConnection(self.proxy.removeprefix("http://"))
            connection.request("GET", self.url)
            response = connection.getresponse()
            chat.send("begun")
            response.close()
            connection.close()
            with self.assertRaises(StreamClosedError):
                # The application has gone when the proxy has seen it; until then it takes pieces.
                while True:
                    chat.send(BIG)

    def test_left_open(self) -> None:
        """A test that ends with an open answer fails with the route's place."""
        for name, text in BREAKING.items():
            with (
                self.subTest(client=name),
                self.assertRaises(ExceptionGroup) as raised,
                sync.mocks(self.proxy) as mocks,
            ):
                chat = mocks.stream(self.url, content_type="x/y")
                reader = Reader(ALL_CLIENTS[name], self.proxy, self.url)
                chat.send("begun")
                self.assertEqual((reader.get(), reader.get()), (b"x/y", b"begun"))
            self.assertIn("test_streamed_answers.py", str(raised.exception.exceptions[0]))
            self.assertRegex(str(reader.rest()[1]), text)

    def test_asyncio(self) -> None:
        """Asyncio tests await each call, and handlers yield."""

        async def parts() -> AsyncIterator[str]:
            yield "a"
            yield "b"

        async def test() -> None:
            async with aio.mocks(self.proxy) as mocks:
                chat = await mocks.stream(self.url, content_type="x/y")
                reader = Reader(CLIENTS["httpx"], self.proxy, self.url)
                await chat.send("one")
                self.assertEqual((reader.get(), reader.get()), (b"x/y", b"one"))
                await chat.end()
                self.assertEqual(reader.rest(), (b"", None))

                async def handler(route: aio.AsyncRoute) -> None:
                    await route.fulfill(body=parts(), content_type="x/y")

                await mocks.route(self.url, handler)
                reader = Reader(CLIENTS["httpx"], self.proxy, self.url)
                self.assertEqual(await asyncio.to_thread(reader.rest), (b"x/yab", None))

        asyncio.run(test())


class TwistedStreamTests(TestCase):
    """Twisted tests, on the reactor."""

    def test_twisted(self) -> Deferred[None]:
        """Calls return Deferreds; the reactor runs while the application reads."""
        return Deferred.fromCoroutine(self._write())

    async def _write(self) -> None:
        proxy, url = shared_app().proxy.url, f"http://streams.test/{uuid.uuid4().hex}"
        async with tx.mocks(reactor, proxy) as mocks:
            chat = await mocks.stream(url, content_type="x/y")
            reader = Reader(CLIENTS["urllib3"], proxy, url)
            request = await chat.request
            self.assertEqual(request.url, url)
            await chat.sse("one")
            first = await deferToThread(reader.get), await deferToThread(reader.get)
            self.assertEqual(first, (b"x/y", b"data: one\n\n"))
            await chat.end()
            self.assertEqual(await deferToThread(reader.rest), (b"", None))

            async def handler(route: tx.AsyncRoute) -> None:
                await route.fulfill(body=["a", "b"], content_type="x/y")

            await mocks.route(url, handler)
            reader = Reader(CLIENTS["urllib3"], proxy, url)
            self.assertEqual(await deferToThread(reader.rest), (b"x/yab", None))
