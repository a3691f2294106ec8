"""A link without a socket, and a driver around it."""

import json
from collections.abc import Sequence
from typing import Any

from attrs import define, field
from twisted.internet.task import Clock

from trafficmock.core.coordinator import Coordinator
from trafficmock.core.settings import Settings
from trafficmock.history.store import History
from trafficmock.server.driver import Driver

HEADERS = {"accept": "*/*"}


_StandsForLink: Any = object
"""To mypy any class, so that the fake passes for a link without being one."""


@define(eq=False)
class FakeLink(_StandsForLink):
    """Keeps what the driver does to it.

    ``queued_bytes``, ``drained_total`` and ``arriving_bytes`` are for the test to set.
    """

    id: str = ""
    peer: str = "127.0.0.1:1"
    sent: list[dict[str, Any]] = field(factory=list)
    frames: list[Sequence[bytes]] = field(factory=list)
    payloads: list[bytes] = field(factory=list)
    closed: tuple[int, str] | None = None
    aborted: bool = False
    pauses: int = 0
    deferrable: int = 0
    queued_bytes: int = 0
    drained_total: int = 0
    arriving_bytes: int = 0
    shared: bool = True
    welcomed: bool = False
    closed_cleanly: bool = False

    def welcome(self) -> None:
        self.welcomed = True

    def send(self, frame: Sequence[bytes]) -> None:
        data = b"".join(frame)
        payload = data[{126: 4, 127: 10}.get(data[1], 2) :]
        self.frames.append(frame)
        self.payloads.append(payload)
        self.sent.append(json.loads(payload))

    def defer(self, frame: Sequence[bytes]) -> None:
        self.deferrable += 1
        self.send(frame)

    def close(self, code: int, reason: str) -> None:
        self.closed = (code, reason)

    def abort(self) -> None:
        self.aborted = True

    def pause(self) -> None:
        self.pauses += 1

    def resume(self) -> None:
        self.pauses -= 1

    def took(self, *types: str) -> list[dict[str, Any]]:
        """Give the messages sent since the last call, after checking their types."""
        sent, self.sent = self.sent, []
        found = [message["type"] for message in sent]
        assert found == list(types), f"expected {list(types)}, sent {found}"
        return sent


@define(eq=False)
class DriverHarness:
    """A driver with a clock that the test moves, a history and any number of links."""

    settings: Settings = field(factory=lambda: Settings(version="1.2.3"))
    history: History = field(factory=History)
    clock: Clock = field(factory=Clock)
    driver: Driver = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.driver = Driver(
            coordinator=Coordinator(self.settings),
            history=self.history,
            clock=self.clock,
            monotonic=self.clock.seconds,
            epoch_ns=lambda: (1_000_000 + int(self.clock.seconds() * 1000)) * 1_000_000,
            prefix="test",
        )

    def connect(self) -> FakeLink:
        link = FakeLink()
        self.driver.link_opened(link)
        return link

    def send_message(self, link: FakeLink, type_: str, **fields: Any) -> None:
        self.driver.link_received(link, json.dumps({"type": type_, **fields}).encode())

    def hello(self, role: str, **fields: Any) -> FakeLink:
        link = self.connect()
        self.send_message(
            link, "hello", protocolVersion=3, packageVersion="0.1.0", role=role, **fields
        )
        link.took("hello:ok")
        return link

    def agent(self, client_id: str = "shop") -> FakeLink:
        return self.hello("node", clientId=client_id)

    def worker_with_route(self, glob: str, *, kind: str = "http") -> FakeLink:
        """Give a worker with one test ``t`` and one route ``r``."""
        link = self.hello("playwright", workerId="0")
        self.send_message(
            link, "test:register", testId="t", title="T", file="t.spec.ts", workerId="0"
        )
        self.send_message(
            link, "route:register", routeId="r", testId="t", matcher={"urlGlob": glob}, kind=kind
        )
        link.took("test:registered", "route:registered")
        return link

    def request(self, agent: FakeLink, request_id: str, url: str, **fields: Any) -> None:
        request = {"url": url, "method": "GET", "headers": HEADERS, "bodyBase64": None, **fields}
        self.send_message(
            agent, "request:start", requestId=request_id, clientId="shop", request=request
        )
