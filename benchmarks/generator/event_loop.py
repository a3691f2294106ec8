"""The event loop of the generator, for many sockets and timers in one thread."""

from __future__ import annotations

import heapq
import select
import socket
import time
from collections.abc import Callable
from typing import Protocol

from benchmarks.errors import BenchmarkError


class Channel(Protocol):
    """A socket that the loop watches."""

    socket: socket.socket

    def readable(self) -> None:
        """Handle that bytes have arrived."""

    def writable(self) -> None:
        """Handle that the socket can be written again."""


class EventLoop:
    """An event loop on epoll, whose runs always have a time limit."""

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
        """Set whether ``channel.writable`` is called when the socket can be written."""
        events = select.EPOLLIN | (select.EPOLLOUT if wanted else 0)
        self._epoll.modify(channel.socket.fileno(), events)

    def remove(self, channel: Channel) -> None:
        """Stop watching ``channel``, before its socket is closed."""
        del self._channels[channel.socket.fileno()]
        self._epoll.unregister(channel.socket.fileno())

    def call_at(self, when: float, action: Callable[[], None]) -> None:
        """Run ``action`` at ``when`` (seconds of :func:`time.perf_counter`)."""
        self._timer_count += 1
        heapq.heappush(self._timers, (when, self._timer_count, action))

    def run_until(self, finished: Callable[[], bool], seconds: float, what: str) -> None:
        """
        Serve sockets and timers until ``finished`` returns true.

        :param finished: called before each poll.
        :param seconds: time limit.
        :param what: the goal, for the text of the error.
        :raises BenchmarkError: the time limit is exceeded.
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
        """Close the epoll descriptor."""
        self._epoll.close()
