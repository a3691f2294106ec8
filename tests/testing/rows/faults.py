"""``fault``: answers that break as those of a failing server do."""

from typing import Any

from tests.testing.row_context import RowContext, row
from trafficmock.testing.errors import UsageError

BREAKING = ("connection_reset", "empty_response", "malformed_chunk", "truncated")
"""The faults that end the connection."""


@row
async def broken_mocks(t: RowContext) -> None:
    """A mock with a fault fails in the application, after a part of its body or at once."""
    url = t.url("echo")
    for fault in BREAKING:
        await t(t.mocks.mock(url, body="x" * 100, fault=fault))
        assert "error" in await t.get(url), fault
    await t(t.mocks.mock(url, body="x" * 100, fault="truncated", after=10))
    assert "error" in await t.get(url)


@row
async def broken_answer_of_handler(t: RowContext) -> None:
    """A handler's answer breaks, and the next one is whole."""
    url = t.url("echo")

    async def handler(route: Any, request: Any) -> None:
        await t(route.fulfill(body="later", fault="truncated"))

    await t(t.mocks.mock(url, body="whole"))
    await t(t.mocks.route(url, handler, times=1))
    assert "error" in await t.get(url)
    assert (await t.get(url))["body"] == "whole"


@row
async def fault_in_turn(t: RowContext) -> None:
    """An answer of a sequence may break."""
    url = t.url("echo")
    await t(t.mocks.mock(url, sequence=[{"fault": "connection_reset"}, {"body": "whole"}]))
    assert "error" in await t.get(url)
    assert (await t.get(url))["body"] == "whole"


@row
async def invalid_fault(t: RowContext) -> None:
    """An unknown fault, and a wrong place, are errors at the call."""
    for options, text in (
        ({"fault": "reset"}, "is unknown; the faults are: connection_reset"),
        ({"fault": "trunctated"}, "did you mean 'truncated'"),
        ({"after": 3}, "there is no fault"),
        ({"fault": "truncated", "after": -1}, "after is a number of bytes"),
        ({"fault": "empty_response", "after": 3}, "empty_response has no body"),
    ):
        try:
            await t(t.mocks.mock("**", **options))
        except UsageError as error:
            assert text in str(error), error
        else:
            raise AssertionError(f"{options} was accepted")
