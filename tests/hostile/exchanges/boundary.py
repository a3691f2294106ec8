"""The parser boundary in memory: a stream in any pieces, and the results on both sides."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import h11
from attrs import frozen
from twisted.internet.protocol import Protocol

from tests.hostile.exchanges import reading
from tests.hostile.exchanges.case import DEAD, OWN, UPSTREAM
from tests.hostile.exchanges.upstream import PROPER
from tests.proxy.harness import FakeTransport, ForwardProxyHarness

_NAMES = {UPSTREAM: b"api.test", OWN: b"127.0.0.1:4310", DEAD: b"dead.test"}

Seen = tuple[str, str, bytes]
"""A request: method, target, body."""


@frozen
class Outcome:
    """
    What came of a stream.

    :param answers: the statuses that the client got; ``None`` when other doors took it.
    :param seen: the whole requests that the server got.
    :param closed: whether the client's connection was closed.
    """

    answers: tuple[int, ...] | None
    seen: tuple[Seen, ...]
    closed: bool


def outcome_of(data: bytes, cuts: Sequence[int]) -> Outcome:
    """
    Let a client send ``data``, and a server answer every whole request with 200.

    :param cuts: where the data is cut into pieces.
    """
    harness = ForwardProxyHarness()
    other: list[bytes] = []

    class Service(Protocol):
        def dataReceived(self, data: bytes) -> None:
            other.append(data)

    def service(*, once: bool) -> Protocol:  # noqa: ARG001 - the proxy's signature
        return Service()

    look = harness.proxy.sniffer(service, lambda: None)
    client = harness.attach(look)
    seen: list[Seen] = []
    buffers: dict[FakeTransport, bytes] = {}
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    for start, end in pairwise(edges):
        if client.protocol is not None and end > start:
            client.sends(data[start:end])
            _serve(harness, buffers, seen)
    answers = None if other else _statuses(client.took(), data)
    closed = client.protocol is None or client.disconnecting or client.half_closed
    return Outcome(answers, tuple(seen), closed)


def _serve(
    harness: ForwardProxyHarness, buffers: dict[FakeTransport, bytes], seen: list[Seen]
) -> None:
    """Answer what is whole, until nothing more comes of the answers."""
    before = -1
    while before != len(seen):
        before = len(seen)
        for server in list(harness.servers):
            found, rest = reading.requests(buffers.get(server, b"") + server.took())
            buffers[server] = rest
            for message in found:
                seen.append((message.first[0], message.first[1], message.body))
                bodiless = message.first[0] == "HEAD"
                if server.protocol is not None:
                    server.sends(PROPER.removesuffix(b"done") if bodiless else PROPER)


def _statuses(written: bytes, data: bytes) -> tuple[int, ...]:
    method = data.lstrip(b"\r\n").partition(b" ")[0].decode("latin-1")
    found = reading.answers(written, iter([method]))
    return tuple(int(one.first[0]) for one in found if int(one.first[0]) >= 200)


def filled(data: bytes) -> bytes:
    """Put names in the place of what stands for authorities."""
    for hole, name in _NAMES.items():
        data = data.replace(hole, name)
    return data


def second_opinion(data: bytes) -> list[Seen]:
    """Give the requests at the beginning of ``data`` as h11 reads them, up to the first bad one."""
    found: list[Seen] = []
    connection = _reader(data)
    try:
        while (request := _next(connection)) is not None:
            found.append(request)
            connection.send(h11.Response(status_code=200, headers=[("content-length", "0")]))
            connection.send(h11.EndOfMessage())
            connection.start_next_cycle()
            connection = _reader(connection.trailing_data[0])
    except (h11.RemoteProtocolError, h11.LocalProtocolError):
        return found
    return found


def _reader(data: bytes) -> h11.Connection:
    """Begin to read; empty lines before a request do not count (RFC 9112 section 2.2)."""
    connection = h11.Connection(h11.SERVER, max_incomplete_event_size=1 << 20)
    rest = data.lstrip(b"\r\n")
    if rest:
        connection.receive_data(rest)
    return connection


def _next(connection: h11.Connection) -> Seen | None:
    head: Any = None
    body = b""
    while True:
        event = connection.next_event()
        if isinstance(event, h11.Request):
            head = event
        elif isinstance(event, h11.Data):
            body += bytes(event.data)
        elif isinstance(event, h11.EndOfMessage):
            return head.method.decode(), head.target.decode("latin-1"), body
        else:
            return None
