"""Who handles what: order and ``times``."""

import math
from typing import Any

from tests.testing.row_context import RowContext, row
from trafficmock.testing.errors import UsageError


@row
async def newest_first(t: RowContext) -> None:
    """The newest handler that matches is asked first."""
    url = t.url("echo")
    await t.answer(url, "old")
    await t.answer("**/*", "new")
    await t.answer("**/nothing", "other")
    assert (await t.get(url))["body"] == "new"


@row
async def times(t: RowContext) -> None:
    """A handler with ``times`` is gone after so many calls."""
    url = t.url("echo")
    await t.answer(url, "always")
    await t.answer(url, "twice", times=2)
    bodies = [(await t.get(url))["body"] for _ in range(3)]
    assert bodies == ["twice", "twice", "always"]


@row
async def odd_times(t: RowContext) -> None:
    """Zero and less count as one; NaN never ends."""
    url = t.url("echo")
    await t.answer(url, "for ever", times=math.nan)
    await t.answer(url, "minus", times=-3)
    await t.answer(url, "zero", times=0)
    bodies = [(await t.get(url))["body"] for _ in range(4)]
    assert bodies == ["zero", "minus", "for ever", "for ever"]


@row
async def a_fallback_counts(t: RowContext) -> None:
    """A call that falls back counts for ``times``."""
    url = t.url("echo")
    await t.answer(url, "below")
    calls = []

    async def handler(route: Any, request: Any) -> None:
        calls.append(request.url)
        await t(route.fallback())

    await t.route(url, handler, times=1)
    assert [(await t.get(url))["body"] for _ in range(2)] == ["below", "below"]
    assert len(calls) == 1


@row
async def two_at_once_on_times_one(t: RowContext) -> None:
    """Of two requests at once, a ``times=1`` handler gets one; the other goes to the network."""
    url = t.url("echo")
    gate = t.adapter.gate()

    async def handler(route: Any, request: Any) -> None:
        await t(gate.wait())
        await t(route.fulfill(body="mock"))

    await t.route(url, handler, times=1)
    first, second = await t.begin(url), await t.begin(url)
    other = await t.outcome(second)
    gate.open()
    assert (await t.outcome(first))["body"] == "mock"
    assert other["body"] != "mock"
    assert len(await t.upstream(f"seen?path=/echo/{t.base}")) == 1


@row
async def unwanted_match_is_declined(t: RowContext) -> None:
    """What nobody in the test wants any more passes through, without an owner."""
    url = t.url("echo")
    await t.answer(url, "once", times=1)
    first, second = await t.begin(url), await t.begin(url)
    bodies = [(await t.outcome(key))["body"] for key in (first, second)]
    assert sum(body == "once" for body in bodies) == 1
    entries = await t.recorded()
    actions = sorted(each["action"] for each in entries if each["request"]["url"] == url)
    assert actions == ["fulfill", "passthrough"], actions


@row
async def handlers_of_one_argument(t: RowContext) -> None:
    """A handler may take the route alone, as in Playwright for Python."""
    url = t.url("echo")
    await t(t.mocks.route(url, lambda route: route.fulfill(body="alone")))
    assert (await t.get(url))["body"] == "alone"


@row
async def no_handler(t: RowContext) -> None:
    """What cannot be called is refused at once, as are words that mean nothing."""
    attempts = (
        lambda: t.mocks.route("**/*", "text"),
        lambda: t.mocks.route_web_socket("**/*", None),
        lambda: t.mocks.wait_for_request(5),
        lambda: t.mocks.unroute_all(behavior="later"),
        lambda: t.mocks.route_from_har("x.har", not_found="ignore"),
        lambda: t.mocks.route_from_har("x.har", update=True, update_content="omit"),
        lambda: t.mocks.route_from_har("x.har", update=True, update_mode="all"),
        lambda: t.mocks.route_from_har("x.har", mode="often"),
        lambda: t.mocks.route_from_har("x.har", update="no"),
        lambda: t.mocks.route("**/*", lambda route: route.fallback(), required="no"),
        lambda: t.mocks.route("**/*", lambda route: route.fallback(), times="2"),
        lambda: t.mocks.stream("**/*", required="no"),
        lambda: t.mocks.route_from_har("x.har", mode="once", update=True),
    )
    for attempt in attempts:
        try:
            await t(attempt())
        except UsageError:
            continue
        raise AssertionError(f"accepted attempt {attempts.index(attempt)}")
