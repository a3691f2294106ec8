"""Ten well-behaved connections: five agents, and five workers that own one test each.

Each agent asks, gets its answer from its own worker's handler, checks it, and asks again a
moment later. What goes wrong for any of them while somebody else misbehaves is kept here.
"""

import base64
import json
from collections.abc import Callable
from typing import Any

from attrs import define, field
from twisted.internet.defer import Deferred, gatherResults

from tests.hostile.clients.raw import Raw, connect, pause, reactor

PAIRS = 5
PACE = 0.03
"""Seconds between an answer and the next question."""

BASELINE_REQUESTS = 6
MOST_REQUESTS = 20_000
"""Of one agent in one test: the loop ends by itself."""

PROGRESS_SECONDS = 60.0
LONGEST_CASE = 300.0


@define
class Wait:
    """The worst wait for an answer.

    :param seconds: as a clock shows it; other work on the machine counts as well.
    :param cpu: what the service itself worked meanwhile, in seconds.
    """

    seconds: float = 0.0
    cpu: float = 0.0

    def took(self, seconds: float, cpu: float) -> None:
        """Count another wait."""
        self.seconds, self.cpu = max(self.seconds, seconds), max(self.cpu, cpu)


@define(eq=False)
class Pair:
    """An agent, the worker that owns its requests, and how they fare."""

    name: str
    agent: Raw
    worker: Raw
    cpu: Callable[[], float]
    connection_ids: set[str] = field(factory=set)
    asked: int = 0
    answered: int = 0
    waited: Wait = field(factory=Wait)
    faults: list[str] = field(factory=list)
    stopping: bool = False
    _loops: list[Deferred[None]] = field(factory=list)

    def start(self) -> None:
        self._loops = [
            Deferred.fromCoroutine(self._watched(self._ask())),
            Deferred.fromCoroutine(self._watched(self._serve())),
        ]

    async def _watched(self, loop: Any) -> None:
        try:
            await loop
        except Exception as error:  # noqa: BLE001 - whatever it is, the test is to fail with it
            if not self.stopping:
                self.faults.append(f"{self.name}: {type(error).__name__} {error}")

    async def _ask(self) -> None:
        while self.asked < MOST_REQUESTS and not self.stopping:
            self.asked += 1
            request_id = f"{self.name}-{self.asked}"
            begun, worked = reactor.seconds(), self.cpu()
            self.agent.send(self._start(request_id))
            decision = await self.agent.message()
            self.waited.took(reactor.seconds() - begun, self.cpu() - worked)
            self._judge(decision, request_id)
            self.answered += 1
            await pause(PACE)

    def _start(self, request_id: str) -> dict[str, Any]:
        request = {
            "url": f"http://{self.name}.test/{request_id}",
            "method": "GET",
            "headers": {"accept": "*/*"},
            "bodyBase64": None,
        }
        return {
            "type": "request:start",
            "requestId": request_id,
            "clientId": self.name,
            "request": request,
        }

    def _judge(self, decision: dict[str, Any], request_id: str) -> None:
        right = {
            "type": "decision:fulfill",
            "requestId": request_id,
            "response": mock(self.name, request_id),
        }
        if decision != right:
            self.faults.append(f"{request_id} was answered {str(decision)[:400]}")

    async def _serve(self) -> None:
        while not self.stopping:
            _, payload = await self.worker.frame(LONGEST_CASE)
            kind = payload[:40]
            if b'"request:matched"' in kind:
                self._handle(json.loads(payload))
            elif b'"ping"' in kind:
                self.worker.send(json.loads(payload) | {"type": "pong"})
            elif b'"request:observed"' not in kind and b'"request:response"' not in kind:
                self.faults.append(f"{self.name}'s worker got {payload[:400]!r}")

    def _handle(self, match: dict[str, Any]) -> None:
        if match["testId"] != self.name or match["clientId"] != self.name:
            self.faults.append(f"{self.name}'s worker got somebody else's {match['requestId']}")
            return
        request_id = match["requestId"]
        result = {"action": "fulfill", "response": mock(self.name, request_id)}
        self.worker.send({"type": "handler:result", "requestId": request_id, "result": result})

    async def answered_once_more(self) -> None:
        """Wait for the answer to a question that has not been asked yet."""
        until = self.asked + 1
        deadline = reactor.seconds() + PROGRESS_SECONDS
        while self.answered < until and not self.faults:
            assert reactor.seconds() < deadline, f"{self.name} gets no answer any more"
            await pause(PACE)

    async def leave(self) -> None:
        self.stopping = True
        self.agent.reset()
        self.worker.reset()
        await self.agent.end()
        await self.worker.end()
        await gatherResults(self._loops)


def mock(name: str, request_id: str) -> dict[str, Any]:
    """Write the one right response to a request."""
    body = base64.b64encode(f"{name} answers {request_id}".encode()).decode()
    return {
        "status": 200,
        "statusText": "OK",
        "headers": {"content-type": "text/plain"},
        "bodyBase64": body,
    }


async def make_pair(url: str, number: int, token: dict[str, str], cpu: Callable[[], float]) -> Pair:
    """Connect an agent and a worker with one test and one route."""
    name = f"well-behaved-{number}"
    pair = Pair(name, await connect(url), await connect(url), cpu)
    for raw, role in ((pair.agent, "node"), (pair.worker, "playwright")):
        await raw.upgrade()
        welcome = await raw.hello(role, clientId=name, workerId=str(number), **token)
        pair.connection_ids.add(welcome["connectionId"])
    pair.worker.send(
        {
            "type": "test:register",
            "testId": name,
            "title": f"test of {name}",
            "file": f"/tests/{name}.spec.ts",
            "workerId": str(number),
        },
        {
            "type": "route:register",
            "routeId": f"route-{number}",
            "testId": name,
            "matcher": {"urlGlob": f"http://{name}.test/**"},
        },
    )
    await pair.worker.of_type("route:registered")
    return pair


@define(eq=False)
class WellBehavedClients:
    """All ten."""

    pairs: list[Pair] = field(factory=list)
    baseline: Wait = field(factory=Wait)

    async def come(self, url: str, token: str | None, cpu: Callable[[], float]) -> None:
        """Connect them and let them work undisturbed for a while.

        :param cpu: tells how many seconds the service has worked so far.
        """
        given = {"token": token} if token else {}
        for number in range(PAIRS):
            self.pairs.append(await make_pair(url, number, given, cpu))
        for pair in self.pairs:
            pair.start()
        while any(pair.answered < BASELINE_REQUESTS and not pair.faults for pair in self.pairs):
            await pause(PACE)
        self.baseline = self.waited()
        for pair in self.pairs:
            pair.waited = Wait()

    def waited(self) -> Wait:
        """Give the worst wait of them all."""
        worst = Wait()
        for pair in self.pairs:
            worst.took(pair.waited.seconds, pair.waited.cpu)
        return worst

    def faults(self) -> list[str]:
        return [fault for pair in self.pairs for fault in pair.faults]

    def connection_ids(self) -> set[str]:
        return {one for pair in self.pairs for one in pair.connection_ids}

    async def go_on(self) -> None:
        """Wait until each of them has been served anew."""
        waits = [Deferred.fromCoroutine(pair.answered_once_more()) for pair in self.pairs]
        await gatherResults(waits)
        assert not self.faults(), self.faults()

    async def leave(self) -> None:
        await gatherResults([Deferred.fromCoroutine(pair.leave()) for pair in self.pairs])
