"""Valid messages from those who may not send them, or at the wrong time."""

from typing import Any

from tests.hostile.case import ORDINARY, HostileTestCase, hello, request, test
from tests.hostile.clients.raw import HELLO
from tests.hostile.clients.shapes import message_types, sample
from tests.hostile.exchanges.case import refused_hello

REFUSED = 1008
GREEDY = {"type": "route:register", "routeId": "greedy", "testId": "hostile", "matcher": {}}
"""It would match what the well-behaved clients ask, and make it ambiguous."""

AFTER_REFUSAL = [
    HELLO | {"role": "playwright", "clientId": "hostile"},
    test("hostile"),
    GREEDY,
    request("after"),
    {"type": "history:query", "queryId": "q"},
    {"type": "ping", "at": 1},
]
FROM_AGENTS = {
    *("request:start", "request:cancel", "fetch:result", "request:response", "request:observe"),
    *("request:body", "agent:error", "ws:connection", "ws:messageFromPage", "ws:messageFromServer"),
    *("filter:ack", "synced", "request:passed", "batch", "stream:ack", "stream:closed"),
    *("context:seen", "request:ignored", "agent:tests", "agent:unhooked"),
}
FROM_WORKERS = {
    *("test:register", "test:unregister", "test:subscribe", "route:register", "route:unregister"),
    *("request:claim-result", "ws:claim-result", "handler:result", "history:query"),
    *(
        "diagnosis:query",
        "report:query",
        "report:make",
        "redact:query",
        "recording:query",
        "glob:query",
        "test:strict",
        "run:strict",
        "run:unmatched:query",
    ),
    *("ws:sendToPage", "ws:sendToServer", "ws:connect", "ws:ensureOpened"),
    *("stream:data", "stream:end", "stream:abort"),
    *("wait:register", "wait:judged", "wait:cancel"),
}


class RefusalTests(HostileTestCase):
    """Who is not let in, or thrown out, has no say any more."""

    async def test_hello(self) -> None:
        """What comes before hello, or behind a refused one in one segment, is not acted upon."""
        older = {"type": "hello", "role": "node"}
        code = "protocol_mismatch"
        await self.assert_cases(
            [
                refused_hello("before hello", GREEDY, *AFTER_REFUSAL),
                refused_hello(
                    "another protocol", hello(protocolVersion=2), *AFTER_REFUSAL, code=code
                ),
                refused_hello("an unknown role", hello(role="admin"), *AFTER_REFUSAL),
                refused_hello("no version", older, *AFTER_REFUSAL),
                refused_hello("heartbeats", *[{"type": "pong", "at": 1}] * 1000, request("early")),
            ]
        )

    async def test_second_hello(self) -> None:
        """A second hello ends the connection with all that it had, whatever its role."""
        for role in ("node", "playwright"):
            worker = await self.worker_with_test()
            worker.send(hello(role=role), GREEDY, *AFTER_REFUSAL)
            while (answer := await worker.message())["type"].startswith("request:"):
                pass
            self.assertEqual((answer["type"], answer["code"]), ("hello:error", "invalid_hello"))
            self.assertEqual((await worker.close_frame())[0], REFUSED)
            worker.drop()
            await worker.end()
            await self.well_behaved.go_on()


class TokenTests(HostileTestCase):
    """With ``--token``."""

    token = "the right token"
    options = (*ORDINARY, "--token", "the right token")

    async def test_wrong_tokens(self) -> None:
        """A wrong token, none, or one of any size or script is refused, and all behind it."""
        given = [None, "", "wrong", "the right token ", "t" * 60_000, "\ud800", "\0"]
        await self.assert_cases(
            refused_hello(
                repr(token)[:40],
                hello(**({} if token is None else {"token": token})),
                hello(token=self.token),
                *AFTER_REFUSAL,
                code="unauthorized",
            )
            for token in given
        )


class AuthorityTests(HostileTestCase):
    """Messages about what belongs to others."""

    def test_roles_are_complete(self) -> None:
        """Each message that only one role may send is tried by the other."""
        both = {"hello", "ping", "pong", "ws:closePage", "ws:closeServer"}
        self.assertEqual({kind.tag for kind in message_types()}, FROM_AGENTS | FROM_WORKERS | both)

    async def test_wrong_role(self) -> None:
        """What only the other role may send is dropped without an answer."""
        for role, theirs in (("node", FROM_WORKERS), ("playwright", FROM_AGENTS)):
            raw = await self.client(role)
            raw.send(*(sample(kind) for kind in message_types() if kind.tag in theirs))
            self.assertEqual(about_nobody_else(await raw.barrier()), [])

    async def test_well_behaved_requests(self) -> None:
        """Nobody settles, answers or claims a request that is another's."""
        agent, worker = await self.client("node"), await self.worker_with_test()
        result = {"action": "abort", "errorCode": "failed"}
        for _ in range(20):
            for pair in self.well_behaved.pairs:
                for number in range(pair.asked, pair.asked + 5):
                    mine = {"requestId": f"{pair.name}-{number}"}
                    agent.send(
                        {"type": "request:cancel"} | mine,
                        {"type": "request:response", "ok": False} | mine,
                        {"type": "fetch:result", "fetchId": "f", "ok": False} | mine,
                    )
                    worker.send(
                        {"type": "handler:result", "result": result} | mine,
                        {"type": "request:claim-result", "testId": pair.name, "matches": []} | mine,
                        {"type": "request:claim-result", "testId": "hostile", "matches": []} | mine,
                    )
            await self.well_behaved.pairs[0].answered_once_more()
        self.assertEqual(about_nobody_else(await agent.barrier()), [])
        self.assertEqual(about_nobody_else(await worker.barrier()), [])

    async def test_well_behaved_tests(self) -> None:
        """Nobody ends, takes over or adds to a test that is another's."""
        worker = await self.client("playwright")
        for number, pair in enumerate(self.well_behaved.pairs):
            route = {"routeId": f"route-{number}", "testId": pair.name, "matcher": {}}
            worker.send(
                {"type": "route:unregister", "routeId": f"route-{number}"},
                {"type": "route:unregister", "testId": pair.name},
                {"type": "test:unregister", "testId": pair.name},
                test(pair.name),
                {"type": "route:register"} | route,
                {"type": "route:register"} | route | {"routeId": "new"},
                {"type": "route:register"} | route | {"testId": "hostile"},
            )
            await self.well_behaved.go_on()
        answers = about_nobody_else(await worker.barrier())
        kinds = {answer["type"] for answer in answers}
        self.assertLessEqual(kinds, {"proxy:error", "route:unregistered"})
        shown = await self.get("/api/connections")
        for row in shown["runnerWorkers"]:
            expected = 0 if row["clientId"] == "hostile" else 1
            self.assertEqual((row["testCount"], row["routeCount"]), (expected, expected), row)

    async def test_sockets(self) -> None:
        """Nobody sends into a WebSocket that is another's."""
        agent, worker = await self.client("node"), await self.worker_with_test()
        matcher = {"clientIds": ["hostile"]}
        worker.send(
            {"type": "route:register", "routeId": "ws", "testId": "hostile", "matcher": matcher}
            | {"kind": "websocket"}
        )
        await worker.barrier()
        agent.send(
            {"type": "ws:connection", "socketId": "s", "url": "ws://hostile.test/"}
            | {"protocols": [], "clientId": "hostile"}
        )
        claim = await worker.of_type("ws:claim")
        worker.send(
            {"type": "ws:claim-result", "testId": "hostile", "matches": [{"routeId": "ws"}]}
            | {"socketId": claim["socketId"]}
        )
        await worker.of_type("ws:matched")
        await self.intrude("s")
        self.assertEqual(await agent.barrier(), [])
        self.assertEqual(about_nobody_else(await worker.barrier()), [])

    async def intrude(self, socket_id: str) -> None:
        frame = {"data": "x", "isBase64": False, "socketId": socket_id}
        close = {"wasClean": True, "socketId": socket_id}
        for role, kinds in (
            ("node", ("ws:messageFromPage", "ws:messageFromServer")),
            ("playwright", ("ws:sendToPage", "ws:sendToServer", "ws:connect", "ws:ensureOpened")),
        ):
            intruder = await self.client(role, "intruder")
            intruder.send(*({"type": kind} | frame for kind in kinds))
            intruder.send({"type": "ws:closePage"} | close, {"type": "ws:closeServer"} | close)
            self.assertEqual(about_nobody_else(await intruder.barrier()), [])


class DuplicateTests(HostileTestCase):
    """The same id twice."""

    async def test_requests(self) -> None:
        """Of two requests with one id the first stays, and each gets its one answer."""
        worker = await self.worker_with_test()
        first, second = await self.client("node"), await self.client("node")
        first.send(request("twin"))
        await worker.of_type("request:matched", about="twin")
        first.send(request("twin"))
        second.send(request("twin"))
        for agent in (first, second):
            refusal = await agent.message()
            self.assertEqual((refusal["type"], refusal["code"]), ("decision:error", "internal"))
        result = {"action": "abort", "errorCode": "timedout"}
        worker.send({"type": "handler:result", "requestId": "twin", "result": result})
        worker.send({"type": "handler:result", "requestId": "twin", "result": result})
        self.assertEqual((await first.message())["type"], "decision:abort")
        self.assertEqual([await first.barrier(), await second.barrier()], [[], []])

    async def test_sockets(self) -> None:
        """Of two WebSockets with one id the first stays."""
        worker = await self.worker_with_test()
        worker.send(
            {"type": "route:register", "routeId": "ws", "testId": "hostile", "kind": "websocket"}
            | {"matcher": {"clientIds": ["hostile"]}}
        )
        await worker.of_type("route:registered")
        agent = await self.client("node")
        opened = {"type": "ws:connection", "socketId": "twin", "url": "ws://hostile.test/"}
        agent.send(*[opened | {"protocols": [], "clientId": "hostile"}] * 2)
        refusal = await agent.message()
        self.assertEqual((refusal["type"], refusal["code"]), ("ws:error", "internal"))
        worker.send(
            {"type": "ws:claim-result", "socketId": "twin", "testId": "hostile", "matches": []}
        )
        self.assertEqual((await agent.message())["type"], "ws:passthrough")

    async def test_late_words(self) -> None:
        """Whatever is said about a request that is settled changes nothing."""
        worker, agent = await self.worker_with_test(), await self.client("node")
        agent.send(request("late"))
        await worker.of_type("request:matched", about="late")
        results: list[dict[str, Any]] = [
            {"action": "continue"},
            {"action": "abort", "errorCode": "failed"},
            {"action": "fetch", "fetchId": "f"},
        ]
        for result in results:
            worker.send({"type": "handler:result", "requestId": "late", "result": result})
        done = await worker.of_type("fetch:done", about="late")
        self.assertFalse(done["ok"])
        agent.send({"type": "request:cancel", "requestId": "late"})
        self.assertEqual([m["type"] for m in await agent.barrier()], ["decision:continue"])

    async def test_many_routes(self) -> None:
        """Thousands of routes are taken, cost others nothing, and end with their worker."""
        worker = await self.worker_with_test()
        for start in range(0, 5_000, 1000):
            worker.send(
                *(
                    {"type": "route:register", "routeId": f"r{number}", "testId": "hostile"}
                    | {"matcher": {"urlGlob": f"**/hostile/{number}/*"}}
                    for number in range(start, start + 1000)
                )
            )
            await self.well_behaved.pairs[0].answered_once_more()
        await worker.barrier()
        shown = await self.get("/api/connections")
        self.assertEqual(max(row["routeCount"] for row in shown["runnerWorkers"]), 5_001)
        await self.well_behaved.go_on()


def about_nobody_else(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Leave out what all workers hear of all requests."""
    return [m for m in messages if m["type"] not in ("request:observed", "request:response")]


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
        heard: list[dict[str, Any]] = []
        for name in names:
            worker.send({"type": "test:unregister", "testId": name})
            heard += await worker.barrier()
        agent.send(*({"type": "pong", "at": number} for number in range(MESSAGES)))
        # Those that a slow machine unregisters at last come before the barrier of the next.
        ended = {each["testId"] for each in heard if each["type"] == "test:unregistered"}
        while len(ended) < MANY:
            ended.add((await worker.of_type("test:unregistered"))["testId"])
        self.assertEqual(ended, set(names))
        self.assertEqual({each["type"] for each in await agent.barrier()}, {"decision:error"})
