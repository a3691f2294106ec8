"""The beginning and the end of a test."""

import re
from typing import Any

from tests.testing.row_context import RowContext, row


@row
async def errors_are_taken_once(t: RowContext) -> None:
    """``take_errors`` returns and empties the list; the request was aborted."""
    url = t.url("echo")

    async def boom(route: Any, request: Any) -> None:
        raise ValueError("the handler's own text")

    await t.route(url, boom)
    assert "error" in await t.get(url)
    entries = await t.recorded()
    (entry,) = [each for each in entries if each["request"]["url"] == url]
    assert entry["outcome"]["errorCode"] == "failed", entry
    (error,) = await t.errors()
    assert isinstance(error, ValueError)
    notes = "\n".join(error.__notes__)
    assert re.search(r"boom .*\w\.(py|mjs):\d", notes), notes
    assert "raise ValueError" in notes or t.adapter.name == "javascript", notes
    assert await t.errors() == []


@row
async def registered_by_name(t: RowContext) -> None:
    """The proxy knows the test by its title when it owns something."""
    url = t.url("echo")
    await t.answer(url, "mine")
    await t.get(url)
    entries = await t.recorded()
    (entry,) = [each for each in entries if each["request"]["url"] == url]
    assert entry["title"].endswith("registered_by_name"), entry


@row
async def end_unregisters(t: RowContext) -> None:
    """After the end nothing of the test is left at the proxy."""
    workers = (await t.rest("/api/connections"))["playwrightWorkers"]
    (mine,) = [each for each in workers if each["testCount"]]
    assert mine["routeCount"] == 0, mine


@row
async def history_has_the_text(t: RowContext) -> None:
    """The text of a handler's error stands in the history beside the abort."""
    url = t.url("echo")

    async def boom(route: Any, request: Any) -> None:
        raise ValueError("the handler's own text")

    await t.route(url, boom)
    await t.get(url)
    entries = await t.recorded()
    (entry,) = [each for each in entries if each["request"]["url"] == url]
    assert "the handler's own text" in str(entry["events"]), entry
    assert len(await t.errors()) == 1
