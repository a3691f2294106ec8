"""Requests that are not HTTP, too long, or for somebody else: one clear answer each."""

import random

from tests.hostile.case import HostileTestCase
from tests.hostile.exchanges.cases.heads import HEADS


class HeadTests(HostileTestCase):
    """What comes before a body."""

    async def test_heads(self) -> None:
        """What is no request of HTTP/1.1 is 400, a long head 431, and what is not for us told."""
        await self.assert_cases(HEADS)

    async def test_own_absolute_form(self) -> None:
        """The absolute form of our own address is REST."""
        raw = await self.come()
        raw.write(b"GET %s/health HTTP/1.1\r\nhost: ignored.test\r\n\r\n" % self.url.encode())
        answer = await raw.answer()
        self.assertEqual((answer.status, answer.json()["ok"]), (200, True))

    async def test_binary(self) -> None:
        """Random bytes end in an answer or in silence, never in harm."""
        chance = random.Random(4310)  # noqa: S311 - repeatable, not secret
        for _ in range(20):
            raw = await self.come()
            raw.write(chance.randbytes(2000) + b"\r\n\r\n")
            self.assertEqual(await raw.refusal(), (400, "bad_request"))
        await self.well_behaved.go_on()

    async def test_endless(self) -> None:
        """Who goes on sending header lines behind the refusal is closed all the same."""
        raw = await self.come()
        raw.write(b"GET / HTTP/1.1\r\nhost: localhost\r\n")
        line = b"x-filler: " + b"f" * 8000 + b"\r\n"
        for _ in range(2000):
            if raw.ended:
                break
            raw.write(line)
            await self.well_behaved.pairs[0].answered_once_more()
        self.assertTrue(raw.ended)
        self.assertIn(b" 431 ", bytes(raw.received))

    async def test_pipelined(self) -> None:
        """Pipelined requests are answered in order, also when one of them is wrong."""
        paths = ["/health", "/nothing", "/api/connections", "/api/history?limit=x", "/health"] * 40
        raw = await self.come()
        raw.write(
            b"".join(b"GET %s HTTP/1.1\r\nhost: localhost\r\n\r\n" % p.encode() for p in paths)
        )
        statuses = [(await raw.answer()).status for _ in paths]
        self.assertEqual(statuses, [200, 404, 200, 400, 200] * 40)
        raw.write(b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\njunk\r\n\r\nGET /health HT")
        self.assertEqual((await raw.answer()).status, 200)
        self.assertEqual(await raw.refusal(), (400, "bad_request"))

    async def test_bodies(self) -> None:
        """A request body is not kept, whatever its size, and does not become a request."""
        raw = await self.come()
        body = b"GET /nothing HTTP/1.1\r\nhost: localhost\r\n\r\n" * 100_000
        raw.write(
            b"POST /health HTTP/1.1\r\nhost: localhost\r\ncontent-length: %d\r\n\r\n" % len(body)
        )
        raw.write(body + b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n")
        self.assertEqual((await raw.answer()).status, 405)
        self.assertEqual((await raw.answer()).status, 200)
        await self.well_behaved.go_on()
