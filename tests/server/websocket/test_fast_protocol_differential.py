"""The tuned path is compared with the stock one: whatever a client sends, nobody can tell."""

import random
from typing import Any

from attrs import frozen
from twisted.trial.unittest import SynchronousTestCase

from tests.server.websocket.harness import (
    BINARY,
    CLOSE,
    MORE,
    PING,
    PONG,
    TEXT,
    ConnectionHarness,
    RecordingHandler,
    close_frame,
    frame,
    server_frames,
)
from tests.support.hypothesis_profiles import DEEP, QUICK
from trafficmock.server.websocket.autobahn_protocol import AutobahnProtocol
from trafficmock.server.websocket.data_frames import text_frame
from trafficmock.server.websocket.fast_protocol import FastProtocol
from trafficmock.server.websocket.link import Link, WebSocketLimits
from trafficmock.server.websocket.oversized_frames import READ_PAST

SESSIONS = 40_000 if DEEP else 250 if QUICK else 1000
LONGEST = 66_000
LIMITS = WebSocketLimits(max_frame_bytes=LONGEST, send_queue_bytes=0)
SHORT = 1000
SIZES = (0, 1, 7, 7, 7, 125, 126, 300, 300, 1000, LONGEST)


@frozen
class Outcome:
    """All that can be seen of a session."""

    messages: list[bytes]
    events: list[str]
    sent: list[tuple[int, bytes]]
    connected: bool
    reading: bool
    timers: int


def react(link: Link, payload: bytes) -> None:
    """Do what the message says; echo most."""
    match payload[:6]:
        case b"close!":
            link.close(1008, "told to")
        case b"abort!":
            link.abort()
        case b"error!":
            raise ZeroDivisionError
        case b"pause!":
            link.pause()
        case b"resume":
            link.resume()
        case b"twice!":
            link.send(text_frame(payload))
            link.send(text_frame(b"again"))
        case _:
            link.send(text_frame(payload))


class Client:
    """Makes up what a client sends: mostly right, in all forms, and everything wrong."""

    def __init__(self, dice: random.Random) -> None:
        self.dice = dice

    def session(self) -> list[bytes]:
        """Give the reads that a server would make."""
        data = b"".join(self.part() for _ in range(self.dice.randrange(1, 12)))
        if self.dice.random() < 0.1:
            data = data[: self.dice.randrange(len(data) + 1)]
        return self.cut(data)

    def cut(self, data: bytes) -> list[bytes]:
        """Cut where frames end or anywhere, sometimes into single bytes."""
        mean = self.dice.choice((1, 3, 20, 200) if len(data) < SHORT else (1000, 5000, 100_000))
        reads = []
        while data:
            at = self.dice.randrange(1, 2 * mean)
            reads.append(data[:at])
            data = data[at:]
        return reads

    def payload(self) -> bytes:
        special = (b"close!", b"abort!", b"error!", b"pause!", b"resume", b"twice!", b"\xff\xfe")
        if self.dice.random() < 0.08:
            return self.dice.choice(special)
        return self.dice.randbytes(self.dice.choice(SIZES))

    def part(self) -> bytes:
        """Give one or more frames."""
        makers = (self.whole, self.control, self.fragments, self.goodbye, self.fault, self.junk)
        weights = (80, 12, 10, 2, 3, 1)
        (make,) = self.dice.choices(makers, weights)
        return make()

    def frame(self, payload: bytes, **fields: Any) -> bytes:
        fields.setdefault("mask", self.dice.randbytes(4))
        return frame(payload, **fields)

    def whole(self) -> bytes:
        return self.frame(self.payload(), opcode=self.dice.choice((TEXT, TEXT, BINARY)))

    def control(self) -> bytes:
        payload = self.dice.randbytes(self.dice.choice((0, 3, 125)))
        return self.frame(payload, opcode=self.dice.choice((PING, PONG)))

    def fragments(self) -> bytes:
        count = self.dice.randrange(1, 4)
        data = self.frame(self.payload(), opcode=self.dice.choice((TEXT, BINARY)), fin=False)
        for number in range(count):
            if self.dice.random() < 0.3:
                data += self.control()
            last = number == count - 1 and self.dice.random() < 0.9
            data += self.frame(self.payload(), opcode=MORE, fin=last)
        return data

    def goodbye(self) -> bytes:
        if self.dice.random() < 0.2:
            return self.frame(b"", opcode=CLOSE)
        code = self.dice.choice((1000, 1001, 1008, 3000, 1005, 999, 65535))
        return close_frame(code, self.dice.choice((b"", b"bye", b"\xff")))

    def fault(self) -> bytes:
        dice = self.dice
        payload = self.payload()
        faults: list[dict[str, Any]] = [
            {"mask": None},
            {"rsv": dice.randrange(1, 8)},
            {"opcode": dice.choice((3, 7, 11, 15))},
            {"opcode": dice.choice((MORE, PING)), "fin": False},
        ]
        if len(payload) < 126:
            faults.append({"length_bytes": dice.choice((2, 8))})
        else:
            faults.append({"opcode": dice.choice((PING, CLOSE))})
        if dice.random() < 0.2:
            beyond = (READ_PAST * LONGEST + 1).to_bytes(8, "big")
            return dice.choice((self.frame(bytes(LONGEST + 1)), b"\x82\xff" + beyond + bytes(4)))
        return self.frame(payload, **dice.choice(faults))

    def junk(self) -> bytes:
        return self.dice.randbytes(self.dice.randrange(1, 30))


def outcome(protocol_class: type[AutobahnProtocol], reads: list[bytes]) -> Outcome:
    """Play a session to the end."""
    harness = ConnectionHarness(
        protocol_class, limits=LIMITS, handler=RecordingHandler(react=react)
    )
    harness.open()
    sent = b""
    for data in reads:
        harness.receive(data)
        sent += harness.sent()
    connected, reading = harness.connected, harness.connected and harness.reading
    if connected:
        harness.lose()
    harness.turn()
    return Outcome(
        harness.handler.messages,
        harness.handler.events,
        server_frames(sent),
        connected,
        reading,
        harness.timers(),
    )


class DifferentialTests(SynchronousTestCase):
    """Thousands of random sessions."""

    def test_same(self) -> None:
        """Messages, answers, close codes and ends are the same on both paths."""
        codes = set()
        delivered = overlong = 0
        for seed in range(SESSIONS):
            reads = Client(random.Random(seed)).session()  # noqa: S311 - no secret
            stock = outcome(AutobahnProtocol, reads)
            tuned = outcome(FastProtocol, reads)
            self.assertEqual(stock, tuned, f"seed {seed}")
            lasting = [event for event in stock.events if not event.startswith("overlong")]
            self.assertEqual((lasting, stock.timers), (["opened", "closed"], 0), seed)
            overlong += len(stock.events) - len(lasting)
            codes |= {payload[:2] for opcode, payload in stock.sent if opcode == CLOSE}
            delivered += len(stock.messages)
        self.flushLoggedErrors(ZeroDivisionError)
        found = {int.from_bytes(code, "big") for code in codes}
        self.assertEqual(found, {1000, 1002, 1007, 1008, 1009, 1011})
        self.assertGreater(delivered, 3 * SESSIONS)
        self.assertGreater(overlong, SESSIONS / 100)
