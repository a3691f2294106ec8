"""An application and a test worker, as little of them as makes traffic of every kind."""

from __future__ import annotations

import base64
import itertools
import json
import threading
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any, Self

from attrs import define, field
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

if TYPE_CHECKING:
    from types import TracebackType

    from websockets.sync.client import ClientConnection

SECONDS = 30.0
_NUMBERS = itertools.count(1)


def b64(data: bytes | str | None) -> str | None:
    """Write a body as messages have it."""
    if data is None:
        return None
    return base64.b64encode(data.encode() if isinstance(data, str) else data).decode()


def request(
    url: str,
    method: str = "GET",
    *,
    headers: dict[str, str] | None = None,
    body: bytes | str | None = None,
) -> dict[str, Any]:
    """Write a request."""
    common = {"host": url.split("/")[2], "user-agent": "node", "accept": "*/*"}
    return {
        "url": url,
        "method": method,
        "headers": {**common, **(headers or {})},
        "bodyBase64": b64(body),
    }


def response(
    status: int = 200,
    body: bytes | str | None = None,
    content_type: str = "application/json",
    **headers: str,
) -> dict[str, Any]:
    """Write a response."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    texts = {200: "OK", 201: "Created", 302: "Found", 404: "Not Found", 500: "Server Error"}
    return {
        "status": status,
        "statusText": texts.get(status, ""),
        "headers": {"content-type": content_type, "x-request-id": "7c1f0a", **named},
        "bodyBase64": b64(body),
    }


def as_json(value: Any) -> str:
    """Write a JSON body."""
    return json.dumps(value)


@define
class Client:
    """One connection to the coordinator."""

    connection: ClientConnection = field(repr=False)
    _backlog: list[dict[str, Any]] = field(factory=list)

    def send(self, kind: str, /, **fields: Any) -> None:
        """Send one message."""
        self.connection.send(json.dumps({"type": kind, **fields}))

    def until(self, *kinds: str, **wanted: Any) -> dict[str, Any]:
        """Wait for a message of one of these kinds with these fields; others are kept."""
        for kept in self._backlog:
            if _fits(kept, kinds, wanted):
                self._backlog.remove(kept)
                return kept
        while True:
            message: dict[str, Any] = json.loads(self.connection.recv(SECONDS))
            if _fits(message, kinds, wanted):
                return message
            if message["type"] == "ping":
                self.send("pong", at=message["at"])
            elif message["type"] != "request:observed":
                self._backlog.append(message)

    def answer_pings(self) -> None:
        """Answer pings in a thread until the connection ends; no other message is read any more."""
        threading.Thread(target=self._answer_pings, daemon=True).start()

    def _answer_pings(self) -> None:
        with suppress(ConnectionClosed):
            for text in self.connection:
                message = json.loads(text)
                if message["type"] == "ping":
                    self.send("pong", at=message["at"])


def _fits(message: dict[str, Any], kinds: tuple[str, ...], wanted: dict[str, Any]) -> bool:
    return message["type"] in kinds and wanted.items() <= message.items()


DECISIONS = tuple(
    f"decision:{name}" for name in ("passthrough", "fulfill", "continue", "abort", "error")
)


@define
class ProxyClients:
    """All clients of one proxy; leaving it closes them."""

    url: str
    _open: ExitStack = field(factory=ExitStack)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._open.close()

    def new_id(self, what: str) -> str:
        """Make an id up."""
        return f"{what}-{next(_NUMBERS):04d}"

    def client(self, role: str, client_id: str, **more: Any) -> Client:
        """Connect somebody."""
        address = self.url.replace("http://", "ws://", 1) + "/ws"
        opened = connect(address, max_size=None, compression=None, proxy=None)
        client = Client(self._open.enter_context(opened))
        client.send(
            "hello",
            protocolVersion=3,
            packageVersion="0.1.0",
            role=role,
            clientId=client_id,
            **more,
        )
        client.until("hello:ok")
        return client

    def agent(self, client_id: str, **more: Any) -> Agent:
        """Connect an application; ``more`` goes into its ``hello``."""
        return Agent(self, self.client("node", client_id, **more), client_id)

    def worker(self, worker_id: str, **more: Any) -> Worker:
        """Connect a test worker; ``more`` goes into its ``hello``."""
        client = self.client("playwright", f"worker-{worker_id}", workerId=worker_id, **more)
        return Worker(self, client, worker_id)


@define
class Agent:
    """An application."""

    group: ProxyClients
    client: Client
    client_id: str

    def start(self, asked: dict[str, Any], request_id: str = "", **more: str) -> str:
        """Announce a request; give its id."""
        request_id = request_id or self.group.new_id("req")
        self.client.send(
            "request:start", requestId=request_id, clientId=self.client_id, request=asked, **more
        )
        return request_id

    def decided(self, request_id: str) -> dict[str, Any]:
        """Wait for the decision."""
        return self.client.until(*DECISIONS, requestId=request_id)

    def report(self, request_id: str, answer: dict[str, Any] | None, error: str = "") -> None:
        """Say what came from upstream: a response, or what went wrong."""
        if answer is not None:
            url = answer.pop("url", None)
            full = {**answer, **({"url": url} if url else {})}
            self.client.send("request:response", requestId=request_id, ok=True, response=full)
            return
        why = {"name": "Error", "message": error, "code": error.split(maxsplit=1)[0]}
        self.client.send("request:response", requestId=request_id, ok=False, error=why)

    def passes(
        self, asked: dict[str, Any], answer: dict[str, Any] | None, error: str = "", **more: str
    ) -> str:
        """Make a request that nobody wants; ``more`` goes into its announcement."""
        request_id = self.start(asked, **more)
        self.decided(request_id)
        self.report(request_id, answer, error)
        return request_id

    def hop(self, before: str, asked: dict[str, Any], answer: dict[str, Any]) -> str:
        """Follow a redirect."""
        request_id = self.group.new_id("req")
        self.client.send(
            "request:observe",
            requestId=request_id,
            clientId=self.client_id,
            request=asked,
            redirectedFromRequestId=before,
        )
        self.report(request_id, answer)
        return request_id

    def settled(self) -> None:
        """Wait until the proxy has read all that was sent."""
        self.client.send("ping", at=1)
        self.client.until("pong")


@define
class Worker:
    """A test worker."""

    group: ProxyClients
    client: Client
    worker_id: str

    def test(self, title: str, file: str, **more: Any) -> str:
        """Register a test; give its id."""
        test_id = self.group.new_id("test")
        self.client.send(
            "test:register", testId=test_id, title=title, file=file, workerId=self.worker_id, **more
        )
        self.client.until("test:registered", testId=test_id)
        return test_id

    def end(self, test_id: str) -> None:
        """Let a test end."""
        self.client.send("test:unregister", testId=test_id)
        self.client.send("ping", at=1)
        self.client.until("pong")

    def route(self, test_id: str, kind: str = "http", **matcher: Any) -> str:
        """Register a route; give its id."""
        route_id = self.group.new_id("route")
        self.client.send(
            "route:register", routeId=route_id, testId=test_id, matcher=matcher, kind=kind
        )
        self.client.until("route:registered", routeId=route_id)
        return route_id

    def unroute(self, route_id: str) -> None:
        """Remove a route."""
        self.client.send("route:unregister", routeId=route_id)
        self.client.until("route:unregistered", routeId=route_id)

    def answers(self, agent: Agent, asked: dict[str, Any], **result: Any) -> str:
        """Let an agent ask, and decide."""
        request_id = agent.start(asked)
        self.client.until("request:matched", requestId=request_id)
        self.client.send("handler:result", requestId=request_id, result=result)
        agent.decided(request_id)
        return request_id
