"""Connections that are slow, silent, half closed, too many, or gone in the middle."""

import json
from functools import partial

from tests.hostile.case import CONNECTION_LIMIT, MIB, HostileTestCase, request
from tests.hostile.clients.raw import HANDSHAKE, Raw, pause

GET_HEALTH = b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n"
GET_HISTORY = b"GET /api/history HTTP/1.1\r\nhost: localhost\r\n\r\n"
ENTRIES, BODY = 30, "QUJD" * 65536


def is_whole(raw: Raw) -> bool:
    """Tell whether the last chunk has come."""
    return raw.received.endswith(b"\r\n0\r\n\r\n")


def without_chunks(body: bytes) -> bytes:
    """Take the chunk sizes out of a body (RFC 9112 section 7.1)."""
    whole, start = b"", 0
    while size := int(body[start : (end := body.index(b"\r\n", start))], 16):
        whole += body[end + 2 : end + 2 + size]
        start = end + 2 + size + 2
    return whole


class CountTests(HostileTestCase):
    """How many connections there are."""

    async def test_too_many(self) -> None:
        """One connection too many is told so; room that becomes free is used again."""
        room = CONNECTION_LIMIT - len(self.well_behaved.connection_ids())
        for _ in range(room):
            await self.come()
        await self.well_behaved.go_on()
        for _ in range(50):
            raw = await self.come()
            self.assertEqual(await raw.refusal(), (503, "too_many_connections"))
        await self.well_behaved.go_on()
        for raw in self.hostile[:room]:
            raw.drop()
            await raw.end()
        self.assertEqual(await self.connected(), self.well_behaved.connection_ids())

    async def test_come_and_go(self) -> None:
        """Connections that are dropped at any point of their beginning leave nothing behind."""
        sent = [
            b"",
            b"G",
            GET_HEALTH[:-2],
            GET_HEALTH,
            HANDSHAKE[:-2],
            HANDSHAKE,
            HANDSHAKE + b"\x81",
        ]
        for data in sent * 20:
            raw = await self.come()
            raw.write(data)
            raw.drop()
        for raw in self.hostile:
            await raw.end()
        await self.well_behaved.go_on()


class SlowTests(HostileTestCase):
    """Who takes his time."""

    async def test_dripping_heads(self) -> None:
        """Heads that come a byte at a time hold nobody up, and are answered in the end."""
        drips = [await self.come() for _ in range(40)]
        for start in range(len(GET_HEALTH)):
            for raw in drips:
                raw.write(GET_HEALTH[start : start + 1])
            await self.well_behaved.pairs[start % 5].answered_once_more()
        for raw in drips:
            self.assertEqual((await raw.answer()).status, 200)

    async def test_silent(self) -> None:
        """Connections that say nothing hold nobody up."""
        for _ in range(100):
            await self.come()
        await self.well_behaved.go_on()

    async def test_dripping_frame(self) -> None:
        """A message that comes a byte at a time is one message."""
        raw = await self.upgraded()
        agent = await self.client("node")
        for byte in b"\x81\xfe\x00\x80\0\0\0\0" + json.dumps(
            {"type": "ping", "at": 1}
        ).encode().ljust(128):
            raw.write(bytes([byte]))
            await pause(0)
        agent.send({"type": "ping", "at": 2})
        self.assertEqual((await agent.message())["at"], 2)
        raw.send({"type": "hello", "protocolVersion": 2, "packageVersion": "1", "role": "node"})
        self.assertEqual((await raw.message())["code"], "protocol_mismatch")


class LargeAnswerTests(HostileTestCase):
    """A list of many megabytes, and clients that do not read it as they should."""

    async def fill(self) -> None:
        """Have large requests recorded."""
        agent = await self.client("node")
        for number in range(ENTRIES):
            agent.send(request(f"large-{number}", bodyBase64=BODY))
            self.assertEqual((await agent.message())["type"], "decision:passthrough")

    async def test_slow_reader(self) -> None:
        """Who reads a large list slowly gets it whole, and costs no memory meanwhile."""
        await self.fill()
        readers = [await self.come() for _ in range(10)]
        for raw in readers:
            raw.write(GET_HISTORY)
            raw.stop_reading()
        for _ in range(5):
            await self.well_behaved.go_on()
        self.assertLess(self.grown(), len(readers) * 4 * MIB)
        for raw in readers:
            raw.read_on()
            self.assertEqual((await raw.head())[0], 200)
            await raw.until(partial(is_whole, raw))
        entries = json.loads(without_chunks(bytes(readers[0].received)))["entries"]
        bodies = [e["request"]["bodyBase64"] for e in entries if e["id"].startswith("large-")]
        self.assertEqual(len(bodies), ENTRIES)
        self.assertEqual(set(bodies), {BODY})

    async def test_reset(self) -> None:
        """Who resets the connection in the middle of a large list harms nobody."""
        await self.fill()
        for _ in range(10):
            raw = await self.come()
            raw.write(GET_HISTORY)
            await raw.head()
            raw.reset()
            await self.well_behaved.go_on()


class HalfClosedTests(HostileTestCase):
    """Who closes his own direction only."""

    async def test_after_a_request(self) -> None:
        """What was asked before is answered, then the connection ends."""
        raw = await self.come()
        raw.write(GET_HEALTH * 3)
        raw.half_close()
        for _ in range(3):
            self.assertEqual((await raw.answer()).status, 200)
        self.assertEqual(await raw.end(), b"")

    async def test_in_a_head(self) -> None:
        """A request that will never be whole ends with its connection."""
        for data in (
            b"",
            b"GET /health HT",
            GET_HEALTH[:-2],
            GET_HEALTH[:-2] + b"content-length: 9\r\n\r\n1",
        ):
            raw = await self.come()
            raw.write(data)
            raw.half_close()
            self.assertEqual(await raw.end(), b"", data)

    async def test_websocket(self) -> None:
        """A client of ``/ws`` that sends no more is gone, and who waits for it is answered."""
        worker = await self.worker_with_test()
        agent = await self.client("node")
        agent.send(request("half"))
        self.assertEqual((await worker.of_type("request:matched"))["requestId"], "half")
        agent.half_close()
        await agent.end()
        news = await worker.of_type("request:response", about="half")
        self.assertEqual((news["ok"], news["error"]["code"]), (False, "disconnected"))
        worker.half_close()
        await worker.end()


class UndisturbedTests(HostileTestCase):
    """Nobody misbehaves."""

    async def test_alone(self) -> None:
        """The ten are served as long as they stay, and are all that is connected."""
        await pause(0.3)
        self.assertEqual(await self.connected(), self.well_behaved.connection_ids())
