"""``fault``: answers that break as those of a failing server do."""

from typing import Any

from tests.testing.row_context import RowContext, row
from tests.testing.rows.streaming import got, read, refused, rest
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


@row
async def broken_real_answers(t: RowContext) -> None:
    """``continue_`` with a fault breaks the real answer on its way back."""
    url = t.url("echo")
    seen: list[str] = []

    async def handler(route: Any, request: Any) -> None:
        fault = request.url.partition("?")[2]
        seen.append(fault)
        await t(route.continue_(fault=fault))

    await t.route(f"{url}*", handler)
    for fault in BREAKING:
        assert "error" in await t.get(f"{url}?{fault}"), fault
    assert seen == list(BREAKING)


@row
async def broken_real_answer_after_a_part(t: RowContext) -> None:
    """The application has the bytes before the fault, and the history says what happened."""
    url = t.url("echo")

    async def handler(route: Any, request: Any) -> None:
        await t(route.continue_(fault="truncated", after=10))

    await t.route(url, handler)
    reader = read(t, "echo")
    await got(t, reader)
    content, error = await rest(t, reader)
    assert (len(content), type(error).__name__) == (10, "RemoteProtocolError"), error
    await t.until(lambda: says(t, url, "the fault truncated of the test, after 10 bytes"))


async def says(t: RowContext, url: str, text: str) -> bool:
    """Tell whether the history has a text among the events of a request."""
    entries = await t.recorded()
    (entry,) = [each for each in entries if each["request"]["url"] == url]
    return text in str(entry["events"])


@row
async def faults_of_decisions_are_checked(t: RowContext) -> None:
    """A wrong fault, or a rate beside one, is an error in the handler, and no decision."""
    url = t.url("echo")
    said: list[str] = []

    async def handler(route: Any, request: Any) -> None:
        calls = (
            lambda: route.continue_(fault="reset"),
            lambda: route.continue_(after=1),
            lambda: route.continue_(rate=0),
            lambda: route.continue_(rate=10, fault="stall"),
            lambda: route.fulfill(body="x", rate=10, fault="stall"),
        )
        said.extend([await refused(t, call) for call in calls])
        await t(route.continue_())

    await t.route(url, handler)
    assert (await t.get(url))["status"] == 200
    assert "is unknown; the faults are" in said[0]
    assert "there is no fault" in said[1]
    assert said[2] == "rate is a number of bytes in a second, 1 or more, not 0"
    assert said[3:] == ["rate excludes fault"] * 2
