"""The event loop of the generator: many sockets and timers in one thread."""

from __future__ import annotations

import heapq
import select
import time
from typing import TYPE_CHECKING, Protocol

from benchmarks.errors import BenchmarkError

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable


class Channel(Protocol):
    """What the loop watches: a socket that can be read and, when asked, written."""

    socket: socket.socket

    def readable(self) -> None:
        """Bytes have arrived."""

    def writable(self) -> None:
        """Room to write has come back."""


class EventLoop:
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
