"""A REST client that polls a path and discards the answers."""

from __future__ import annotations

import socket
import time

from benchmarks.errors import BenchmarkError
from benchmarks.generator.event_loop import EventLoop

_READ_BYTES = 1 << 18


class Poller:
    """
    Polls one path, with a new connection each time.

    :param loop: the generator's event loop.
    :param address: host and port of the target.
    :param path: path and query.
    :ivar seconds: the duration of each poll.
    :ivar bytes: the size of the last answer.
    """

    socket: socket.socket

    def __init__(self, loop: EventLoop, address: tuple[str, int], path: str) -> None:
        self._loop = loop
        self._address = address
        self._path = path
        self._left = 0
        self._pause = 0.0
        self._asked_at = 0.0
        self._started = False
        self.seconds: list[float] = []
        self.bytes = 0

    def start(self, count: int, pause: float) -> None:
        """
        Poll ``count`` times.

        :param pause: seconds from the end of one answer to the next request.
        """
        self._left = count
        self._pause = pause
        self._ask()

    def stop(self) -> None:
        """Send no more requests; an answer that is coming is still read."""
        self._left = 0

    @property
    def idle(self) -> bool:
        """Whether no request is open and none will follow."""
        return self._left == 0 and not self._started

    def _ask(self) -> None:
        if not self._left:
            return
        self._left -= 1
        self._started = True
        host, port = self._address
        self._asked_at = time.perf_counter()
        self.socket = socket.create_connection(self._address, timeout=10)
        question = f"GET {self._path} HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n\r\n"
        self.socket.sendall(question.encode("ascii"))
        self.socket.settimeout(0)
        self.bytes = 0
        self._loop.add(self)

    def readable(self) -> None:
        """Read once; at the end of the answer record its duration and schedule the next request."""
        data = self.socket.recv(_READ_BYTES)
        if data:
            if not self.bytes and not data.startswith(b"HTTP/1.1 200"):
                raise BenchmarkError(f"{self._path} was answered with {data[:60]!r}")
            self.bytes += len(data)
            return
        self._loop.remove(self)
        self.socket.close()
        self._started = False
        now = time.perf_counter()
        self.seconds.append(now - self._asked_at)
        self._loop.call_at(now + self._pause, self._ask)

    def writable(self) -> None:
        """Do nothing: the request was written at once, because it fits the kernel's buffer."""
