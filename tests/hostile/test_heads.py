"""Requests that are not HTTP, too long, or for somebody else: one clear answer each."""

from __future__ import annotations

import random

from tests.hostile.case import HostileTestCase

HEAD_LIMIT = 65536
_MALFORMED = {
    "junk words": b"junk junk junk junk\r\n\r\n",
    "one word": b"GET\r\n\r\n",
    "no version": b"GET /health\r\n\r\n",
    "another version": b"GET /health HTTP/9.9\r\nhost: localhost\r\n\r\n",
    "no colon": b"GET /health HTTP/1.1\r\nhost localhost\r\n\r\n",
    "blank before the colon": b"GET /health HTTP/1.1\r\nhost : localhost\r\n\r\n",
    "control character in a name": b"GET /health HTTP/1.1\r\nho\x01st: localhost\r\n\r\n",
    "NUL in a value": b"GET /health HTTP/1.1\r\nhost: local\x00host\r\n\r\n",
    "content-length in words": b"GET /health HTTP/1.1\r\ncontent-length: many\r\n\r\n",
    "negative content-length": b"GET /health HTTP/1.1\r\ncontent-length: -1\r\n\r\n",
    "two lengths": b"GET /health HTTP/1.1\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",
    "length and chunks": b"POST /health HTTP/1.1\r\nhost: localhost\r\ncontent-length: 4\r\n"
    b"transfer-encoding: chunked\r\n\r\n0\r\n\r\n",
    "unknown transfer coding": b"POST /health HTTP/1.1\r\ntransfer-encoding: gzip\r\n\r\n",
    "chunk without a length": b"POST /health HTTP/1.1\r\nhost: localhost\r\n"
    b"transfer-encoding: chunked\r\n\r\nzz\r\n\r\n",
    "bytes beyond ASCII": b"GET /\xff\xfe HTTP/1.1\r\nhost: localhost\r\n\r\n",
    "the preface of HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "TLS": bytes.fromhex("16030100c8010000c40303") + b"\r\n\r\n",
}
_FOREIGN = {
    "another host": (b"GET /health HTTP/1.1\r\nhost: evil.example\r\n\r\n", 403),
    "an invalid host": (b"GET /health HTTP/1.1\r\nhost: a b/c\r\n\r\n", 403),
    "no host": (b"GET /health HTTP/1.1\r\n\r\n", 400),
    "two hosts": (b"GET /health HTTP/1.1\r\nhost: localhost\r\nhost: localhost\r\n\r\n", 400),
    "no such server": (b"GET http://127.0.0.1:1/x HTTP/1.1\r\nhost: 127.0.0.1:1\r\n\r\n", 502),
    "CONNECT": (b"CONNECT upstream.test HTTP/1.1\r\nhost: upstream.test\r\n\r\n", 400),
    "no path": (b"GET health HTTP/1.1\r\nhost: localhost\r\n\r\n", 400),
    "lower case": (b"get /health HTTP/1.1\r\nhost: localhost\r\n\r\n", 405),
    "unknown method": (b"BREW /health HTTP/1.1\r\nhost: localhost\r\n\r\n", 405),
    "bad escape": (b"GET /api/history/%zz HTTP/1.1\r\nhost: localhost\r\n\r\n", 404),
    "invalid UTF-8": (b"GET /api/history/%ff%fe HTTP/1.1\r\nhost: localhost\r\n\r\n", 404),
    "dots": (b"GET /../../etc/passwd HTTP/1.1\r\nhost: localhost\r\n\r\n", 404),
}


class HeadTests(HostileTestCase):
    """What comes before a body."""

    async def test_malformed(self) -> None:
        """What is not a request of HTTP/1.1 gets 400 and is closed."""
        for name, sent in _MALFORMED.items():
            raw = await self.come()
            raw.write(sent)
            self.assertEqual(await raw.refusal(), (400, "bad_request"), name)
            await self.well_behaved.go_on()

    async def test_foreign(self) -> None:
        """A request that is well-formed but not for us is told why."""
        for name, (sent, status) in _FOREIGN.items():
            raw = await self.come()
            raw.write(sent)
            answer = await raw.answer()
            self.assertEqual(answer.status, status, (name, answer))
            self.assertTrue(answer.json()["error"], name)
        await self.well_behaved.go_on()

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

    async def test_long(self) -> None:
        """More than 64 KiB of head, in whatever shape, is 431."""
        line = b"x-filler: " + b"f" * 1000 + b"\r\n"
        for name, sent in {
            "request line": b"GET /" + b"a" * HEAD_LIMIT,
            "request line, ended": b"GET /" + b"a" * HEAD_LIMIT + b" HTTP/1.1\r\n\r\n",
            "one header": b"GET / HTTP/1.1\r\nx: " + b"a" * 10 * HEAD_LIMIT,
            "many headers": b"GET / HTTP/1.1\r\n" + line * 70,
            "short headers": b"GET / HTTP/1.1\r\n" + b"a:b\r\n" * 600,
            "folded": b"GET / HTTP/1.1\r\nx: y\r\n" + b" folded\r\n" * 10_000,
            "no line at all": b"a" * (HEAD_LIMIT + len(b"\r\n")),
        }.items():
            raw = await self.come()
            raw.write(sent)
            self.assertEqual(await raw.refusal(), (431, "headers_too_large"), name)
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
