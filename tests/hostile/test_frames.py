"""Frames that RFC 6455 forbids, and those that it allows but nobody sends."""

import json

from tests.hostile.case import FRAME_LIMIT, HostileTestCase, request
from tests.hostile.clients.frames import BINARY, CLOSE, CONTINUATION, PING, PONG, frame
from tests.hostile.clients.raw import HANDSHAKE, HELLO, Raw
from tests.hostile.exchanges.cases.frames import FRAMES
from tests.hostile.exchanges.cases.handshakes import HANDSHAKES

HELLO_JSON = json.dumps(HELLO | {"role": "node"}).encode()
PROTOCOL_ERROR, REFUSED = 1002, 1008


class ForbiddenFrameTests(HostileTestCase):
    """What ends a connection."""

    async def test_frames(self) -> None:
        """A frame against the protocol gets 1002, and nothing behind it is heard; a close ends."""
        await self.assert_cases(FRAMES)

    async def test_goodbye_without_a_code(self) -> None:
        """A close without a code is answered by one, and the connection ends."""
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
            # Nothing but the pings of the service to a slow one.
            self.assertRegex(await raw.end(), rb'^(\x81.\{"type":"ping","at":\d+\})*$', cut)


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
        await self.assert_cases(HANDSHAKES)

    async def test_extensions(self) -> None:
        """Compression is offered in vain; frames are read as they are."""
        raw = await self.come()
        offer = b"sec-websocket-extensions: permessage-deflate; client_max_window_bits\r\nhost:"
        raw.write(HANDSHAKE.replace(b"host:", offer, 1))
        status, headers = await raw.head()
        self.assertEqual((status, headers.get("sec-websocket-extensions")), (101, None))
        raw.write(frame(HELLO_JSON, reserved=4))
        self.assertEqual((await raw.close_frame())[0], PROTOCOL_ERROR)
