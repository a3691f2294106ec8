"""``delay``: decisions and fixed answers that the proxy sends later."""

import time
from typing import Any

from tests.testing.row_context import RowContext, row
from trafficmock.testing.errors import UsageError

DELAY_MS = 150
"""Long enough to be seen in the time that a request takes."""


async def seconds_of(t: RowContext, url: str) -> tuple[Any, float]:
    """Let the application ask; give the outcome and the seconds it took."""
    began = time.monotonic()
    outcome = await t.get(url)
    return outcome, time.monotonic() - began


@row
async def delayed_answer(t: RowContext) -> None:
    """``mock`` with a delay answers each request when that is over."""
    url = t.url("echo")
    await t(t.mocks.mock(url, status=203, delay=DELAY_MS))
    for _ in range(2):
        outcome, seconds = await seconds_of(t, url)
        assert outcome["status"] == 203
        assert seconds * 1000 >= DELAY_MS, seconds


@row
async def delayed_decisions(t: RowContext) -> None:
    """The decisions of a handler take effect when their delay is over."""
    url = t.url("echo")

    async def handler(route: Any, request: Any) -> None:
        if "fulfil" in request.url:
            await t(route.fulfill(body="later", delay=DELAY_MS))
        elif "continue" in request.url:
            await t(route.continue_(delay=DELAY_MS))
        else:
            await t(route.abort("timedout", delay=DELAY_MS))

    await t.route(f"{url}*", handler)
    for how in ("fulfil", "continue", "abort"):
        outcome, seconds = await seconds_of(t, f"{url}?{how}")
        assert ("error" in outcome) == (how == "abort")
        assert seconds * 1000 >= DELAY_MS, (how, seconds)


@row
async def invalid_delay(t: RowContext) -> None:
    """A delay that is negative, or no number, is an error at the call."""
    for wrong in (-1, "1s"):
        try:
            await t(t.mocks.mock("**", delay=wrong))
        except UsageError as error:
            assert "delay is milliseconds" in str(error)
        else:
            raise AssertionError(f"{wrong} was accepted")
