"""
Many WebSocket clients in one thread: a link is one of them, the hub waits for all.

Each message is one write to the kernel, as the npm clients do it: joining the
answers of several tests into one write would flatter the proxy.
"""

from __future__ import annotations

import heapq
import json
import select
import socket
import time
from typing import TYPE_CHECKING, Any, Protocol

from benchmarks.errors import BenchmarkError
from benchmarks.frames import FrameReader, client_frame, upgrade_request

if TYPE_CHECKING:
    from collections.abc import Callable

_READ_BYTES = 1 << 18
_CONNECT_SECONDS = 10.0


class Channel(Protocol):
    """What the hub watches: a socket that can be read and, when asked, written."""

    socket: socket.socket

    def readable(self) -> None:
        """Bytes have arrived."""

    def writable(self) -> None:
        """Room to write has come back."""


class Hub:
    """The event loop of the generator: sockets and timers, always with a deadline."""

    def __init__(self) -> None:
        self._epoll = select.epoll()
        self._channels: dict[int, Channel] = {}
        self._timers: list[tuple[float, int, Callable[[], None]]] = []
        self._timer_count = 0

    def add(self, channel: Channel) -> None:
        """Watch ``channel`` for bytes to read."""
        self._channels[channel.socket.fileno()] = channel
        self._epoll.register(channel.socket.fileno(), select.EPOLLIN)

    def want_write(self, channel: Channel, *, wanted: bool) -> None:
        """Whether ``channel`` waits for room to write."""
        events = select.EPOLLIN | (select.EPOLLOUT if wanted else 0)
        self._epoll.modify(channel.socket.fileno(), events)

    def remove(self, channel: Channel) -> None:
        """Forget ``channel``, which is about to be closed."""
        del self._channels[channel.socket.fileno()]
        self._epoll.unregister(channel.socket.fileno())

    def call_at(self, when: float, action: Callable[[], None]) -> None:
        """Run ``action`` at ``when`` (seconds of :func:`time.perf_counter`)."""
        self._timer_count += 1
        heapq.heappush(self._timers, (when, self._timer_count, action))

    def run_until(self, finished: Callable[[], bool], seconds: float, what: str) -> None:
        """
        Serve sockets and timers until ``finished`` says so.

        :param finished: asked after each turn.
        :param seconds: how long this may take at most.
        :param what: what is waited for, for the error.
        :raises BenchmarkError: when the time is over.
        """
        deadline = time.perf_counter() + seconds
        channels = self._channels
        while not finished():
            now = time.perf_counter()
            if now > deadline:
                raise BenchmarkError(f"no end after {seconds:.0f} s: {what}")
            for descriptor, events in self._epoll.poll(self._pause(now, deadline)):
                channel = channels.get(descriptor)
                if channel is None:
                    continue
                if events & select.EPOLLOUT:
                    channel.writable()
                if events & ~select.EPOLLOUT:
                    channel.readable()

    def run_for(self, seconds: float) -> None:
        """Serve sockets and timers for ``seconds``."""
        until = time.perf_counter() + seconds
        self.call_at(until, lambda: None)
        self.run_until(lambda: time.perf_counter() >= until, seconds + 10, "a quiet moment")

    def _pause(self, now: float, deadline: float) -> float:
        """Run the timers that are due; return the seconds until the next one."""
        while self._timers and self._timers[0][0] <= now:
            heapq.heappop(self._timers)[2]()
        until = self._timers[0][0] if self._timers else deadline
        return max(0.0, min(until, deadline) - time.perf_counter())

    def close(self) -> None:
        """Give the descriptor back."""
        self._epoll.close()


class Link:
    """
    One WebSocket to the target's ``/ws``.

    :param hub: who waits for it.
    :param host: where the target listens.
    :param port: its port.
    :param receive: called with the payload of each text message.
    """

    def __init__(self, hub: Hub, host: str, port: int, receive: Callable[[bytes], None]) -> None:
        self.socket, rest = _upgraded(host, port)
        self.sent = 0
        self.received = 0
        self._hub = hub
        self._receive = receive
        self._reader = FrameReader()
        self._unsent = bytearray()
        hub.add(self)
        self._take(rest)

    def send(self, frame: bytes) -> None:
        """Write a ready frame; what the kernel does not take now goes out later, in order."""
        self.sent += 1
        if self._unsent:
            self._unsent += frame
            return
        try:
            written = self.socket.send(frame)
        except BlockingIOError:
            written = 0
        if written < len(frame):
            self._unsent += memoryview(frame)[written:]
            self._hub.want_write(self, wanted=True)

    def send_message(self, message: dict[str, Any]) -> None:
        """Serialise and send, for what is not worth a template."""
        self.send(client_frame(json.dumps(message, separators=(",", ":")).encode("ascii")))

    def readable(self) -> None:
        """Read once; whole messages go to ``receive``."""
        data = self.socket.recv(_READ_BYTES)
        if not data:
            raise BenchmarkError("the target closed a connection")
        self._take(data)

    def writable(self) -> None:
        """Write on with what is left."""
        written = self.socket.send(self._unsent)
        del self._unsent[:written]
        if not self._unsent:
            self._hub.want_write(self, wanted=False)

    def close(self) -> None:
        """Cut the connection."""
        self._hub.remove(self)
        self.socket.close()

    def _take(self, data: bytes) -> None:
        for payload in self._reader.feed(data):
            self.received += 1
            self._receive(payload)


def _upgraded(host: str, port: int) -> tuple[socket.socket, bytes]:
    """Connect and shake hands; returns the socket and what came after the handshake."""
    connection = socket.create_connection((host, port), timeout=_CONNECT_SECONDS)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.sendall(upgrade_request(host, port))
    answer = b""
    while b"\r\n\r\n" not in answer:
        data = connection.recv(4096)
        if not data:
            raise BenchmarkError(f"the target hung up in the handshake: {answer[:200]!r}")
        answer += data
    head, _, rest = answer.partition(b"\r\n\r\n")
    if not head.startswith(b"HTTP/1.1 101"):
        raise BenchmarkError(f"no WebSocket at /ws: {head[:200]!r}")
    connection.settimeout(0)
    return connection, rest
