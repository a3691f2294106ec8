"""HARs of a worker that no library would send."""

import base64
import json
from typing import Any

from tests.hostile.case import MIB, HostileTestCase, request, test
from tests.hostile.clients import frames
from tests.hostile.clients.raw import Raw

URL = "http://hostile.test/x"
DEPTHS = range(900, 1000)
"""The recursion limit of Python lies in them, whatever the depth of the calls."""


def entry(method: str = "GET", **posted: Any) -> dict[str, Any]:
    """Write an entry."""
    response = {"status": 200, "headers": [], "content": {"text": "recorded"}}
    return {"request": {"method": method, "url": URL} | posted, "response": response}


class HarTests(HostileTestCase):
    """A worker registers HARs, and its application sends the requests."""

    async def both(self) -> tuple[Raw, Raw]:
        """Open a worker with a test, and an agent."""
        worker = await self.upgraded()
        features = ["chain", "context", "subscribe"]
        welcome = await worker.hello("playwright", clientId="hostile", features=features)
        self.assertEqual(welcome["type"], "hello:ok")
        worker.send(test("hostile"))
        await worker.of_type("test:registered")
        return worker, await self.client("node")

    async def registers(self, worker: Raw, entries: str) -> dict[str, Any]:
        """Register a route with a HAR, given as JSON; give the answer."""
        route: dict[str, Any] = {"type": "route:register", "routeId": "har", "testId": "hostile"}
        route |= {"matcher": {"clientIds": ["hostile"]}, "har": {"name": "h.har", "entries": "@"}}
        worker.write(frames.frame(json.dumps(route).replace('"@"', entries).encode()))
        return await worker.of_type("route:registered", "proxy:error")

    async def test_depth(self) -> None:
        """An entry of any depth is taken or refused, and each request gets a decision."""
        worker, agent = await self.both()
        found = set()
        for depth in DEPTHS:
            nested = json.dumps(entry() | {"x": "@"}).replace('"@"', "[" * depth + "]" * depth)
            registered = await self.registers(worker, f"[{nested}]")
            agent.send(request(f"deep-{depth}"))
            found.add((registered["type"], (await agent.message())["type"]))
            worker.send({"type": "route:unregister", "routeId": "har"})
        self.assertIn(("route:registered", "decision:fulfill"), found)
        self.assertIn(("proxy:error", "decision:passthrough"), found)

    async def test_many_entries(self) -> None:
        """More entries than a HAR has are refused; they keep nobody waiting."""
        worker, _ = await self.both()
        refused = await self.registers(worker, f"[{'null,' * MIB}null]")
        self.assertEqual((refused["type"], refused["code"]), ("proxy:error", "invalid_message"))
        self.assertIn("entries", refused["message"])

    async def test_large_body(self) -> None:
        """A body that differs from a recorded one at its end keeps nobody waiting."""
        worker, agent = await self.both()
        recorded = b"a" * (8 * MIB)
        text = base64.b64encode(recorded).decode()
        post = entry("POST", postData={"text": text, "encoding": "base64"})
        registered = await self.registers(worker, json.dumps([post]))
        self.assertEqual(registered["type"], "route:registered")
        sent = base64.b64encode(recorded[:-1] + b"b").decode()
        agent.send(request("large", method="POST", bodyBase64=sent))
        aborted = await agent.message()
        self.assertIn(f"they differ from byte {len(recorded) - 1}", aborted["message"])
