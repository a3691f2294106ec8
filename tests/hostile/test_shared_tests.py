"""Tests with shared routes that end while their handlers run."""

from __future__ import annotations

from tests.hostile.case import HostileTestCase, request, test

MANY = 1000
MESSAGES = 5000


class SharedTests(HostileTestCase):
    """A worker ends very many of them at once."""

    async def test_ends(self) -> None:
        """What waits for their handlers keeps nobody else waiting, and all of it ends."""
        worker, agent = await self.upgraded(), await self.client("node")
        features = ["chain", "context", "subscribe"]
        welcome = await worker.hello("playwright", clientId="hostile", features=features)
        self.assertEqual(welcome["type"], "hello:ok")
        names = [f"shared-{number}" for number in range(MANY)]
        for name in names:
            matcher = {"clientIds": ["hostile"], "urlGlob": f"http://hostile.test/{name}"}
            route = {"type": "route:register", "routeId": name, "testId": name, "matcher": matcher}
            worker.send(test(name) | {"scope": "worker"}, route)
            await worker.of_type("route:registered")
            agent.send(request(name, url=f"http://hostile.test/{name}"))
            await worker.of_type("handler:run")
        for name in names:
            worker.send({"type": "test:unregister", "testId": name})
            await worker.barrier()
        agent.send(*({"type": "pong", "at": number} for number in range(MESSAGES)))
        ended = {(await worker.of_type("test:unregistered"))["testId"] for _ in names}
        self.assertEqual(ended, set(names))
        self.assertEqual({each["type"] for each in await agent.barrier()}, {"decision:error"})
