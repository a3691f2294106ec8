"""``mock(url, sequence=…)``: answers that the proxy gives one after the other."""

import json
from typing import Any

from tests.testing.row_context import RowContext, row
from trafficmock.testing.errors import UsageError


async def statuses(t: RowContext, url: str, count: int) -> list[Any]:
    """Let the application ask several times; give the statuses, ``None`` for a failure."""
    return [(await t.get(url)).get("status") for _ in range(count)]


@row
async def answers_in_turn(t: RowContext) -> None:
    """Each request gets the next answer, and the last one is repeated."""
    url = t.url("echo")
    await t(
        t.mocks.mock(url, sequence=[503, {"status": 429, "headers": {"retry-after": "1"}}, 201])
    )
    assert await statuses(t, url, 5) == [503, 429, 201, 201, 201]


@row
async def failure_in_turn(t: RowContext) -> None:
    """An answer may be a failure, and have a body."""
    url = t.url("echo")
    await t(t.mocks.mock(url, sequence=[{"abort": "connectionreset"}, {"json": {"paid": True}}]))
    assert "error" in await t.get(url)
    assert json.loads((await t.get(url))["body"]) == {"paid": True}


@row
async def sequence_with_times(t: RowContext) -> None:
    """After ``times`` requests the route is gone, wherever its sequence stands."""
    url = t.url("echo")
    await t(t.mocks.mock(url, status=204))
    await t(t.mocks.mock(url, sequence=[500, 502, 503], times=2))
    assert await statuses(t, url, 3) == [500, 502, 204]


@row
async def invalid_sequence(t: RowContext) -> None:
    """A wrong answer is an error at the call, which has its number."""
    for wrong, text in (
        ([], "sequence is a list of answers"),
        ([200, 99], "answer 2 of the sequence: status must be"),
        (
            [{"abort": "reset"}],
            "answer 1 of the sequence: abort: 'reset' is unknown; the error",
        ),
        ([200, {"statuss": 500}], "answer 2 of the sequence"),
        ([{"abort": "failed", "status": 500}], "abort is a failure and has no status"),
    ):
        try:
            await t(t.mocks.mock("**", sequence=wrong))
        except UsageError as error:
            assert text in str(error), error
        else:
            raise AssertionError(f"{wrong} was accepted")
