"""Too much, too fast, and nobody who reads the answers."""

from typing import Any

from tests.hostile.case import MIB, ORDINARY, QUEUE_LIMIT, HostileTestCase, request
from tests.hostile.clients.frames import frame
from tests.hostile.clients.raw import Raw, pause
from tests.support.hypothesis_profiles import DEEP

LARGE = "QUJD" * (MIB // 8)
"""Half a megabyte of base64."""

FRAMES = 320
"""Of a quarter of a mebibyte; all together more than a proxy may grow by when it holds them."""

REQUESTS = 5000 if DEEP else 2000
PENDING = 3000 if DEEP else 1000
SESSIONS = 200 if DEEP else 60
HISTORY = 8 * MIB
QUERIES = 30
"""Whose answers together take more than a service may grow by."""
KERNEL = 16 * MIB
"""More than the kernel's buffers of a connection hold on loopback."""


class UnreadTests(HostileTestCase):
    """Clients that do not read."""

    async def assert_cut(self, raw: Raw) -> None:
        """See that a client that did not read is cut, and that the log says why."""
        for _ in range(200):
            if "--send-queue-bytes" in self.service.peek():
                break
            await pause(0.02)
        self.assertIn("--send-queue-bytes", self.service.peek())
        raw.read_on()
        await raw.end()
        await self.well_behaved.go_on()
        self.assertLess(self.grown(), KERNEL + QUEUE_LIMIT + 64 * MIB)

    async def test_worker(self) -> None:
        """A worker that does not read what all workers hear is cut; the others are not."""
        worker = await self.worker_with_test()
        worker.stop_reading()
        agent = await self.client("node", "busy")
        for number in range((KERNEL + QUEUE_LIMIT) // len(LARGE) + 4):
            agent.send(request(f"news {number}", "busy", bodyBase64=LARGE))
            self.assertEqual((await agent.message())["type"], "decision:passthrough")
        await self.assert_cut(worker)

    async def test_queries(self) -> None:
        """Queries whose answers are not read are answered one by one, and all in the end."""
        agent, worker = await self.client("node", "busy"), await self.client("playwright")
        for number in range(HISTORY // len(LARGE)):
            agent.send(request(f"kept {number}", "busy", bodyBase64=LARGE))
            await agent.message()
        before = self.grown()
        worker.stop_reading()
        for number in range(QUERIES):
            worker.send({"type": "history:query", "queryId": f"q{number}"})
        for _ in range(50):
            await self.well_behaved.go_on()
        self.assertLess(self.grown() - before, KERNEL + 4 * HISTORY)
        worker.read_on()
        for number in range(QUERIES):
            answer = await worker.of_type("history:result")
            self.assertEqual(answer["queryId"], f"q{number}")

    async def test_agent(self) -> None:
        """An agent that does not read its answers is cut; its worker lives."""
        worker, agent = await self.worker_with_test(), await self.client("node")
        agent.stop_reading()
        response = {"status": 200, "statusText": "", "headers": {}, "bodyBase64": LARGE}
        for number in range((KERNEL + QUEUE_LIMIT) // len(LARGE) + 4):
            request_id = f"flood {number}"
            agent.send(request(request_id))
            await worker.of_type("request:matched", about=request_id)
            worker.send(
                {"type": "handler:result", "requestId": request_id}
                | {"result": {"action": "fulfill", "response": response}}
            )
            await worker.barrier()
            if "--send-queue-bytes" in self.service.peek():
                break
        await self.assert_cut(agent)
        await worker.barrier()

    async def test_complaints(self) -> None:
        """A flood of junk whose complaints nobody reads ends in a cut."""
        agent = await self.client("node")
        agent.stop_reading()
        junk = frame(b'{"type":"' + b"j" * 1000 + b'"}')
        for _ in range(200):
            if agent.ended or "--send-queue-bytes" in self.service.peek():
                break
            agent.write(junk * 1000)
            await self.well_behaved.pairs[0].answered_once_more()
        await self.assert_cut(agent)


class FastTests(HostileTestCase):
    """Clients that do read, but send as fast as they can."""

    async def test_requests(self) -> None:
        """Thousands of requests in a few segments are all decided, in order."""
        agent = await self.client("node")
        for start in range(0, REQUESTS, 500):
            names = [f"fast {number}" for number in range(start, start + 500)]
            agent.send(*(request(name) for name in names))
            self.assertEqual([(await agent.message())["requestId"] for _ in names], names)
            await self.well_behaved.pairs[0].answered_once_more()

    async def test_sessions(self) -> None:
        """Many short sessions one after another leave nothing behind."""
        for _ in range(SESSIONS):
            worker, agent = await self.worker_with_test(), await self.client("node")
            agent.send(request("short"))
            await worker.of_type("request:matched", about="short")
            worker.reset()
            self.assertEqual((await agent.message())["code"], "disconnected")
            agent.reset()
            await agent.end()
            await worker.end()
        await self.well_behaved.go_on()
        self.assertLess(self.grown(), 32 * MIB)


class PendingTests(HostileTestCase):
    """What waits for a test or its worker; the claim timeout is not what ends the wait."""

    options = (*ORDINARY, "--claim-timeout-ms", "60000")

    async def test_pending(self) -> None:
        """Thousands of requests that wait for a handler end with their agent."""
        worker, agent = await self.worker_with_test(), await self.client("node")
        agent.send(*(request(f"waiting {number}") for number in range(PENDING)))
        await worker.of_type("request:matched", about="waiting 0")
        await self.well_behaved.go_on()
        agent.reset()
        await agent.end()
        for number in range(PENDING):
            news = await worker.of_type("request:response", about=f"waiting {number}")
            self.assertFalse(news["ok"])

    async def test_frames(self) -> None:
        """Frames for a handler that does not read wait at their sender, and then all arrive."""
        agent, worker = await self.opened_socket()
        worker.stop_reading()
        data = "f" * (MIB // 4)
        for number in range(FRAMES):
            agent.send(
                {"type": "ws:messageFromPage", "socketId": "s", "isBase64": False}
                | {"data": f"{number} {data}"}
            )
        for _ in range(3):
            await self.well_behaved.go_on()
        self.assertLess(self.grown(), FRAMES * len(data) // 2)
        worker.read_on()
        for number in range(FRAMES):
            came = await worker.of_type("ws:messageFromPage")
            self.assertEqual(came["data"].split()[0], str(number))

    async def opened_socket(self) -> tuple[Raw, Raw]:
        """Open a WebSocket that a worker handles."""
        worker = await self.worker_with_test()
        agent = await self.client("node")
        worker.send(
            {"type": "route:register", "routeId": "ws", "testId": "hostile", "kind": "websocket"}
            | {"matcher": {"clientIds": ["hostile"]}}
        )
        await worker.of_type("route:registered")
        agent.send(
            {"type": "ws:connection", "socketId": "s", "url": "ws://hostile.test/"}
            | {"protocols": [], "clientId": "hostile"}
        )
        await worker.of_type("ws:claim")
        claimed: list[dict[str, Any]] = [{"routeId": "ws"}]
        worker.send(
            {"type": "ws:claim-result", "socketId": "s", "testId": "hostile", "matches": claimed}
        )
        await worker.of_type("ws:matched")
        return agent, worker
