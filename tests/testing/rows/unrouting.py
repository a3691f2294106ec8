"""Handlers that are removed, also while they run."""

import re
from typing import Any

from tests.testing.row_context import RowContext, row
from trafficmock.testing.errors import AlreadyHandledError


@row
async def unroute(t: RowContext) -> None:
    """``unroute`` takes the matcher and the handler as they were given."""
    url = t.url("echo")
    one = await t.answer(url, "one")
    await t.answer(url, "two")
    await t.answer(re.compile(t.base), "regex")
    await t(t.mocks.unroute(re.compile(t.base)))
    assert (await t.get(url))["body"] == "two"
    await t(t.mocks.unroute(url, one))
    assert (await t.get(url))["body"] == "two"
    await t.answer(url, "filtered", method="GET")
    await t(t.mocks.unroute(url))
    assert (await t.get(url))["body"] == "filtered"


@row
async def unroute_predicates_by_identity(t: RowContext) -> None:
    """Two functions that do the same are not the same matcher."""
    await t.answer(lambda url: t.base in url, "kept")
    await t(t.mocks.unroute(lambda url: t.base in url))
    assert (await t.get(t.url("echo")))["body"] == "kept"


async def held_request(t: RowContext, url: str, gate: Any) -> str:
    """Begin a request, and come back once its handler runs."""
    started: list[str] = []

    async def handler(route: Any, request: Any) -> None:
        started.append(request.url)
        await t(gate.wait())
        await t(route.fulfill(body="held"))

    await t.route(url, handler)
    key: str = ""

    async def act() -> None:
        nonlocal key
        key = await t.begin(url)

    await t.expect("request", url, act)
    await t.until(lambda: started)
    return key


@row
async def unroute_all_lets_go(t: RowContext) -> None:
    """By default ``unroute_all`` lets the requests of running handlers go on."""
    url, gate = t.url("echo"), t.adapter.gate()
    key = await held_request(t, url, gate)
    await t(t.mocks.unroute_all())
    assert '"path"' in (await t.outcome(key))["body"]
    gate.open()
    (error,) = await t.late_errors()
    assert isinstance(error, AlreadyHandledError)
    assert '"path"' in (await t.get(url))["body"]


@row
async def unroute_all_ignores(t: RowContext) -> None:
    """With ``ignoreErrors`` what running handlers raise later is swallowed."""
    url, gate = t.url("echo"), t.adapter.gate()
    started: list[str] = []

    async def handler(route: Any, request: Any) -> None:
        started.append(request.url)
        await t(gate.wait())
        raise ValueError("late")

    await t.route(url, handler)
    key = await t.begin(url)
    await t.until(lambda: started)
    await t(t.mocks.unroute_all(behavior="ignoreErrors"))
    gate.open()
    assert '"path"' in (await t.outcome(key))["body"]
    assert await t.errors() == []


@row
async def unroute_all_waits(t: RowContext) -> None:
    """With ``wait`` it is done when running handlers are."""
    url, gate = t.url("echo"), t.adapter.gate()
    key = await held_request(t, url, gate)
    gate.open()
    await t(t.mocks.unroute_all(behavior="wait"))
    assert (await t.outcome(key))["body"] == "held"
