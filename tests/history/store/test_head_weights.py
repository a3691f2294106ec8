"""The weight of an entry: no less than the texts that it holds."""

from collections.abc import Callable, Iterator
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct, structs
from twisted.trial.unittest import SynchronousTestCase

from tests.history.builders import OWNER, diagnostic, request, response
from tests.support.hypothesis_profiles import profile
from trafficmock import records
from trafficmock.history.entry import MAX_DETAIL, HistoryEntry
from trafficmock.history.store import History
from trafficmock.wire.payloads.serialized_request import SerializedOverrides
from trafficmock.wire.payloads.serialized_response import SerializedError

LONG = 20 * MAX_DETAIL
FEW = 6
AROUND = FEW * (MAX_DETAIL + 100)
"""Characters that may be held beside the weight: the timeline, names of kinds, the owner."""


def held_texts(thing: Any, seen: dict[int, Any]) -> Iterator[str]:
    """Find the texts that ``thing`` holds, each once.

    :param seen: what was found, by its id; kept, lest another object gets the id.
    """
    if id(thing) in seen:
        return
    seen[id(thing)] = thing
    if isinstance(thing, str):
        yield thing
    elif isinstance(thing, Struct):
        for name in thing.__struct_fields__:
            yield from held_texts(getattr(thing, name), seen)
    elif isinstance(thing, dict):
        yield from held_texts([*thing.items()], seen)
    elif not isinstance(thing, bytes) and hasattr(thing, "__iter__"):
        for each in thing:
            yield from held_texts(each, seen)


def held(entry: HistoryEntry[Any] | None) -> int:
    """Count the characters of the texts that an entry holds."""
    return sum(map(len, held_texts(entry, {})))


class Texts:
    """Makes long texts that are never the same object."""

    def __init__(self) -> None:
        self.made = 0

    def __call__(self) -> str:
        self.made += 1
        return f"{self.made} ".ljust(LONG, "x")


TEXT = Texts()


def large_response() -> Any:
    made = response(200, TEXT(), headers={TEXT(): TEXT()}, pairs=[(TEXT(), TEXT())])
    return structs.replace(made, url=TEXT())


Make = Callable[[], records.Record]

REQUEST_STEPS: list[Make] = [
    lambda: records.RequestPassedThrough("r", (TEXT(),)),
    lambda: records.RequestContinued(
        "r", OWNER, SerializedOverrides(TEXT(), TEXT(), {TEXT(): TEXT()})
    ),
    lambda: records.RequestFulfilled("r", OWNER, large_response()),
    lambda: records.RequestAborted("r", OWNER, TEXT(), TEXT()),
    lambda: records.RequestFailed("r", OWNER, "internal", TEXT(), [diagnostic(TEXT())]),
    lambda: records.ResponseReported("r", large_response(), None),
    lambda: records.ResponseReported("r", response(), None),
    lambda: records.ResponseReported("r", large_response(), None, body_pending=True),
    lambda: records.ResponseReported("r", None, SerializedError("Error", TEXT())),
    lambda: records.RequestBodyCame("r", request()),
]
SOCKET_STEPS: list[Make] = [
    lambda: records.SocketOwned("r", OWNER),
    lambda: records.SocketPassedThrough("r", (TEXT(),)),
    lambda: records.SocketFailed("r", OWNER, "internal", TEXT(), [diagnostic(TEXT())]),
    lambda: records.SocketClosed("r", "page", 1000, TEXT(), was_clean=True),
    lambda: records.SocketClosed("r", "server", 1000, TEXT(), was_clean=True),
]


class HeadWeightTests(SynchronousTestCase):
    """An entry that held more than it counts would take the memory past its limit."""

    @given(st.lists(st.tuples(st.sampled_from(REQUEST_STEPS), st.booleans()), max_size=FEW))
    @profile(60)
    def test_requests(self, steps: list[tuple[Make, bool]]) -> None:
        """Whatever happens to a request, read between or not, its texts are counted."""
        history = History()
        asked = request(TEXT(), TEXT(), headers={TEXT(): TEXT()}, pairs=[(TEXT(), TEXT())])
        history.record(records.RequestSeen("r", "app", asked), 1)
        for make, read in steps:
            history.record(make(), 2)
            entry = history.requests.get("r")
            assert entry is not None
            if read:
                entry.to_json()
            self.assertLessEqual(held(entry), entry.weight + AROUND)

    @given(st.lists(st.sampled_from(SOCKET_STEPS), max_size=FEW))
    @profile(30)
    def test_websockets(self, steps: list[Make]) -> None:
        """Whatever happens to a WebSocket, its texts are counted."""
        history = History()
        history.record(records.SocketSeen("r", "app", TEXT(), [TEXT()]), 1)
        for make in steps:
            history.record(make(), 2)
            entry = history.sockets.get("r")
            self.assertLessEqual(held(entry), getattr(entry, "weight", 0) + AROUND)

    def test_repeated(self) -> None:
        """Of many responses to one request only the head of the last is held."""
        history = History()
        history.record(records.RequestSeen("r", "app", request()), 1)
        history.record(records.RequestPassedThrough("r"), 2)
        entry = history.requests.get("r")
        assert entry is not None
        for _ in range(7):
            reported = response(headers={"a": TEXT()})
            history.record(records.ResponseReported("r", reported, None), 3)
            self.assertLess(held(entry), 2 * LONG)
        self.assertEqual(entry.status, 200)
