"""What clients may make the service write into its log."""

from tests.hostile.case import ORDINARY, HostileTestCase, request, test


class LogTests(HostileTestCase):
    """Words of clients in the log."""

    # A service of their own: complaints are limited, and other cases make thousands of them.
    options = (*ORDINARY, "--log-level", "info")

    async def test_forged_lines(self) -> None:
        """No client writes lines of its own, controls a terminal, or stops the log."""
        agent = await self.client("node", "odd")
        for name in ("a\nforged", "a\r\nforged", "\x1b[31mred", "\ud800", "a\u2028forged", "\0"):
            for role in ("node", "playwright"):
                refusal = await (await self.upgraded()).hello(role, clientId=name)
                self.assertEqual(refusal["code"], "invalid_hello")
            agent.send(
                request("odd", url=name, method=name),
                {"type": name},
                {"type": "agent:error", "message": name},
                {"type": "test:unregister", "testId": name},
                request("twin", name, url=name, method=name),
                request("twin", name, url=name, method=name),
                {"type": "ws:connection", "socketId": name, "url": name}
                | {"protocols": [name], "clientId": name},
            )
            await agent.barrier()
            worker = await self.client("playwright", "odd")
            worker.send(test(name), test(name), {"type": "ws:connect", "socketId": name})
            await worker.barrier()
        logged = self.service.peek()
        self.assertTrue(all(line.startswith("20") for line in logged.splitlines()), logged)
        self.assertNotIn("\x1b", logged)
        self.assertIn("a\\nforged", logged)
        self.assertIn("\\ud800", logged)

    async def test_long_lines(self) -> None:
        """No name makes a line of more than a few thousand characters."""
        much = "n" * 2_000_000
        agent = await self.client("node", "c" * 60_000)
        agent.send({"type": much}, {"type": "agent:error", "message": much})
        agent.send({"type": "test:unregister", "testId": much}, {"type": "request:start"})
        await agent.barrier()
        for line in self.service.peek().splitlines():
            self.assertLess(len(line), 3000)
