"""``python -m benchmarks.echo``: the floor, an echo over Autobahn without any proxy.

It is what one message in and one message out cost on this machine before anything is
decided, in three forms: Autobahn as it comes, our door on Autobahn's public interface
(``--stock-websocket``), and our door as it is used.
"""

from __future__ import annotations

import argparse
import contextlib
import subprocess
import sys
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from attrs import define, field, frozen
from autobahn.twisted.resource import WebSocketResource
from autobahn.twisted.websocket import WebSocketServerFactory, WebSocketServerProtocol
from twisted.internet import reactor  # noqa: TID251 - a program of its own
from twisted.web.resource import Resource
from twisted.web.server import Site

from benchmarks.frames import client_frame
from benchmarks.link import Hub, Link
from benchmarks.report import table
from tests.support import process_usage
from trafficmock.server.malloc import tune_allocator
from trafficmock.server.websocket.upgrade import WebSocketLimits, websocket_resource

if TYPE_CHECKING:
    from collections.abc import Iterator

    from twisted.web.resource import IResource

    from trafficmock.server.websocket.link import Link as ServerLink
    from trafficmock.server.websocket.oversized_frames import OversizedMessage

FORMS = ("autobahn", "stock", "tuned")
_HOST = "127.0.0.1"
_STOP_SECONDS = 10.0
_ROUND_SECONDS = 120.0


@frozen
class EchoLoad:
    """
    What is echoed.

    :param title: for the table.
    :param size: bytes of a message.
    :param links: connections.
    :param in_flight: messages under way on each of them.
    :param messages: in one round, over all connections.
    """

    title: str
    size: int
    links: int
    in_flight: int
    messages: int


LOADS = (
    EchoLoad("600 B, 8 connections", 600, 8, 1, 16_000),
    EchoLoad("600 B pipelined", 600, 1, 64, 32_000),
    EchoLoad("200 KB", 200_000, 1, 1, 1_000),
    EchoLoad("5 MB", 5_000_000, 1, 1, 60),
)


# The servers


class AutobahnEcho(WebSocketServerProtocol):
    """Autobahn as it comes."""

    def onMessage(self, payload: bytes, isBinary: bool) -> None:  # noqa: N802, N803, FBT001 - Autobahn's
        """Send it back."""
        self.sendMessage(payload, isBinary)


class Echo:
    """A handler of links that sends everything back."""

    def link_opened(self, link: ServerLink) -> None:
        """Do nothing."""

    def link_received(self, link: ServerLink, payload: bytes) -> None:
        """Send it back."""
        link.send(payload)

    def link_closed(self, link: ServerLink) -> None:
        """Do nothing."""

    def link_overlong(self, link: ServerLink, message: OversizedMessage) -> None:
        """Do nothing."""

    def link_backlogged(self, link: ServerLink) -> None:
        """Do nothing."""

    def link_drained(self, link: ServerLink) -> None:
        """Do nothing."""


def _resource(form: str, twisted: Any) -> IResource:
    if form == "autobahn":
        factory = WebSocketServerFactory(reactor=twisted)
        factory.protocol = AutobahnEcho
        resource: IResource = WebSocketResource(factory)
        return resource
    tune_allocator()
    return websocket_resource(
        Echo(), limits=WebSocketLimits(), reactor=twisted, stock=form == "stock"
    )


def serve(form: str) -> None:
    """Echo on a free port, which is printed, until standard input ends."""
    twisted: Any = reactor
    root = Resource()
    root.putChild(b"ws", _resource(form, twisted))
    port = twisted.listenTCP(0, Site(root), interface=_HOST)
    print(port.getHost().port, flush=True)
    twisted.callInThread(lambda: (sys.stdin.read(), twisted.callFromThread(twisted.stop)))
    twisted.run()


@frozen
class Server:
    """One that runs: which form, where, and as which process."""

    form: str
    port: int
    pid: int


@contextlib.contextmanager
def _running(form: str) -> Iterator[Server]:
    command = [sys.executable, "-m", "benchmarks.echo", "--serve", form]
    child = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parent.parent,
    )
    assert child.stdout is not None  # noqa: S101 - for the type checker
    assert child.stdin is not None  # noqa: S101
    try:
        yield Server(form, int(child.stdout.readline()), child.pid)
    finally:
        child.stdin.close()
        child.stdout.close()
        try:
            child.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


# The client


@define
class Client:
    """Keeps a number of messages under way on each connection, until all have come back."""

    frame: bytes
    left: int
    """To send."""
    out: int
    """To come back."""
    links: list[Link] = field(factory=list)

    def start(self, in_flight: int) -> None:
        """Fill all connections."""
        for link in self.links:
            for _ in range(in_flight):
                self._send(link)

    def received(self, number: int, _: bytes) -> None:
        """Send the next message where one came back."""
        self.out -= 1
        self._send(self.links[number])

    def _send(self, link: Link) -> None:
        if self.left:
            self.left -= 1
            link.send(self.frame)


def _measure(server: Server, load: EchoLoad, messages: int) -> float:
    """Echo messages; returns what each cost the server, in µs of CPU."""
    hub = Hub()
    client = Client(client_frame(b"x" * load.size), left=messages, out=messages)
    for number in range(load.links):
        receive = partial(client.received, number)
        client.links.append(Link(hub, _HOST, server.port, receive))
    before = process_usage.cpu_seconds(server.pid)
    client.start(load.in_flight)
    hub.run_until(lambda: client.out == 0, _ROUND_SECONDS, load.title)
    spent = process_usage.cpu_seconds(server.pid) - before
    for link in client.links:
        link.close()
    hub.close()
    return spent / messages * 1e6


def run(rounds: int, scale: float, forms: list[str]) -> None:
    """Measure the forms in turns and print the medians."""
    rows = {form: [form] for form in forms}
    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(_running(form)) for form in forms]
        for load in LOADS:
            messages = max(load.links * load.in_flight, int(load.messages * scale))
            spent: dict[str, list[float]] = {form: [] for form in forms}
            for number in range(rounds + 1):
                for server in servers:
                    cost = _measure(server, load, messages)
                    if number:
                        # The first round is for warming up.
                        spent[server.form].append(cost)
            for form in forms:
                rows[form].append(f"{median(spent[form]):,.1f}")
    head = ("echo, CPU µs", *(load.title for load in LOADS))
    print(table(head, [rows[form] for form in forms]))


def main(arguments: list[str]) -> None:
    """Measure, or with ``--serve`` be the server that is measured."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.echo", description=__doc__)
    parser.add_argument("--serve", choices=FORMS, help=argparse.SUPPRESS)
    parser.add_argument("--form", choices=FORMS, action="append", help="only this; repeatable")
    parser.add_argument("--rounds", type=int, default=5, help="default: %(default)s")
    parser.add_argument("--scale", type=float, default=1.0, help="multiplies the messages")
    options = parser.parse_args(arguments)
    if options.serve:
        serve(options.serve)
    else:
        run(options.rounds, options.scale, options.form or list(FORMS))


if __name__ == "__main__":
    main(sys.argv[1:])
