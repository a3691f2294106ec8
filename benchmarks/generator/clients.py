"""The two kinds of protocol-3 clients, with only the messages that the npm packages send."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable

from benchmarks.errors import BenchmarkError
from benchmarks.generator import messages
from benchmarks.generator.event_loop import EventLoop
from benchmarks.generator.frames import mask
from benchmarks.generator.loads import CLIENT_ID, Load, RouteKey, body
from benchmarks.generator.messages import Incoming, Template
from benchmarks.generator.websocket_connection import WebSocketConnection


def _test_id(test: int) -> str:
    return str(uuid.UUID(int=0x7E57 << 96 | test))


def _route_id(route: RouteKey) -> str:
    return str(uuid.UUID(int=0x2047E << 96 | route.test << 32 | route.route))


class Client:
    """
    The base of both kinds: hello, heartbeat, barrier.

    :param loop: the generator's event loop.
    :param address: host and port of the target.
    :param role: ``node`` or ``playwright`` (protocol 3).
    :param client_id: sent in ``hello``.
    :param features: sent in ``hello``.
    """

    def __init__(
        self,
        loop: EventLoop,
        address: tuple[str, int],
        role: str,
        client_id: str,
        features: tuple[str, ...] = (),
    ) -> None:
        self._loop = loop
        self._name = client_id
        self._acks = 0
        self._pongs = 0
        self.link = WebSocketConnection(loop, *address, self._receive)
        self.link.send_message(messages.hello(role, client_id, features))
        self._wait_for_acks(1)

    def barrier(self) -> None:
        """Return when the target has handled all messages that this client has sent."""
        before = self._pongs
        self.link.send_message({"type": "ping", "at": 1})
        self._loop.run_until(lambda: self._pongs > before, 30, f"pong for {self._name}")

    def close(self) -> None:
        """Close the connection."""
        self.link.close()

    def _wait_for_acks(self, count: int) -> None:
        wanted = self._acks + count
        self._loop.run_until(lambda: self._acks >= wanted, 60, f"{count} acks for {self._name}")

    def _receive(self, payload: bytes) -> None:
        message = messages.decode(payload)
        kind = message.type
        if kind == "ping":
            self.link.send_message({"type": "pong", "at": int(message.at)})
        elif kind == "pong":
            self._pongs += 1
        elif kind in {"hello:ok", "test:registered", "route:registered"}:
            self._acks += 1
        elif kind in {"hello:error", "proxy:error", "decision:error"}:
            raise BenchmarkError(f"{self._name} got {kind} {message.code}: {message.message}")
        else:
            self._handle(message)

    def _handle(self, message: Incoming) -> None:
        raise NotImplementedError


class Worker(Client):
    """
    A test worker that answers like the npm fixture: each test's claim, and each match by fulfill.

    :param number: the index of the worker in the load.
    """

    def __init__(self, loop: EventLoop, address: tuple[str, int], load: Load, number: int) -> None:
        self._load = load
        routes = load.routes_of(number)
        tests = sorted({route.test for route in routes})
        self._misses = {test: Template(messages.claim_result(_test_id(test), [])) for test in tests}
        self._hits = {
            route: Template(messages.claim_result(_test_id(route.test), [_route_id(route)]))
            for route in routes
        }
        self._fulfill = Template(messages.fulfill(body(load.response_bytes)))
        super().__init__(loop, address, "playwright", f"playwright-{number}", load.features)
        self._register(number, tests, routes)

    def _register(self, number: int, tests: list[int], routes: list[RouteKey]) -> None:
        for test in tests:
            self.link.send_message(
                {
                    "type": "test:register",
                    "testId": _test_id(test),
                    "title": f"test {test}",
                    "file": f"tests/worker{number}.spec.ts",
                    "workerId": str(number),
                }
            )
        for route in routes:
            message = {
                "type": "route:register",
                "routeId": _route_id(route),
                "testId": _test_id(route.test),
                "matcher": self._load.matcher(route),
                "kind": "http",
            }
            if self._load.replies:
                message["reply"] = messages.response(body(self._load.response_bytes))
            self.link.send_message(message)
        self._wait_for_acks(len(tests) + len(routes))

    def _handle(self, message: Incoming) -> None:
        if message.type == "request:claim":
            self._answer_claim(message.request_id)
        elif message.type == "handler:run":
            if self._load.replies:
                raise BenchmarkError(f"a handler is to run for {message.request_id}")
            content = body(self._load.response_bytes)
            self.link.send_message(messages.fulfill(content, message.request_id, message.run_id))
        elif message.type == "request:matched":
            if message.test_id != self._owner(message.request_id):
                raise BenchmarkError(f"{message.request_id} was given to the wrong test")
            if self._load.replies:
                raise BenchmarkError(f"asked about {message.request_id}")
            self.link.send(self._fulfill.frame(mask(message.request_id.encode("ascii"))))

    def _owner(self, identifier: str) -> str:
        return _test_id(self._load.route_of(messages.request_number(identifier)).test)

    def _answer_claim(self, identifier: str) -> None:
        masked = mask(identifier.encode("ascii"))
        wanted = self._load.route_of(messages.request_number(identifier))
        for test, miss in self._misses.items():
            hit = test == wanted.test and self._load.hits
            self.link.send((self._hits[wanted] if hit else miss).frame(masked))


class Agent(Client):
    """
    An agent that announces requests and measures the time to each decision.

    :param load: the requests to announce.
    """

    def __init__(self, loop: EventLoop, address: tuple[str, int], load: Load) -> None:
        self._load = load
        self._expected = "decision:fulfill" if load.fulfilled else "decision:passthrough"
        self._starts: dict[RouteKey, Template] = {}
        self._report = Template(messages.response_report(body(load.response_bytes)))
        self._begun: dict[str, int] = {}
        self._next = 0
        self.latencies: list[int] = []
        self.decided: Callable[[], None] = nothing
        super().__init__(loop, address, "node", CLIENT_ID)

    def start(self) -> None:
        """Announce the next request."""
        identifier = messages.request_id(self._next)
        route = self._load.route_of(self._next)
        self._next += 1
        template = self._starts.get(route)
        if template is None:
            url = self._load.url(route)
            content = self._load.request_body(route)
            template = Template(messages.request_start(CLIENT_ID, url, content))
            self._starts[route] = template
        frame = template.frame(mask(identifier.encode("ascii")))
        self._begun[identifier] = time.perf_counter_ns()
        self.link.send(frame)

    def _handle(self, message: Incoming) -> None:
        if message.type != self._expected:
            raise BenchmarkError(f"{message.request_id}: {message.type}, not {self._expected}")
        self.latencies.append(time.perf_counter_ns() - self._begun.pop(message.request_id))
        if self._load.report:
            self.link.send(self._report.frame(mask(message.request_id.encode("ascii"))))
        self.decided()


def nothing() -> None:
    """Do nothing after a decision, because no request has to follow."""
