"""A cheap client of a forward proxy: one connection, one request at a time."""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Callable

from attrs import frozen

from benchmarks.errors import BenchmarkError
from benchmarks.forward.loads import MOCKED_HOST, ForwardLoad, Way
from benchmarks.generator.event_loop import EventLoop

_CONNECT_SECONDS = 10.0
_END_OF_HEAD = b"\r\n\r\n"
_OK = (b"HTTP/1.1 200", b"HTTP/1.0 200")
_LENGTH = b"\r\ncontent-length:"
_SCRATCH = bytearray(1 << 18)
"""The buffer for bodies, which are discarded; all clients share it in one thread."""


@frozen
class RequestPlan:
    """
    The requests of all clients of a session.

    :param proxy: host and port of the proxy.
    :param load: the requests to send.
    :param ports: of the upstream server: plain, and with TLS.
    :param trust: verifies certificates.
    """

    proxy: tuple[str, int]
    load: ForwardLoad
    ports: tuple[int, int]
    trust: ssl.SSLContext

    @property
    def secure(self) -> bool:
        """Whether requests use TLS in a tunnel."""
        return self.load.way in {Way.SECURE, Way.SECURE_NEW}

    @property
    def authority(self) -> str:
        """Host and port of the target."""
        if self.secure:
            return f"localhost:{self.ports[1]}"
        return MOCKED_HOST if self.load.way is Way.MOCKED else f"127.0.0.1:{self.ports[0]}"

    def head(self, number: int) -> bytes:
        """Return the head of request ``number``; each URL is different."""
        path = f"/{self.load.answer_bytes}/{number}"
        target = path if self.secure else f"http://{self.authority}{path}"
        method, length = "GET", ""
        if self.load.body_bytes:
            method, length = "POST", f"Content-Length: {self.load.body_bytes}\r\n"
        return (
            f"{method} {target} HTTP/1.1\r\nHost: {self.authority}\r\nUser-Agent: benchmark\r\n"
            f"Accept: */*\r\n{length}\r\n"
        ).encode("ascii")


class ForwardClient:
    """
    A client with one connection to the proxy at a time.

    :param loop: the generator's event loop.
    :param plan: the requests to send.
    :param answered: called with the duration of each request, in nanoseconds.
    """

    socket: socket.socket

    def __init__(self, loop: EventLoop, plan: RequestPlan, answered: Callable[[int], None]) -> None:
        self._loop = loop
        self._plan = plan
        self._answered = answered
        self._body = b"x" * plan.load.body_bytes
        self._open = False
        self._begun = 0
        self._request = b""
        self._unsent = memoryview(b"")
        self._step: Callable[[], None] = self._read_answer
        self._head = b""
        self._left = -1

    def ask(self, number: int) -> None:
        """Send request ``number``, on a new connection if none is open."""
        self._begun = time.perf_counter_ns()
        self._request = self._plan.head(number) + self._body
        if self._open:
            self._send_request()
            return
        self.socket = socket.create_connection(self._plan.proxy, _CONNECT_SECONDS)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.settimeout(0)
        self._open = True
        self._loop.add(self)
        if self._plan.secure:
            authority = self._plan.authority
            self._step = self._read_tunnel
            self._head = b""
            self._send(f"CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n\r\n".encode())
        else:
            self._send_request()

    def readable(self) -> None:
        """Read the next part of the tunnel, the handshake or the answer.

        :raises BenchmarkError: the connection failed, or the answer is wrong.
        """
        try:
            self._step()
        except (ssl.SSLWantReadError, BlockingIOError):
            return
        except OSError as error:
            raise BenchmarkError(f"a connection failed: {error}") from error

    def writable(self) -> None:
        """Write the rest of the request."""
        try:
            written = self.socket.send(self._unsent)
        except (ssl.SSLWantWriteError, BlockingIOError):
            return
        self._unsent = self._unsent[written:]
        if not self._unsent:
            self._loop.want_write(self, wanted=False)

    def close(self) -> None:
        """Close the connection, if one is open."""
        if self._open:
            self._open = False
            self._loop.remove(self)
            self.socket.close()

    def _send(self, data: bytes) -> None:
        try:
            written = self.socket.send(data)
        except (ssl.SSLWantWriteError, BlockingIOError):
            written = 0
        if written < len(data):
            self._unsent = memoryview(data)[written:]
            self._loop.want_write(self, wanted=True)

    def _send_request(self) -> None:
        self._step = self._read_answer
        self._head = b""
        self._left = -1
        self._send(self._request)

    def _read_tunnel(self) -> None:
        self._head += self.socket.recv(65536)
        if _END_OF_HEAD not in self._head:
            return
        if not self._head.startswith(_OK):
            raise BenchmarkError(f"no tunnel: {self._head[:200]!r}")
        self.socket = self._plan.trust.wrap_socket(
            self.socket, server_hostname="localhost", do_handshake_on_connect=False
        )
        self._step = self._shake_hands
        self._shake_hands()

    def _shake_hands(self) -> None:
        if isinstance(self.socket, ssl.SSLSocket):
            self.socket.do_handshake()
        self._send_request()

    def _read_answer(self) -> None:
        # TLS may hold decrypted bytes that epoll does not report: read until it needs more.
        while True:
            count = self.socket.recv_into(_SCRATCH)
            if not count:
                raise BenchmarkError("the proxy closed a connection before the end of an answer")
            if self._left < 0:
                self._take_head(bytes(_SCRATCH[:count]))
            else:
                self._left -= count
            if self._left == 0:
                self._finish()
                return
            if not self._plan.secure:
                return

    def _take_head(self, data: bytes) -> None:
        self._head += data
        head, found, rest = self._head.partition(_END_OF_HEAD)
        if not found:
            return
        length = head.lower().partition(_LENGTH)[2].split(b"\r\n", 1)[0]
        if not head.startswith(_OK) or int(length or -1) != self._plan.load.answer_bytes:
            raise BenchmarkError(f"a wrong answer: {self._head[:300]!r}")
        self._left = self._plan.load.answer_bytes - len(rest)

    def _finish(self) -> None:
        if self._plan.load.way is Way.SECURE_NEW:
            self.close()
        self._answered(time.perf_counter_ns() - self._begun)
