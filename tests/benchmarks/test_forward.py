"""Tests for :mod:`benchmarks.forward`: the server that must not be fooled, and what is asked."""

import asyncio
import ssl
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from benchmarks.forward.clients import RequestPlan
from benchmarks.forward.loads import LOADS, ForwardLoad, Way
from benchmarks.forward.upstream import Server, answer


class Written(asyncio.Transport):
    """A transport that keeps what is written."""

    def __init__(self) -> None:
        super().__init__()
        self.written = b""

    def write(self, data: Any) -> None:
        self.written += bytes(data)


def plan(way: Way, body_bytes: int = 0) -> RequestPlan:
    load = ForwardLoad("x", "x", way, body_bytes=body_bytes)
    return RequestPlan(("127.0.0.1", 1), load, (80, 443), ssl.create_default_context())


class ServerTests(SynchronousTestCase):
    """One answer for each request, of the size that was asked for."""

    @given(st.lists(st.integers(min_value=1, max_value=60), max_size=10))
    def test_any_cut(self, cuts: list[int]) -> None:
        """However requests arrive, their bodies are passed over and each is answered in turn."""
        server, transport = Server(), Written()
        server.connection_made(transport)
        first = b"POST /5/1 HTTP/1.1\r\nContent-Length: 30\r\n\r\n" + b"GET /9/ HTTP/1.1\r\n\r\n"
        stream = first + b"x" * 10 + b"GET /7/2 HTTP/1.1\r\n\r\n"
        for cut in [*cuts, len(stream)]:
            piece, stream = stream[:cut], stream[cut:]
            if piece:
                server.data_received(piece)
        self.assertEqual(transport.written, answer(5) + answer(7))

    def test_answer(self) -> None:
        """The length that is said is the length that is sent."""
        head, _, body = answer(200).partition(b"\r\n\r\n")
        self.assertIn(b"Content-Length: 200", head)
        self.assertEqual(len(body), 200)


class ErrandTests(SynchronousTestCase):
    """What clients send."""

    def test_targets(self) -> None:
        """A proxy is asked in absolute form, a server within a tunnel by path."""
        plain = plan(Way.PLAIN, body_bytes=3).head(1)
        self.assertTrue(plain.startswith(b"POST http://127.0.0.1:80/200/1 HTTP/1.1\r\n"))
        self.assertIn(b"Content-Length: 3\r\n", plain)
        self.assertTrue(plan(Way.SECURE).head(2).startswith(b"GET /200/2 HTTP/1.1\r\n"))
        self.assertTrue(plan(Way.MOCKED).head(3).startswith(b"GET http://mocked.test/200/3 "))

    def test_loads(self) -> None:
        """Each load has a name of its own and a mark to reach."""
        self.assertEqual(len({load.name for load in LOADS}), len(LOADS))
        self.assertTrue(all(load.cpu_target for load in LOADS))
