"""Two gigabytes each way, and five hundred clients at once (``TRAFFICMOCK_DEEP=1``)."""

import asyncio
import http.client
import json
import ssl
import tempfile
import zlib
from base64 import b64encode
from collections.abc import Iterator
from contextlib import AsyncExitStack, ExitStack, closing
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp
from twisted.logger import Logger
from twisted.trial.unittest import SynchronousTestCase

from tests.interop.clients.cell import HOST
from tests.interop.clients.matrix import TOKEN, ClientMatrix, client_matrix
from tests.interop.clients.server import PIECE
from tests.support.hypothesis_profiles import DEEP
from tests.support.processes.process_usage import memory
from tests.support.waiting import wait_until

MB = 1_000_000
SIZE = 2000 * MB if DEEP else 20 * MB
WARM = 20 * MB
MOST_GROWTH = 60 * MB
CLIENTS = 500
TURNS = 20
REQUESTS = 4


class LargeBodyTests(SynchronousTestCase):
    """What flows through the proxy does not stay in it."""

    def setUp(self) -> None:
        held = ExitStack()
        self.addCleanup(held.close)
        folder = Path(held.enter_context(tempfile.TemporaryDirectory()))
        self.matrix = held.enter_context(client_matrix(folder))

    def grows(self, scheme: str) -> int:
        """Send and fetch much, and tell by how much the proxy's memory rose meanwhile."""
        transfer(self.matrix, scheme, WARM)
        before = memory(self.matrix.pid).resident
        transfer(self.matrix, scheme, SIZE)
        return memory(self.matrix.pid).peak - before

    def test_plain(self) -> None:
        """Over http, memory stays flat whatever the size of a body, up and down."""
        growth = self.grows("http")
        _log.info("{size} bytes over http: memory grew by {growth}", size=SIZE, growth=growth)
        self.assertLess(growth, MOST_GROWTH)

    if not DEEP:
        test_plain.skip = "only with TRAFFICMOCK_DEEP=1"  # type: ignore[attr-defined]

    def test_secure(self) -> None:
        """So it does over https."""
        growth = self.grows("https")
        _log.info("{size} bytes over https: memory grew by {growth}", size=SIZE, growth=growth)
        self.assertLess(growth, MOST_GROWTH)


class ManyClientsTests(SynchronousTestCase):
    """Many clients at once, each with a connection of its own."""

    if not DEEP:
        skip = "only with TRAFFICMOCK_DEEP=1"

    def test_many_clients(self) -> None:
        """All are answered rightly, and nothing of them stays behind."""
        with ExitStack() as held:
            folder = Path(held.enter_context(tempfile.TemporaryDirectory()))
            matrix = held.enter_context(client_matrix(folder, "--history-limit", "200"))
            before = descriptors(matrix.pid)
            sizes = asyncio.run(_memory_by_turn(matrix))
            wait_until(
                # Kept connections to the server are closed, too.
                lambda: descriptors(matrix.pid) <= before + 2,
                f"the proxy to close its descriptors, {before} at first",
            )
            _log.info("{clients} clients: memory {sizes}", clients=CLIENTS, sizes=sizes)
            self.assertLess(sizes[-1] - sizes[len(sizes) // 4], 20 * MB)


_log = Logger()


def descriptors(pid: int) -> int:
    """Count the open descriptors of a process."""
    return sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())


async def _memory_by_turn(matrix: ClientMatrix) -> list[int]:
    """Let all clients send :data:`REQUESTS` each turn; give the proxy's memory after each turn."""
    environment = matrix.environment("soak")
    trust = ssl.create_default_context(cafile=environment["SSL_CERT_FILE"])
    sizes = []
    async with AsyncExitStack() as held:
        clients = []
        for number in range(CLIENTS):
            session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=trust))
            await held.enter_async_context(session)
            clients.append((session, "https" if number % 2 else "http"))
        for turn in range(TURNS):
            await asyncio.gather(*(_requests(matrix, turn, *client) for client in clients))
            sizes.append(memory(matrix.pid).resident)
    return sizes


async def _requests(
    matrix: ClientMatrix, turn: int, session: aiohttp.ClientSession, scheme: str
) -> None:
    login = aiohttp.BasicAuth("soak", TOKEN)
    for number in range(REQUESTS):
        target = f"/echo?{turn}-{number}"
        url = f"{scheme}://{HOST}:{matrix.ports[scheme]}{target}"
        async with session.get(url, proxy=matrix.url, proxy_auth=login) as response:
            seen = await response.json()
        assert (response.status, seen["target"]) == (200, target), (response.status, seen)


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
