"""Messages that are no JSON, hardly JSON, or far too much of it."""

import base64
import json
from typing import Any

from tests.hostile.case import MIB, HostileTestCase, hello, request
from tests.hostile.clients.frames import frame
from tests.hostile.exchanges.cases.junk import JUNK
from trafficmock.wire.payloads.serialized_matcher import MOST_NAMES


class NoMessageTests(HostileTestCase):
    """What cannot be read."""

    async def test_junk(self) -> None:
        """A client gets ``invalid_message`` and goes on, a stranger ``invalid_hello`` and 1008."""
        await self.assert_cases(JUNK)


class UnusualTests(HostileTestCase):
    """What can be read after all."""

    async def started(self, payload: bytes) -> dict[str, Any]:
        """Send a request written by hand; give what the history kept of it."""
        raw = await self.client("node")
        raw.write(frame(payload))
        decision = await raw.message()
        self.assertEqual(decision["type"], "decision:passthrough", decision)
        shown = await self.get("/api/history/" + decision["requestId"])
        entry: dict[str, Any] = shown["entry"]
        return entry

    async def test_duplicate_keys(self) -> None:
        """Of keys that are there twice the last one counts, as in JavaScript."""
        payload = json.dumps(request("first")).replace('"first"', '"first","requestId":"twice"')
        self.assertEqual((await self.started(payload.encode()))["id"], "twice")

    async def test_lone_surrogates(self) -> None:
        """Lone surrogates go through to the history and to other clients as they came."""
        worker = await self.worker_with_test(predicate=True)
        payload = json.dumps(request("lone", headers={"x-lone": "\ud800 \udfff"}))
        raw = await self.client("node")
        raw.write(frame(payload.encode()))
        claim = await worker.of_type("request:claim")
        self.assertEqual(claim["request"]["headers"], {"x-lone": "\ud800 \udfff"})
        worker.send(
            {
                "type": "request:claim-result",
                "requestId": "lone",
                "testId": "hostile",
                "matches": [],
            }
        )
        self.assertEqual((await raw.message())["type"], "decision:passthrough")
        shown = await self.get("/api/history/lone")
        self.assertEqual(shown["entry"]["request"]["headers"]["x-lone"], "\ud800 \udfff")

    async def test_numbers(self) -> None:
        """Numbers of any length and form that JavaScript reads are read."""
        raw = await self.client("node")
        for at in ("3.0", "-0", "1e3", "1E+2", "9" * 400, "1." + "0" * 3000, "1" + "0" * 5000):
            raw.write(frame(b'{"type":"ping","at":%s}' % at.encode()))
            answer = await raw.message()
            self.assertIn(answer["type"], ("pong", "proxy:error"), at[:20])
        await self.well_behaved.go_on()

    async def test_keys_that_nobody_knows(self) -> None:
        """Unknown keys, thousands of them and of any kind, are ignored."""
        extra = {f"key {number}": [None, {"a": number}] for number in range(20_000)}
        raw = await self.client("node")
        raw.send(extra | {"type": "ping", "at": 6}, {"type": "ping", "at": 7, "": "\ud800"})
        self.assertEqual([(await raw.message())["at"] for _ in range(2)], [6, 7])

    async def test_names_that_mean_something_elsewhere(self) -> None:
        """Ids with controls, and names with markup or paths, are text like any other."""
        for name in (
            "__proto__",
            "../../etc/passwd",
            "a\0b",
            "<script>",
            "\u202e",
            "%00",
            "?q=#",
            " ",
        ):
            raw = await self.client("node")
            raw.send(
                request(
                    name, name.replace("\0", ""), url=name or "x", method=name, headers={name: name}
                )
            )
            decision = await raw.message()
            self.assertEqual(
                (decision["type"], decision["requestId"]), ("decision:passthrough", name)
            )
        await self.get("/api/history?q=script")
        await self.well_behaved.go_on()


class LargeTests(HostileTestCase):
    """What is large in an unexpected place."""

    async def passed(self, **more: Any) -> None:
        raw = await self.client("node")
        raw.send(request("large", **more))
        self.assertEqual((await raw.of_type("decision:passthrough"))["requestId"], "large")
        await self.well_behaved.go_on()

    async def test_header_value(self) -> None:
        """A header of 10 MB is passed on."""
        await self.passed(headers={"x-large": "v" * (10 * MIB)})

    async def test_header_names(self) -> None:
        """Fifty thousand headers are passed on."""
        await self.passed(headers={f"x-{number}": "" for number in range(50_000)})

    async def test_url(self) -> None:
        """A URL of 4 MB is matched and passed on."""
        await self.passed(url="http://hostile.test/" + "a/" * (2 * MIB))

    async def test_body_that_is_no_base64(self) -> None:
        """A body of junk is passed on, and shown, as lenient decoders read it."""
        await self.passed(method="POST", bodyBase64='\ud800%$§ \\"' * 100_000)
        shown = await self.get("/api/history/large")
        base64.b64decode(shown["entry"]["request"]["bodyBase64"] or "", validate=True)

    async def test_titles(self) -> None:
        """A test with a title of 5 MB is named in errors without harm to anybody."""
        workers = [await self.client("playwright") for _ in range(2)]
        for number, worker in enumerate(workers):
            name = f"hostile {number}"
            worker.send(
                {
                    "type": "test:register",
                    "testId": name,
                    "title": "t" * (5 * MIB),
                    "file": "f",
                    "workerId": "1",
                },
                {
                    "type": "route:register",
                    "routeId": name,
                    "testId": name,
                    "matcher": {"clientIds": ["hostile"]},
                },
            )
            await worker.of_type("route:registered")
        agent = await self.client("node")
        agent.send(request("ambiguous"))
        decision = await agent.message()
        self.assertEqual(
            (decision["type"], decision.get("code")), ("decision:error", "ambiguous_route")
        )

    async def test_unreadable(self) -> None:
        """10 MB of numbers or lists in the wrong place hold nobody up for long."""
        raw = await self.client("node")
        for junk in (b"[1,2.5,null]," * (MIB // 2), b"[],{}," * MIB, b'"\\ud800",' * MIB):
            raw.write(frame(b'{"type":"ping","at":[' + junk + b"0]}"))
            answer = await raw.message()
            self.assertEqual((answer["type"], answer["code"]), ("proxy:error", "invalid_message"))
            await self.well_behaved.go_on()

    async def test_matchers(self) -> None:
        """A route with as many methods as are taken, and one with a glob of 1 MB, are taken."""
        worker = await self.worker_with_test(methods=["GET"] * MOST_NAMES)
        agent = await self.client("node")
        for number, glob in enumerate(
            ("{" + "a," * 20_000 + "b}", "**/" * 100_000, "*" * MIB, "{" * MIB)
        ):
            worker.send(
                {
                    "type": "route:register",
                    "routeId": f"glob {number}",
                    "testId": "hostile",
                    "matcher": {"clientIds": ["hostile"], "urlGlob": "http://hostile.test/" + glob},
                }
            )
            await worker.of_type("route:registered")
            agent.send(request(f"glob {number}", url="http://hostile.test/" + "a/" * 500))
            asked = await worker.of_type("request:matched", "request:claim")
            self.assertEqual(asked["requestId"], f"glob {number}")
            await self.well_behaved.go_on()

    async def test_hello(self) -> None:
        """A hello with thousands of bytes in every field is answered, one with more refused."""
        for much, features, answer in (
            ("h" * 10_000, 5000, "hello:ok"),
            ("h" * MIB, 100_000, "hello:error"),
        ):
            raw = await self.upgraded()
            fields = {"clientId": much, "packageVersion": much, "token": much}
            raw.send(hello(**fields, features=["f"] * features))
            self.assertEqual((await raw.message())["type"], answer)
            await self.well_behaved.go_on()
