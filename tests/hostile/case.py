"""What every hostile case has in common: the service, ten clients, and what must hold after."""

import atexit
from collections.abc import Iterable
from typing import Any, ClassVar

from attrs import define, field
from twisted.trial.unittest import SkipTest, TestCase

from tests.hostile.clients.raw import HELLO, Raw, connect, pause
from tests.hostile.clients.well_behaved import WellBehavedClients
from tests.hostile.exchanges.case import Case
from tests.hostile.exchanges.case_runner import CaseRunner
from tests.hostile.exchanges.upstream import Upstream
from tests.support.processes.process_usage import cpu_seconds, memory
from tests.support.processes.proxy_process import ProxyProcess
from tests.support.processes.tested_proxy import start_proxy, target

MIB = 1 << 20
TIMES_BASELINE = 25
MOST_CPU = 0.5
"""Seconds that the service may work on other things while a well-behaved client waits."""

MOST_SECONDS = 30.0
"""That a well-behaved client may wait; other work on the machine delays an answer as well."""

MOST_GROWTH = 256 * MIB
"""Resident memory that all cases of one service together may leave behind.

The allocator keeps up to 64 MiB, the history its budget; the rest is what was in use at once.
"""

FRAME_LIMIT = 12 * MIB
QUEUE_LIMIT = 4 * MIB
CONNECTION_LIMIT = 150
CLAIM_SECONDS = 1.5

ORDINARY = (
    *("--max-frame-bytes", str(FRAME_LIMIT)),
    *("--send-queue-bytes", str(QUEUE_LIMIT)),
    *("--max-connections", str(CONNECTION_LIMIT)),
    *("--claim-timeout-ms", str(round(CLAIM_SECONDS * 1000))),
    *("--history-limit", "3000"),
    *("--history-bytes", str(16 * MIB)),
)


@define(eq=False)
class Shared:
    """A service that all cases with the same options meet, one after the other."""

    proxy: ProxyProcess
    resident: int = field(init=False)
    read: int = 0

    def __attrs_post_init__(self) -> None:
        self.resident = memory(self.proxy.process.pid).resident

    def cpu(self) -> float:
        """Tell how many seconds it has worked so far."""
        return cpu_seconds(self.proxy.process.pid)

    def growth(self) -> int:
        return memory(self.proxy.process.pid).resident - self.resident

    def peek(self) -> str:
        """Give what it logged in this case so far."""
        return self.proxy.written()[self.read :]

    def news(self) -> str:
        """Give what it logged in this case, which ends with that."""
        logged = self.peek()
        self.read += len(logged)
        return logged


_running: dict[tuple[str, ...], Shared] = {}


def running(options: tuple[str, ...]) -> Shared:
    """Give the service with these options; it ends with the test run."""
    if options not in _running:
        proxy = start_proxy(options)
        _running[options] = Shared(proxy)
        atexit.register(proxy.stop)
    return _running[options]


class HostileTestCase(TestCase):
    """A case in which ten well-behaved clients are served all the while."""

    timeout = 300
    options: ClassVar[tuple[str, ...]] = ORDINARY
    token: ClassVar[str | None] = None

    async def setUp(self) -> None:  # type: ignore[override] # trial waits for it
        if target() != "ours":
            raise SkipTest("the npm proxy is not the one that must withstand this")
        self.service = running(self.options)
        self.url = self.service.proxy.url
        self.resident = self.service.growth()
        self.hostile: list[Raw] = []
        self.well_behaved = WellBehavedClients()
        self.addCleanup(self._release)
        await self.well_behaved.come(self.url, self.token, self.service.cpu)
        self.addCleanup(self._verify)

    async def _verify(self) -> None:
        """See that the ten were served well, and that nothing is left of anybody else."""
        await self.well_behaved.go_on()
        await self._drop_hostile()
        await self._only_well_behaved_left()
        waited, baseline = self.well_behaved.waited(), self.well_behaved.baseline
        await self.well_behaved.leave()
        self.assertEqual(self.well_behaved.faults(), [])
        self.assertLess(waited.cpu, max(MOST_CPU, TIMES_BASELINE * baseline.cpu), baseline)
        self.assertLess(
            waited.seconds, max(MOST_SECONDS, TIMES_BASELINE * baseline.seconds), baseline
        )
        self.assertLess(self.service.growth(), MOST_GROWTH)

    async def _release(self) -> None:
        """Leave nothing open, however the case went, and look at what the service logged."""
        await self._drop_hostile()
        await self.well_behaved.leave()
        news = self.service.news()
        for word in ("Traceback", "Unhandled", " critical "):
            self.assertNotIn(word, news)

    async def _drop_hostile(self) -> None:
        for raw in self.hostile:
            raw.reset()
        for raw in self.hostile:
            await raw.end()

    async def _only_well_behaved_left(self) -> None:
        """Wait until nobody else is connected any more."""
        expected = self.well_behaved.connection_ids()
        for _ in range(100):
            shown = await self.connected()
            if shown == expected:
                return
            await pause(0.02)
        self.assertEqual(shown, expected)

    async def assert_cases(self, cases: Iterable[Case]) -> None:
        """Run cases one after the other, and report all that go wrong.

        Every few, and in the end, the ten must have been served.
        """
        runner, wrong = await self.case_runner(), []
        for number, case in enumerate(cases):
            wrong += [f"{case.name}: {fault}" for fault in await runner.run(case)]
            if number % 20 == 0:
                await self.well_behaved.pairs[0].answered_once_more()
        await self.well_behaved.go_on()
        self.assertEqual(wrong, [], "\n".join(["", *wrong]))

    async def case_runner(self) -> CaseRunner:
        """Start a server behind the proxy; give what runs cases with both."""
        upstream = Upstream()
        await upstream.start()
        self.addCleanup(upstream.stop)
        return CaseRunner(self.url, upstream)

    def grown(self) -> int:
        """Tell by how many bytes the service has grown in this case."""
        return self.service.growth() - self.resident

    # Who comes

    async def come(self) -> Raw:
        """Open a TCP connection."""
        raw = await connect(self.url)
        self.hostile.append(raw)
        return raw

    async def upgraded(self) -> Raw:
        """Open a WebSocket."""
        raw = await self.come()
        await raw.upgrade()
        return raw

    async def client(self, role: str, name: str = "hostile") -> Raw:
        """Open a WebSocket and say hello."""
        raw = await self.upgraded()
        token = {"token": self.token} if self.token else {}
        welcome = await raw.hello(role, clientId=name, **token)
        self.assertEqual(welcome["type"], "hello:ok")
        return raw

    async def worker_with_test(self, name: str = "hostile", **matcher: Any) -> Raw:
        """Open a worker with one test and one route, for what clients called ``name`` do."""
        worker = await self.client("playwright", name)
        worker.send(
            test(name),
            {
                "type": "route:register",
                "routeId": f"route of {name}",
                "testId": name,
                "matcher": {"clientIds": [name]} | matcher,
            },
        )
        await worker.of_type("route:registered")
        return worker

    async def get(self, path: str) -> Any:
        """Ask REST, on a connection of its own."""
        raw = await connect(self.url)
        raw.write(b"GET %s HTTP/1.1\r\nhost: localhost\r\n\r\n" % path.encode())
        answer = await raw.answer()
        raw.drop()
        await raw.end()
        self.assertEqual(answer.status, 200)
        return answer.json()

    async def connected(self) -> set[str]:
        """Ask REST who is connected; clients of the forward proxy stay a while on purpose."""
        report = await self.get("/api/connections")
        rows = report["nodeAgents"] + report["runnerWorkers"]
        return {row["connectionId"] for row in rows if row.get("kind") != "proxy"}


def hello(role: str = "node", **more: Any) -> dict[str, Any]:
    """Write a hello."""
    return HELLO | {"role": role, "clientId": "hostile"} | more


def test(name: str) -> dict[str, Any]:
    """Write the registration of a test."""
    return {
        "type": "test:register",
        "testId": name,
        "title": f"test of {name}",
        "file": f"/tests/{name}.spec.ts",
        "workerId": "0",
    }


def request(request_id: str, client_id: str = "hostile", **more: Any) -> dict[str, Any]:
    """Write the start of a request."""
    made: dict[str, Any] = {
        "url": "http://hostile.test/x",
        "method": "GET",
        "headers": {},
        "bodyBase64": None,
    }
    return {
        "type": "request:start",
        "requestId": request_id,
        "clientId": client_id,
        "request": made | more,
    }
