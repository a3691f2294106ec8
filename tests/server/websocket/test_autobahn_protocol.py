"""A WebSocket connection on Autobahn's public interface."""

from typing import Any

from twisted.logger import LogLevel, capturedLogs
from twisted.trial.unittest import SynchronousTestCase

from tests.server.websocket.harness import (
    BINARY,
    CLOSE,
    HANDSHAKE,
    MORE,
    PING,
    PONG,
    TEXT,
    ConnectionHarness,
    RecordingHandler,
    close_frame,
    frame,
)
from tests.support.http_client import parse
from trafficmock.errors import LocalError
from trafficmock.server.websocket.autobahn_protocol import AutobahnProtocol
from trafficmock.server.websocket.data_frames import text_frame
from trafficmock.server.websocket.link import HELLO_BYTES, Link, WebSocketLimits
from trafficmock.wire.limits import MAX_MESSAGE_BYTES


class ConnectionTests(SynchronousTestCase):
    """All that a link promises, over the stock path."""

    protocol_class: type[AutobahnProtocol] = AutobahnProtocol

    def open(self, react: Any = None, **limits: Any) -> ConnectionHarness:
        harness = ConnectionHarness(
            self.protocol_class,
            limits=WebSocketLimits(**limits),
            handler=RecordingHandler(react=react),
        )
        harness.open()
        return harness

    # Handshake

    def test_handshake(self) -> None:
        """The answer neither names the library nor accepts an extension."""
        harness = ConnectionHarness(self.protocol_class)
        answer = harness.open(b"Sec-WebSocket-Extensions: permessage-deflate\r\n")
        self.assertTrue(answer.startswith(b"HTTP/1.1 101 "))
        self.assertIn(b"Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n", answer)
        self.assertNotIn(b"Extensions", answer)
        self.assertNotIn(b"Server", answer)
        self.assertEqual(harness.handler.events, ["opened"])
        self.assertEqual((harness.link.id, harness.link.peer), ("", "127.0.0.1:51234"))

    def test_subprotocol(self) -> None:
        """The first subprotocol on offer is accepted."""
        answer = ConnectionHarness(self.protocol_class).open(
            b"Sec-WebSocket-Protocol: one, two\r\n"
        )
        self.assertIn(b"Sec-WebSocket-Protocol: one\r\n", answer)

    def test_when_lost(self) -> None:
        """Whoever counts the connections hears of the end once."""
        ended: list[str] = []
        harness = self.open()
        harness.protocol.when_lost(lambda: ended.append("ended"))
        self.assertEqual(ended, [])
        harness.lose()
        self.assertEqual(ended, ["ended"])

    def test_bad_handshake(self) -> None:
        """A handshake that Autobahn refuses is answered, and is no link."""
        harness = ConnectionHarness(self.protocol_class)
        harness.receive(b"GET /ws HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\n\r\n")
        answer = parse(harness.sent())
        self.assertEqual((answer.status, answer.json()["error"]), (400, "bad_request"))
        self.assertFalse(harness.connected)
        self.assertEqual((harness.handler.events, harness.timers()), ([], 0))

    def test_another_version(self) -> None:
        """Who speaks another version of the protocol is told which ones we speak."""
        harness = ConnectionHarness(self.protocol_class)
        harness.receive(HANDSHAKE.replace(b": 13", b": 99") + b"\r\n")
        answer = parse(harness.sent())
        self.assertEqual(answer.status, 400)
        self.assertIn("13", answer.headers["sec-websocket-version"])

    def test_no_delay(self) -> None:
        """Small messages are not held back by the kernel."""
        self.assertIn((6, 1, True), self.open().socket.options)

    # Messages

    def test_messages(self) -> None:
        """Text and binary messages, whole or in fragments, are delivered as bytes."""
        harness = self.open()
        harness.receive(frame(b"text") + frame(b"\xff", opcode=BINARY) + frame(b""))
        harness.receive(frame(b"a", fin=False) + frame(b"!", opcode=PING))
        harness.receive(frame(b"b", opcode=MORE) + frame("ü".encode()))
        self.assertEqual(harness.handler.messages, [b"text", b"\xff", b"", b"ab", "ü".encode()])
        self.assertEqual(harness.frames(), [(PONG, b"!")])

    def test_not_utf8(self) -> None:
        """Text that is no UTF-8 is delivered, and the connection lives."""
        harness = self.open()
        harness.receive(frame(b"\xff\xfe") + frame(b"next"))
        self.assertEqual(harness.handler.messages, [b"\xff\xfe", b"next"])

    def test_byte_by_byte(self) -> None:
        """However the bytes come, the messages are whole."""
        harness = self.open()
        messages = [b"one", bytes(200), bytes(70_000)]
        data = b"".join(map(frame, messages))
        for at in range(300):
            harness.receive(data[at : at + 1])
        harness.receive(data[300:1000])
        harness.receive(data[1000:])
        self.assertEqual(harness.handler.messages, messages)

    def test_overlong(self) -> None:
        """A message over the limit is read past; its head is told of before it has arrived."""
        harness = self.open(max_frame_bytes=10_000)
        data = frame(b"head" + bytes(20_000)) + frame(b"next")
        harness.receive(data[:10_000])
        self.assertEqual(harness.handler.events, ["opened", "overlong b'head\\x00' 20004"])
        harness.receive(data[10_000:])
        self.assertEqual((harness.handler.messages, harness.frames()), ([b"next"], []))
        self.assertEqual(len(harness.handler.events), 2)

    def test_overlong_and_short(self) -> None:
        """A message over a small limit is told of although it is no longer than a head."""
        harness = self.open(max_frame_bytes=10)
        harness.receive(frame(b"elevenbytes") + frame(b"ten bytes."))
        self.assertEqual(harness.handler.events, ["opened", "overlong b'eleve' 11"])
        self.assertEqual(harness.handler.messages, [b"ten bytes."])

    def test_overlong_fragments(self) -> None:
        """Fragments count in sum, and make one overlong message."""
        harness = self.open(max_frame_bytes=1000)
        for part in (frame(b"a" * 600, fin=False), frame(b"b" * 401, opcode=MORE, fin=False)):
            harness.receive(part)
        self.assertEqual(harness.handler.events, ["opened", "overlong b'aaaaa' 1001"])
        harness.receive(frame(b"c" * 600, opcode=MORE) + frame(b"next"))
        self.assertEqual((harness.handler.messages, len(harness.handler.events)), ([b"next"], 2))

    def test_overlong_late(self) -> None:
        """A message that is over the limit only after its head came is told of at once."""
        harness = self.open(max_frame_bytes=10_000)
        harness.receive(frame(b"a" * 6000, fin=False))
        self.assertEqual(harness.handler.events, ["opened"])
        harness.receive(frame(b"b" * 6000, opcode=MORE) + frame(b"next"))
        self.assertEqual(harness.handler.events, ["opened", "overlong b'aaaaa' 12000"])
        self.assertEqual(harness.handler.messages, [b"next"])

    def test_strangers(self) -> None:
        """Before it is welcome a client may send little; behind that message it may send all."""
        harness = ConnectionHarness(self.protocol_class, handler=RecordingHandler(hospitable=False))
        harness.open()
        harness.receive(frame(bytes(HELLO_BYTES)) + frame(bytes(HELLO_BYTES + 1)))
        self.assertEqual(harness.handler.messages, [bytes(HELLO_BYTES)])
        self.assertEqual(len(harness.handler.events), 2)
        harness.handler.react = lambda link, _: link.welcome()
        harness.receive(frame(b"hello") + frame(bytes(HELLO_BYTES + 1)))
        self.assertEqual(harness.handler.messages[1:], [b"hello", bytes(HELLO_BYTES + 1)])

    def test_too_large(self) -> None:
        """A message very much over the limit is refused by its header, with 1009."""
        harness = self.open(max_frame_bytes=1000)
        harness.receive(frame(bytes(1000)))
        harness.receive(frame(bytes(16_001))[:8])
        ((opcode, payload),) = harness.frames()
        self.assertEqual((opcode, payload[:2]), (CLOSE, (1009).to_bytes(2, "big")))
        self.assertEqual(
            (harness.handler.messages, harness.handler.events), ([bytes(1000)], ["opened"])
        )

    def test_violations(self) -> None:
        """Frames that no client may send end the connection with 1002."""
        for bad in (frame(b"x", mask=None), frame(b"x", rsv=1), frame(b"x", opcode=5)):
            harness = self.open()
            harness.receive(frame(b"good") + bad + frame(b"late"))
            ((opcode, payload),) = harness.frames()
            self.assertEqual((opcode, payload[:2]), (CLOSE, (1002).to_bytes(2, "big")))
            self.assertEqual(harness.handler.messages, [b"good"])

    # Sending

    def test_one_write(self) -> None:
        """What one message leads to leaves in one write."""

        def react(link: Link, payload: bytes) -> None:
            link.send(text_frame(payload))
            link.send(text_frame(b"more"))

        harness = self.open(react)
        harness.receive(frame(b"a") + frame(b"b"))
        harness.turn()
        (data,) = harness.socket.writes
        self.assertEqual(
            harness.frames(), [(TEXT, b"a"), (TEXT, b"more"), (TEXT, b"b"), (TEXT, b"more")]
        )
        self.assertEqual(harness.link.drained_total, len(data) + len(HANDSHAKE_ANSWER))

    def test_sizes(self) -> None:
        """Messages of every length form arrive."""
        harness = self.open()
        for size in (0, 125, 126, 65535, 65536, 3_000_000):
            harness.link.send(text_frame(bytes(size)))
            self.assertEqual(harness.frames(), [(TEXT, bytes(size))])

    def test_too_large_to_send(self) -> None:
        """A message that no client takes is the caller's mistake."""
        harness = self.open()
        with self.assertRaises(LocalError):
            harness.link.send(text_frame(bytes(MAX_MESSAGE_BYTES + 1)))
        harness.link.send(text_frame(b"next"))
        self.assertEqual(harness.frames(), [(TEXT, b"next")])

    def test_message_arriving(self) -> None:
        """The bytes of a message that is not whole yet are counted, a whole message is not."""
        harness = self.open()
        data = frame(bytes(100_000))
        harness.receive(frame(b"whole"))
        self.assertEqual(harness.link.arriving_bytes, 0)
        harness.receive(data[:1000])
        harness.receive(data[1000:2000])
        self.assertEqual(harness.link.arriving_bytes, 2000)
        harness.receive(data[2000:])
        self.assertEqual(harness.link.arriving_bytes, 2000)

    def test_slow_reader(self) -> None:
        """What the kernel does not take waits, is counted, and arrives in order."""
        harness = self.open(high_water=1000, low_water=100)
        harness.socket.room = 200_000
        harness.link.send(text_frame(bytes(1_000_000)))
        harness.link.send(text_frame(b"end"))
        harness.turn()
        total = 1_000_010 + 5
        self.assertLessEqual(total - 200_000, harness.link.queued_bytes)
        self.assertLessEqual(harness.link.queued_bytes, total - 2**17)
        self.assertEqual(harness.handler.events, ["opened", "backlogged"])
        before = harness.link.drained_total
        harness.socket.room = 2**30
        self.assertEqual(harness.frames(), [(TEXT, bytes(1_000_000)), (TEXT, b"end")])
        self.assertEqual(harness.handler.events, ["opened", "backlogged", "drained"])
        self.assertEqual(
            (harness.link.queued_bytes, harness.link.drained_total > before), (0, True)
        )

    def test_overflow(self) -> None:
        """Who takes too little is cut off, with one warning that names the option."""
        harness = self.open(send_queue_bytes=1000)
        harness.socket.room = 0
        with capturedLogs() as logs:
            for _ in range(20):
                harness.link.send(text_frame(bytes(100)))
        (warning,) = [event for event in logs if event["log_level"] is LogLevel.warn]
        text = warning["log_format"].format(**warning)
        for part in ("127.0.0.1:51234", "--send-queue-bytes", "1000"):
            self.assertIn(part, text)
        self.assertEqual(harness.handler.events, ["opened"])
        harness.turn()
        self.assertEqual((harness.handler.events, harness.connected), (["opened", "closed"], False))

    # The end

    def test_close(self) -> None:
        """A close frame goes out behind what is queued; what comes then is not delivered."""
        harness = self.open()
        harness.link.send(text_frame(b"last"))
        harness.link.close(1008, "invalid_hello")
        harness.link.send(text_frame(b"too late"))
        harness.receive(frame(b"ignored") + frame(bytes(70_000)))
        self.assertEqual(harness.frames(), [(TEXT, b"last"), (CLOSE, b"\x03\xf0invalid_hello")])
        self.assertEqual((harness.handler.messages, harness.connected), ([], True))
        harness.receive(close_frame(1008))
        harness.turn()
        self.assertEqual((harness.handler.events, harness.connected), (["opened", "closed"], False))
        self.assertEqual(harness.timers(), 0)

    def test_close_while_handling(self) -> None:
        """Nothing is honoured after a refusal, though it had been received already."""
        harness = self.open(lambda link, _: link.close(1008, "no"))
        harness.receive(frame(b"bad") + frame(b"more") + frame(b"half")[:-1])
        harness.receive(frame(b"half")[-1:] + close_frame(1008))
        self.assertEqual(harness.handler.messages, [b"bad"])
        harness.turn()
        self.assertFalse(harness.connected)
        self.assertEqual(harness.handler.events, ["opened", "closed"])

    def test_close_within_a_message(self) -> None:
        """A connection that is closed while a message arrives still completes its handshake."""
        harness = self.open()
        data = frame(bytes(70_000)) + close_frame(1001)
        harness.receive(data[:30_000])
        harness.link.close(1001, "bye")
        harness.receive(data[30_000:])
        self.assertEqual(harness.frames(), [(CLOSE, b"\x03\xe9bye")])
        self.assertEqual(
            (harness.handler.events, harness.handler.messages), (["opened", "closed"], [])
        )
        self.assertTrue(harness.protocol.wasClean)

    def test_close_long_reason(self) -> None:
        """A reason is cut to what a close frame holds, between characters."""
        harness = self.open()
        harness.link.close(1008, "x" + "ü" * 100)
        ((_, payload),) = harness.frames()
        self.assertEqual(payload[2:].decode(), "x" + "ü" * 61)

    def test_close_timeout(self) -> None:
        """Who does not answer a close frame is dropped."""
        harness = self.open(close_timeout=5.0)
        harness.link.close(1001, "bye")
        harness.turn(4.9)
        self.assertTrue(harness.connected)
        harness.turn(0.1)
        harness.turn()
        self.assertEqual((harness.handler.events, harness.timers()), (["opened", "closed"], 0))

    def test_close_of_a_paused_link(self) -> None:
        """The answer to a close frame is read though the link was paused."""
        harness = self.open()
        harness.link.pause()
        harness.link.close(1001, "bye")
        harness.link.pause()
        self.assertTrue(harness.reading)

    def test_peer_closes(self) -> None:
        """A client that says goodbye gets all that is queued, and an answer."""
        harness = self.open()
        harness.socket.room = 10
        harness.link.send(text_frame(bytes(5000)))
        harness.receive(close_frame(1000))
        harness.turn()
        self.assertTrue(harness.connected)
        harness.socket.room = 2**30
        self.assertEqual(harness.frames(), [(TEXT, bytes(5000)), (CLOSE, b"\x03\xe8")])
        self.assertEqual((harness.handler.events, harness.timers()), (["opened", "closed"], 0))

    def test_peer_closes_and_does_not_read(self) -> None:
        """A client that says goodbye and takes nothing is dropped."""
        harness = self.open()
        harness.socket.room = 0
        harness.link.send(text_frame(bytes(5000)))
        harness.receive(close_frame(1000))
        harness.turn(5)
        harness.turn()
        self.assertEqual((harness.handler.events, harness.timers()), (["opened", "closed"], 0))

    def test_abort(self) -> None:
        """A cut link sends and delivers nothing more, and is closed once."""
        harness = self.open(lambda link, _: link.abort())
        harness.receive(frame(b"a") + frame(b"b"))
        harness.link.send(text_frame(b"x"))
        harness.link.close(1000, "")
        self.assertEqual(harness.handler.events, ["opened"])
        self.assertEqual(harness.sent(), b"")
        self.assertEqual(
            (harness.handler.events, harness.handler.messages), (["opened", "closed"], [b"a"])
        )

    def test_lost(self) -> None:
        """A lost link is closed once; what is done to it then does nothing."""
        harness = self.open()
        link = harness.link
        harness.lose()
        link.send(text_frame(b"x"))
        link.close(1000, "")
        link.pause()
        link.resume()
        link.abort()
        harness.turn(60)
        self.assertEqual((harness.handler.events, harness.timers()), (["opened", "closed"], 0))

    def test_pause(self) -> None:
        """A paused link is not read from; pausing twice is one pause."""
        harness = self.open()
        harness.link.pause()
        harness.link.pause()
        self.assertFalse(harness.reading)
        harness.link.resume()
        self.assertTrue(harness.reading)

    # Faults of ours

    def test_error_in_handler(self) -> None:
        """An error in a handler is logged and closes that link, with 1011."""

        def react(_: Link, payload: bytes) -> None:
            raise KeyError(payload)

        harness = self.open(react)
        harness.receive(frame(b"a") + frame(b"b"))
        self.assertEqual(len(self.flushLoggedErrors(KeyError)), 1)
        self.assertEqual(harness.frames(), [(CLOSE, b"\x03\xf3Internal error")])
        self.assertEqual(harness.handler.messages, [b"a"])

    def test_error_when_opened_or_closed(self) -> None:
        """Autobahn does not keep such errors to itself either."""
        for name in ("link_opened", "link_closed"):
            harness = ConnectionHarness(self.protocol_class)

            def fail(_: Link) -> None:
                raise KeyError

            self.patch(harness.handler, name, fail)
            harness.open()
            harness.lose()
            self.assertEqual(len(self.flushLoggedErrors(KeyError)), 1, name)


HANDSHAKE_ANSWER = ConnectionHarness(AutobahnProtocol).open()
