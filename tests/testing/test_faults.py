"""Faults of mocks at Python clients of the forward proxy, as those of a server that fails."""

from __future__ import annotations

import http.client
import socket
import struct
import threading
from typing import TYPE_CHECKING, Any, Literal, get_args
from urllib.parse import urlsplit

import httpx
import requests
import urllib3
from twisted.trial.unittest import SynchronousTestCase

from tests.testing.shared_app import shared_app
from trafficmock.testing import sync
from trafficmock.wire.payloads.handler_action import FaultKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PART = b"first"
WHOLE = PART + b" and second"
SECONDS = 30
WITH_A_PART = ("malformed_chunk", "stall", "truncated")
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
        connection.request("GET", url)
        return connection.getresponse().read()
    finally:
        connection.close()


CLIENTS: tuple[Callable[[str | None, str, float], bytes], ...] = (
    with_httpx,
    with_requests,
    with_urllib3,
    with_http_client,
)


def failing_server(kind: FaultKind | Literal["whole"]) -> Iterator[str]:
    """Serve answers with a fault, or whole ones, one after the other."""
    listening = socket.create_server(("127.0.0.1", 0))
    framing = (
        "transfer-encoding: chunked"
        if kind == "malformed_chunk"
        else f"content-length: {len(WHOLE)}"
    )
    head = f"HTTP/1.1 200 OK\r\n{framing}\r\n\r\n".encode()
    stalled: list[socket.socket] = []

    def serve() -> None:
        while True:
            try:
                peer, _ = listening.accept()
            except OSError:
                return
            peer.recv(65536)
            if kind == "whole":
                peer.sendall(head + WHOLE)
                peer.close()
                continue
            if kind == "stall":
                peer.sendall(head + PART)
                stalled.append(peer)
                continue
            if kind == "connection_reset":
                # A linger of no time makes the close a reset.
                peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            elif kind == "truncated":
                peer.sendall(head + PART)
            elif kind == "malformed_chunk":
                peer.sendall(head + b"5\r\nfirst\r\nno size of a chunk\r\n")
            peer.close()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    listening.shutdown(socket.SHUT_RDWR)
    listening.close()
    thread.join(SECONDS)
    for each in stalled:
        each.close()


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
        answering = failing_server("whole")
        whole = next(answering)
        for kind in get_args(FaultKind):
            limit = SHORT if kind == "stall" else SECONDS
            serving = failing_server(kind)
            real = next(serving)
            for client in CLIENTS:
                expected = failure(lambda: client(None, real, limit))  # noqa: B023 - called now
                with sync.mocks(proxy) as mocks:
                    after = (
                        len(PART) if kind not in {"empty_response", "connection_reset"} else None
                    )
                    mocks.mock("http://fault.test/", body=WHOLE, fault=kind, after=after)
                    got = failure(lambda: client(proxy, "http://fault.test/", limit))  # noqa: B023
                    mocks.route(f"{whole}/", lambda route: route.continue_(fault=kind, after=after))  # noqa: B023
                    way_back = failure(lambda: client(proxy, f"{whole}/", limit))  # noqa: B023
                self.assertTrue(expected, (kind, client))
                # `requests` and urllib3 wrap a reset before the answer as one of the proxy.
                self.assertEqual(got[-1], expected[-1], (kind, client.__name__))
                self.assertEqual(way_back, got, (kind, client.__name__))
            next(serving, None)
        next(answering, None)

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
