"""Many streams of many tests, open at once: a part goes to each of them, again and again."""

from __future__ import annotations

import asyncio
import contextlib
import statistics
import time
from collections.abc import Mapping
from urllib.parse import urlsplit

from attrs import frozen

from benchmarks.errors import BenchmarkError
from tests.support.processes import process_usage
from trafficmock.testing import aio

_URL = "http://llm.test/chat"
_ROUNDS = 5


@frozen
class Crowd:
    """The figures of a crowd: numbers, milliseconds of each ``send``, bytes of memory."""

    streams: int
    tests: int
    milliseconds: list[float]
    proxy_bytes: int

    @property
    def row(self) -> list[str]:
        """The row of the table."""
        ordered = sorted(self.milliseconds)
        p99 = ordered[int(len(ordered) * 0.99)]
        median = statistics.median(ordered)
        numbers = (f"{self.streams:,}", f"{self.tests:,}", f"{median:.1f}", f"{p99:.1f}")
        return [*numbers, f"{self.proxy_bytes / 1e6:.0f}"]


def measure(proxy: str, pid: int, tests: int, streams: int) -> Crowd:
    """Open the streams, and send a part to each, one after the other, in several rounds.

    The applications are connections to the forward proxy, each with the context of a test.

    :raises BenchmarkError: a stream got another part than its own.
    """
    return asyncio.run(_measure(proxy, pid, tests, streams // tests))


async def _measure(proxy: str, pid: int, tests: int, streams_of_test: int) -> Crowd:
    async with contextlib.AsyncExitStack() as stack:
        open_streams = []
        for number in range(tests):
            mocks = await stack.enter_async_context(aio.mocks(proxy, title=f"test {number}"))
            for _ in range(streams_of_test):
                stream = await mocks.stream(_URL, content_type="text/plain")
                # A writer that is collected closes its connection.
                open_streams.append((stream, *await _ask(proxy, mocks.headers)))
                await stream.request
        milliseconds = []
        for turn in range(_ROUNDS):
            for number, (stream, reader, _) in enumerate(open_streams):
                part = f"{turn} {number};"
                began = time.perf_counter()
                await stream.send(part)
                milliseconds.append((time.perf_counter() - began) * 1000)
                got = await reader.readuntil(b";")
                if not got.endswith(part.encode()):
                    raise BenchmarkError(f"{got!r} in the place of {part!r}")
        memory = process_usage.memory(pid).peak
        for stream, *_ in open_streams:
            await stream.end()
    return Crowd(len(open_streams), tests, milliseconds, memory)


async def _ask(
    proxy: str, headers: Mapping[str, str]
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    where = urlsplit(proxy)
    reader, writer = await asyncio.open_connection(where.hostname, where.port)
    lines = [f"GET {_URL} HTTP/1.1", "host: llm.test", "connection: close"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    writer.write(("\r\n".join(lines) + "\r\n\r\n").encode())
    return reader, writer
