"""``upstream``: CPU of a small request to a server by our connections, by Agent and by treq."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Awaitable, Callable
from typing import Any

import treq
from treq.client import HTTPClient
from twisted.internet.defer import Deferred, gatherResults
from twisted.internet.task import react
from twisted.web.client import Agent, HTTPConnectionPool, readBody
from twisted.web.http_headers import Headers

from benchmarks.report import table
from trafficmock.proxy.http1.forwarded_headers import request_block
from trafficmock.proxy.http1.framing import NONE
from trafficmock.proxy.request_target import Origin
from trafficmock.proxy.transfer.upstream_agent import ResponseCollector
from trafficmock.proxy.upstream.connection_pool import ConnectionPool
from trafficmock.proxy.upstream.dialer import Dialer
from trafficmock.proxy.upstream.server_verification import ServerVerification

Ask = Callable[[], Awaitable[object]]

_IN_FLIGHT = 16
_PATH = "/2/x"


def add_arguments(parser: ArgumentParser) -> None:
    """Options of this subcommand."""
    parser.add_argument("--requests", type=int, default=480, help="a round (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="default: %(default)s")


def run(options: Namespace) -> bool:
    """Measure in turns and print medians; return whether the measurement succeeded."""
    command = [sys.executable, "-m", "benchmarks.forward.upstream"]
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(
            [*command, folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as server,
    ):
        lines = server.stdout or ()
        port = json.loads(next(iter(lines)))["plain"]
        try:
            react(lambda reactor: Deferred.fromCoroutine(_measure(reactor, port, options)))
        except SystemExit as end:
            return not end.code
        finally:
            server.communicate()
    return True


async def _measure(reactor: Any, port: int, options: Namespace) -> None:
    kept = HTTPConnectionPool(reactor)
    kept.maxPersistentPerHost = _IN_FLIGHT
    agent = Agent(reactor, pool=kept)
    client = HTTPClient(agent)
    url, headers = f"http://127.0.0.1:{port}{_PATH}", Headers({b"accept": [b"*/*"]})
    dialer = Dialer(reactor=reactor, connect_seconds=5, trust=ServerVerification())
    pool, origin = ConnectionPool(dialer, reactor, 65536), Origin("http", "127.0.0.1", port)

    async def by_ours() -> None:
        connection = pool.take(origin, repeatable=True) or await pool.connect(origin)
        collector = ResponseCollector(0, reactor)
        host, pairs = origin.authority.encode(), [(b"accept", b"*/*")]
        data = request_block(b"GET", _PATH.encode(), host, pairs, NONE)
        connection.begin(collector, b"GET", data, complete=True)
        await collector.done
        pool.give_back(origin, connection)

    async def by_agent() -> None:
        await readBody(await agent.request(b"GET", url.encode(), headers))

    async def by_treq() -> None:
        await treq.content(await client.request("GET", url, headers=headers, reactor=reactor))

    ways: dict[str, Ask] = {"ours": by_ours, "Agent": by_agent, "treq": by_treq}
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(options.rounds):
        for name, ask in ways.items():
            await _all(ask, _IN_FLIGHT)
            before = time.process_time()
            await _all(ask, options.requests)
            taken[name].append((time.process_time() - before) / options.requests * 1e6)
    rows = [[name, f"{statistics.median(each):.0f}"] for name, each in taken.items()]
    print(table(["way", "µs of CPU a request"], rows))
    pool.stop()
    await kept.closeCachedConnections()


async def _all(ask: Ask, requests: int) -> None:
    async def some() -> None:
        for _ in range(requests // _IN_FLIGHT):
            await ask()

    await gatherResults([Deferred.fromCoroutine(some()) for _ in range(_IN_FLIGHT)])
