"""Every field of every message, wrong in every way."""

from collections.abc import Iterator

from tests.hostile.case import HostileTestCase, test
from tests.hostile.clients.raw import Raw
from tests.hostile.clients.shapes import Broken, broken, message_types, sample
from tests.hostile.exchanges.case import refused_hello
from trafficmock.wire.client_message import ClientMessage

SIDE_EFFECTS = {"decision:error", "ws:error"}
"""What may come before the complaint: who waits for the message is answered."""


def all_broken(*, hello: bool) -> Iterator[Broken]:
    """Give the broken messages of one type, or of all others."""
    for kind in message_types():
        if (kind.tag == "hello") == hello:
            yield from broken(kind)


class FieldTests(HostileTestCase):
    """Types, missing fields and values out of range."""

    def test_all_types_are_meant(self) -> None:
        """The generator knows all messages that clients may send, and breaks each."""
        self.assertEqual(len(message_types()), len(ClientMessage.__args__))
        for kind in message_types():
            self.assertGreater(len(list(broken(kind))), 5, kind.tag)

    async def test_of_clients(self) -> None:
        """Hundreds of wrong messages in one segment are answered one by one."""
        for role in ("node", "playwright"):
            raw = await self.client(role)
            wrong = list(all_broken(hello=False))
            for start in range(0, len(wrong), 250):
                some = wrong[start : start + 250]
                raw.send(*(one.message for one in some))
                for one in some:
                    await self.assert_complaint(raw, one)
                await self.well_behaved.go_on()
            self.assertEqual(await raw.barrier(), [])

    async def assert_complaint(self, raw: Raw, one: Broken) -> None:
        answer = await raw.message()
        while answer["type"] in SIDE_EFFECTS:
            answer = await raw.message()
        self.assertEqual(answer["type"], "proxy:error", (one.what, answer))
        self.assertEqual(answer["code"], "invalid_message", one.what)

    async def test_long_lists(self) -> None:
        """A list with far too many names is refused, and keeps nobody waiting."""
        worker = await self.client("playwright")
        many = [f"name-{number}" for number in range(300_000)]
        route = {"type": "route:register", "routeId": "long", "testId": "hostile"}
        for message in (
            route | {"matcher": {"clientIds": many}},
            route | {"matcher": {"methods": many}},
            test("long") | {"context": "1" * 32, "door": {"origins": many}},
        ):
            worker.send(message)
            answer = await worker.of_type("route:registered", "test:registered", "proxy:error")
            self.assertEqual((answer["type"], answer["code"]), ("proxy:error", "invalid_message"))

    async def test_of_strangers(self) -> None:
        """A wrong hello is refused by ``invalid_hello`` and 1008."""
        await self.assert_cases(
            refused_hello(one.what, one.message) for one in all_broken(hello=True)
        )

    async def test_before_hello(self) -> None:
        """Every valid message before hello but a heartbeat is refused, and does nothing."""
        await self.assert_cases(
            refused_hello(str(kind.tag), sample(kind), sample(kind))
            for kind in message_types()
            if kind.tag not in {"hello", "ping", "pong"}
        )
