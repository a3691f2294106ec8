"""Frames that RFC 6455 forbids, and those that it allows but nobody sends."""

from __future__ import annotations

import json

from tests.hostile.case import FRAME_LIMIT, HostileTestCase, hello, request
from tests.hostile.clients.frames import BINARY, CLOSE, CONTINUATION, PING, PONG, TEXT, frame, text
from tests.hostile.clients.raw import HANDSHAKE, HELLO, Raw

HELLO_JSON = json.dumps(HELLO | {"role": "node"}).encode()
NORMAL, PROTOCOL_ERROR, INVALID_PAYLOAD, TOO_BIG = 1000, 1002, 1007, 1009
REFUSED = 1008

_FORBIDDEN = {
    "unmasked text": frame(HELLO_JSON, masked=False),
    "unmasked close": frame(b"\x03\xe8", opcode=CLOSE, masked=False),
    **{f"reserved opcode {code}": frame(b"x", opcode=code) for code in (3, 4, 7, 0xB, 0xF)},
    **{f"reserved bits {bits}": frame(HELLO_JSON, reserved=bits) for bits in range(1, 8)},
    "reserved bit of a ping": frame(b"x", opcode=PING, reserved=4),
    "fragmented ping": frame(b"x", opcode=PING, fin=False),
    "fragmented close": frame(b"\x03\xe8", opcode=CLOSE, fin=False),
    "long ping": frame(b"x" * 126, opcode=PING),
    "long close": frame(b"\x03\xe8" + b"x" * 124, opcode=CLOSE),
    "continuation of nothing": frame(b"x", opcode=CONTINUATION),
    "message within a message": frame(b"x", fin=False) + frame(b"x"),
    "compressed continuation": frame(b"x", fin=False)
    + frame(b"x", opcode=CONTINUATION, reserved=4),
    "length 2^63": frame(length=1 << 63),
    "length 2^64 - 1": frame(length=(1 << 64) - 1),
    "5 bytes in 2 bytes": frame(b"12345", length_bytes=2),
    "5 bytes in 8 bytes": frame(b"12345", length_bytes=8),
    "close of one byte": frame(b"\x03", opcode=CLOSE),
    **{
        f"close with {code}": frame(code.to_bytes(2, "big"), opcode=CLOSE)
        for code in (0, 999, 1004, 1005, 1006, 1015, 1016, 2999, 5000, 65535)
    },
}
_GOODBYES = (1000, 1001, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999)


class ForbiddenFrameTests(HostileTestCase):
    """What ends a connection."""

    async def test_forbidden(self) -> None:
        """A frame against the protocol gets 1002, before and after hello alike."""
        for name, sent in _FORBIDDEN.items():
            for raw in (await self.upgraded(), await self.client("node")):
                raw.write(sent)
                code, reason = await raw.close_frame()
                self.assertEqual((code, bool(reason)), (PROTOCOL_ERROR, True), name)
                raw.drop()
            await self.well_behaved.pairs[0].answered_once_more()

    async def test_nothing_is_heard_behind(self) -> None:
        """What follows a forbidden frame in the same segment is not acted upon."""
        for name, sent in _FORBIDDEN.items():
            raw = await self.upgraded()
            raw.write(sent + text(hello()) + text({"type": "ping", "at": 1}))
            await raw.close_frame()
            raw.half_close()
            self.assertEqual(await raw.end(), b"", name)
        self.assertEqual(await self.connected(), self.well_behaved.connection_ids())

    async def test_invalid_utf8_in_a_reason(self) -> None:
        """A close whose reason is not UTF-8 gets 1007."""
        raw = await self.client("node")
        raw.write(frame(b"\x03\xe8\xff\xfe", opcode=CLOSE))
        self.assertEqual((await raw.close_frame())[0], INVALID_PAYLOAD)

    async def test_goodbyes(self) -> None:
        """A close with any code that may be sent is answered by one, and the connection ends."""
        for code in _GOODBYES:
            raw = await self.client("node")
            raw.write(frame(code.to_bytes(2, "big") + b"bye", opcode=CLOSE))
            self.assertEqual((await raw.close_frame())[0], NORMAL, code)
            self.assertEqual(await raw.end(), b"")
        raw = await self.client("node")
        raw.write(frame(opcode=CLOSE))
        first, _ = await raw.frame()
        self.assertEqual(first, 0x88)
        self.assertEqual(await raw.end(), b"")


class SizeTests(HostileTestCase):
    """Frames and messages that are too large, or never become whole."""

    async def assert_skipped(self, raw: Raw) -> None:
        """See that only the message was lost, and that the connection goes on."""
        error = await raw.message()
        self.assertEqual((error["type"], error["code"]), ("proxy:error", "invalid_message"))
        self.assertIn("--max-frame-bytes", error["message"])
        self.assertEqual(await raw.barrier(), [])
        await self.well_behaved.go_on()

    async def test_endless(self) -> None:
        """A frame that announces very much more than the limit is refused by its header."""
        for length in (FRAME_LIMIT * 20, 1 << 40, (1 << 63) - 1):
            for opcode in (TEXT, BINARY):
                raw = await self.client("node")
                raw.write(frame(opcode=opcode, length=length))
                code, reason = await raw.close_frame()
                self.assertEqual((code, bool(reason)), (TOO_BIG, True))
        await self.well_behaved.go_on()

    async def test_over_the_limit(self) -> None:
        """A frame over the limit is read past and told of, without being kept."""
        raw = await self.client("node")
        payload = b" " * (FRAME_LIMIT * 3)
        head = frame(length=len(payload))
        raw.write(head + payload[:8192])
        error = await raw.message()
        self.assertEqual((error["type"], error["code"]), ("proxy:error", "invalid_message"))
        raw.write(payload[8192:])
        self.assertEqual(await raw.barrier(), [])
        self.assertLess(self.grown(), FRAME_LIMIT)

    async def test_waiting_for_it(self) -> None:
        """The application whose request is over the limit is told so by its id."""
        raw = await self.client("node")
        message = json.dumps(request("huge", bodyBase64="A" * FRAME_LIMIT))
        raw.write(frame(message.encode()))
        decision = await raw.message()
        self.assertEqual((decision["type"], decision["requestId"]), ("decision:error", "huge"))
        await self.assert_skipped(raw)

    async def test_fragments(self) -> None:
        """Fragments that add up to more than the limit are one message over the limit."""
        raw = await self.client("node")
        part = b" " * (FRAME_LIMIT // 8)
        raw.write(frame(part, fin=False))
        for _ in range(8):
            raw.write(frame(part, opcode=CONTINUATION, fin=False))
        raw.write(frame(opcode=CONTINUATION))
        await self.assert_skipped(raw)

    async def test_stranger(self) -> None:
        """Who has not said hello is refused for a message over the limit."""
        raw = await self.upgraded()
        raw.write(frame(length=FRAME_LIMIT + 1) + b" " * 8192)
        error = await raw.message()
        self.assertEqual((error["type"], error["code"]), ("hello:error", "invalid_hello"))
        self.assertEqual((await raw.close_frame())[0], REFUSED)

    async def test_many_fragments(self) -> None:
        """Thousands of tiny fragments, empty ones and pings between them make one message."""
        raw = await self.client("node")
        message = json.dumps({"type": "ping", "at": 5}).encode()
        tiny = b"".join(
            frame(message[at : at + 1], opcode=CONTINUATION, fin=False)
            + frame(opcode=CONTINUATION, fin=False)
            for at in range(len(message))
        )
        raw.write(frame(fin=False) + tiny + frame(opcode=CONTINUATION, fin=False) * 5000)
        raw.write(frame(b"p", opcode=PING) + frame(opcode=CONTINUATION))
        self.assertEqual(await raw.frame(), (0x8A, b"p"))
        self.assertEqual(await raw.message(), {"type": "pong", "at": 5})

    async def test_within_the_limit(self) -> None:
        """A message of exactly the limit is read."""
        raw = await self.client("node")
        message = json.dumps({"type": "ping", "at": 7}).encode()
        raw.write(frame(message.ljust(FRAME_LIMIT)))
        self.assertEqual(await raw.message(), {"type": "pong", "at": 7})

    async def test_truncated(self) -> None:
        """A frame whose rest never comes waits alone, and ends with its connection."""
        whole = frame(b" " * 100_000)
        for cut in (1, 2, 5, 9, 13, 14, 50_000, len(whole) - 1):
            raw = await self.client("node")
            raw.write(whole[:cut])
            await self.well_behaved.pairs[0].answered_once_more()
            raw.half_close()
            self.assertEqual(await raw.end(), b"", cut)


class AllowedFrameTests(HostileTestCase):
    """What is unusual but legal."""

    async def test_binary(self) -> None:
        """JSON in a binary message is a message."""
        raw = await self.upgraded()
        raw.write(frame(HELLO_JSON, opcode=BINARY))
        self.assertEqual((await raw.message())["type"], "hello:ok")

    async def test_fragmented_hello(self) -> None:
        """A message in two fragments with a ping between them is a message."""
        raw = await self.upgraded()
        raw.write(frame(HELLO_JSON[:20], fin=False) + frame(b"?", opcode=PING))
        raw.write(frame(HELLO_JSON[20:], opcode=CONTINUATION))
        self.assertEqual(await raw.frame(), (0x8A, b"?"))
        self.assertEqual((await raw.message())["type"], "hello:ok")

    async def test_pongs_and_empty_frames(self) -> None:
        """Pongs that nobody asked for are ignored; an empty message is invalid, not fatal."""
        raw = await self.client("node")
        raw.write(frame(b"?", opcode=PONG) * 1000 + frame() + frame(opcode=BINARY))
        for _ in range(2):
            self.assertEqual((await raw.message())["code"], "invalid_message")
        self.assertEqual(await raw.barrier(), [])

    async def test_ping_flood(self) -> None:
        """A flood of pings is answered or cut, and holds nobody up."""
        raw = await self.client("node")
        flood = frame(b"x" * 125, opcode=PING) * 2000
        for _ in range(10):
            raw.write(flood)
            await self.well_behaved.pairs[0].answered_once_more()
        await raw.until(lambda: len(raw.received) >= 20_000 * 127)
        self.assertEqual(
            set(bytes(raw.received[: 127 * 100]).split(b"x" * 125)), {b"\x8a\x7d", b""}
        )
        raw.received.clear()
        self.assertEqual(await raw.barrier(), [])


class UpgradeTests(HostileTestCase):
    """Handshakes that are not."""

    async def test_bad_handshakes(self) -> None:
        """A handshake that is wrong gets an HTTP answer that says so."""
        key = b"sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ=="
        for name, (old, new, status, error) in {
            "no key": (key + b"\r\n", b"", 400, "bad_request"),
            "short key": (key, b"sec-websocket-key: abc", 400, "bad_request"),
            "two keys": (key, key + b"\r\n" + key, 400, "bad_request"),
            "no version": (b"sec-websocket-version: 13\r\n", b"", 400, "bad_request"),
            "another version": (b"-version: 13", b"-version: 99", 400, "bad_request"),
            "version in words": (b"-version: 13", b"-version: new", 400, "bad_request"),
            "another upgrade": (b"upgrade: websocket", b"upgrade: h2c", 426, "upgrade_required"),
            "an origin": (b"host:", b"origin: http://e.test\r\nhost:", 403, "origin_not_allowed"),
            "another host": (b"127.0.0.1", b"evil.example", 403, "host_not_allowed"),
            "two hosts": (b"host:", b"host: localhost\r\nhost:", 400, "bad_request"),
            "HTTP/1.0": (b"HTTP/1.1", b"HTTP/1.0", 426, "upgrade_required"),
            "POST": (b"GET", b"POST", 405, "method_not_allowed"),
        }.items():
            raw = await self.come()
            raw.write(HANDSHAKE.replace(old, new, 1))
            answer = await raw.answer()
            self.assertEqual((answer.status, answer.json()["error"]), (status, error), name)
        await self.well_behaved.go_on()

    async def test_extensions(self) -> None:
        """Compression is offered in vain; frames are read as they are."""
        raw = await self.come()
        offer = b"sec-websocket-extensions: permessage-deflate; client_max_window_bits\r\nhost:"
        raw.write(HANDSHAKE.replace(b"host:", offer, 1))
        status, headers = await raw.head()
        self.assertEqual((status, headers.get("sec-websocket-extensions")), (101, None))
        raw.write(frame(HELLO_JSON, reserved=4))
        self.assertEqual((await raw.close_frame())[0], PROTOCOL_ERROR)
