"""Two gigabytes each way, and five hundred clients for a minute (``TRAFFICMOCK_DEEP=1``)."""

from __future__ import annotations

import http.client
import json
import os
import ssl
import tempfile
import time
import urllib.request
import zlib
from base64 import b64encode
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from twisted.logger import Logger
from twisted.trial.unittest import SynchronousTestCase

from benchmarks.forward.crowd import Crowd
from benchmarks.forward.loads import ForwardLoad, Way
from benchmarks.forward.server import upstream
from benchmarks.link import Hub
from tests.clients.cell import HOST
from tests.clients.matrix import TOKEN, ClientMatrix, client_matrix
from tests.clients.server import PIECE
from tests.support.hypothesis_profiles import DEEP
from tests.support.process_usage import memory
from tests.support.proxy_process import running_proxy

if TYPE_CHECKING:
    from collections.abc import Iterator

MB = 1_000_000
SIZE = 2000 * MB if DEEP else 20 * MB
WARM = 20 * MB
MOST_GROWTH = 60 * MB
CROWD = 500 if DEEP else 50
SECONDS = 60.0 if DEEP else 2.0
BATCH = 2000 if DEEP else 200


class LargeBodyTests(SynchronousTestCase):
    """What flows through the proxy does not stay in it."""

    def setUp(self) -> None:
        held = ExitStack()
        self.addCleanup(held.close)
        folder = Path(held.enter_context(tempfile.TemporaryDirectory()))
        self.stage = held.enter_context(client_matrix(folder))

    def grows(self, scheme: str) -> int:
        """Send and fetch much, and tell by how much the proxy's memory rose meanwhile."""
        transfer(self.stage, scheme, WARM)
        before = memory(self.stage.pid).resident
        transfer(self.stage, scheme, SIZE)
        return memory(self.stage.pid).peak - before

    def test_plain(self) -> None:
        """Over http, memory stays flat whatever the size of a body, up and down."""
        growth = self.grows("http")
        _log.info("{size} bytes over http: memory grew by {growth}", size=SIZE, growth=growth)
        self.assertLess(growth, MOST_GROWTH)

    def test_secure(self) -> None:
        """So it does over https."""
        growth = self.grows("https")
        _log.info("{size} bytes over https: memory grew by {growth}", size=SIZE, growth=growth)
        self.assertLess(growth, MOST_GROWTH)


class CrowdTests(SynchronousTestCase):
    """Many clients at once."""

    def test_crowd(self) -> None:
        """All are answered rightly for a minute, and nothing of them stays behind."""
        with ExitStack() as held:
            folder = Path(held.enter_context(tempfile.TemporaryDirectory()))
            ports = held.enter_context(upstream(folder))
            proxy = held.enter_context(
                running_proxy(
                    *("--ca-dir", str(folder / "ca"), "--history-limit", "200"),
                    *("--upstream-ca", str(folder / "upstream.pem")),
                )
            )
            pid = proxy.process.pid
            descriptors = len(os.listdir(f"/proc/{pid}/fd"))  # noqa: PTH208 - only the number
            hub = held.enter_context(closing(Hub()))
            with urllib.request.urlopen(f"{proxy.url}/ca.pem") as answer:  # noqa: S310 - loopback
                authority = answer.read().decode("ascii")
            address = urlsplit(proxy.url)
            crowds = [
                Crowd(hub, ("127.0.0.1", address.port or 0), load, ports, authority)
                for load in (
                    ForwardLoad("plain", "plain", Way.PLAIN, in_flight=CROWD // 2),
                    ForwardLoad("secure", "secure", Way.SECURE, in_flight=CROWD // 2),
                )
            ]
            for crowd in crowds:
                held.callback(crowd.close)
            first, last, done = _soak(crowds, pid)
            for crowd in crowds:
                crowd.close()
            left = _descriptors_left(hub, pid, descriptors)
            _log.info(
                "{done} requests, {crowd} clients: memory {first}, then {last}; {left} descriptors",
                done=done,
                crowd=CROWD,
                first=first,
                last=last,
                left=left,
            )
            self.assertLess(last - first, 20 * MB)
            self.assertLessEqual(left, descriptors + 2)
            self.assertEqual(proxy.get("/health")["ok"], True)


_log = Logger()


def _soak(crowds: list[Crowd], pid: int) -> tuple[int, int, int]:
    """Keep all clients busy for the time; give the memory early and late, and the requests."""
    deadline = time.monotonic() + SECONDS
    sizes: list[int] = []
    done = 0
    while time.monotonic() < deadline or len(sizes) < 4:
        for crowd in crowds:
            crowd.start(BATCH)
        for crowd in crowds:
            done += len(crowd.finish(BATCH, 120).latencies)
        sizes.append(memory(pid).resident)
    return sizes[len(sizes) // 4], sizes[-1], done


def _descriptors_left(hub: Hub, pid: int, wanted: int) -> int:
    """Wait until what was open is closed, kept connections to the server included."""
    for _ in range(100):
        left = len(os.listdir(f"/proc/{pid}/fd"))  # noqa: PTH208 - only the number
        if left <= wanted:
            break
        hub.run_for(0.1)
    return left


def transfer(to: ClientMatrix, scheme: str, size: int) -> None:
    """Upload and download so many bytes, and check what arrived."""
    crc = 0
    for piece in _pieces(size):
        crc = zlib.crc32(piece, crc)
    with closing(_connection(to, scheme)) as connection:
        base = "" if scheme == "https" else f"http://{HOST}:{to.ports[scheme]}"
        headers = {"content-length": str(size)} | ({} if base == "" else _credentials())
        connection.request("POST", f"{base}/echo", _pieces(size), headers)
        seen = json.load(connection.getresponse())
        assert (seen["size"], seen["crc"]) == (size, crc), seen
        headers.pop("content-length")
        connection.request("GET", f"{base}/large/{size}", headers=headers)
        response = connection.getresponse()
        got = total = 0
        while piece := response.read(1 << 20):
            got, total = zlib.crc32(piece, got), total + len(piece)
        assert (total, got) == (size, crc), total


def _connection(to: ClientMatrix, scheme: str) -> http.client.HTTPConnection:
    proxy = urlsplit(to.url)
    assert proxy.hostname is not None
    if scheme == "http":
        return http.client.HTTPConnection(proxy.hostname, proxy.port, timeout=60)
    environment = to.environment("soak")
    trust = ssl.create_default_context(cafile=environment["SSL_CERT_FILE"])
    connection = http.client.HTTPSConnection(proxy.hostname, proxy.port, timeout=60, context=trust)
    connection.set_tunnel(HOST, to.ports["https"], headers=_credentials())
    return connection


def _credentials() -> dict[str, str]:
    coded = b64encode(f"soak:{TOKEN}".encode()).decode("ascii")
    return {"proxy-authorization": f"Basic {coded}"}


def _pieces(size: int) -> Iterator[bytes]:
    large = PIECE * 16
    while size:
        piece = large[:size]
        size -= len(piece)
        yield piece
