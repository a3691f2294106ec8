"""Fallbacks from handler to handler."""

import re
from typing import Any

from tests.testing.row_context import RowContext, row
from trafficmock.errors import TrafficMockError


@row
async def chain_sees_the_changes(t: RowContext) -> None:
    """After a fallback the others are matched against the request as changed."""
    url = t.url("echo")
    await t.answer("**/changed", "changed url")
    await t.answer(url, "unchanged url")

    async def handler(route: Any, request: Any) -> None:
        await t(route.fallback(url=f"{t.node_app.upstream_url}/changed", method="PUT"))

    await t.route(url, handler)
    assert (await t.get(url))["body"] == "changed url"


@row
async def chain_exhausted(t: RowContext) -> None:
    """When nobody is left the request goes on with all changes."""
    url = t.url("echo")

    async def first(route: Any, request: Any) -> None:
        assert request.post_data == "two"
        await t(route.fallback(headers={"x-one": "1"}))

    async def second(route: Any, request: Any) -> None:
        await t(route.fallback(method="PUT", post_data="two"))

    await t.route(url, first)
    await t.route(url, second)
    seen = (await t.get(url, method="POST", body="one"))["body"]
    assert '"method":"PUT"' in seen and '"body":"two"' in seen and '"x-one":"1"' in seen, seen


@row
async def chain_to_another_scheme(t: RowContext) -> None:
    """Changes that end on another scheme fail the request and the test; nothing stalls."""
    url = t.url("echo")

    async def handler(route: Any, request: Any) -> None:
        await t(route.fallback(url="https://h.test/"))

    await t.route(url, handler)
    assert "error" in await t.get(url)
    (error,) = await t.late_errors()
    assert isinstance(error, TrafficMockError)
    assert "same protocol" in str(error)
    assert re.search(r"The route is .*echo.* \(.+:\d+\) of the test ", str(error)), error


@row
async def removed_while_the_chain_runs(t: RowContext) -> None:
    """A handler that was removed meanwhile is skipped."""
    url = t.url("echo")
    below = await t.answer(url, "removed")

    async def handler(route: Any, request: Any) -> None:
        await t(t.mocks.unroute(url, below))
        await t(route.fallback())

    await t.route(url, handler)
    assert '"path"' in (await t.get(url))["body"]


@row
async def throws_after_fallback(t: RowContext) -> None:
    """A handler that raises after it fell back ends the chain."""
    url = t.url("echo")
    await t.answer(url, "below")

    async def handler(route: Any, request: Any) -> None:
        await t(route.fallback())
        raise ValueError("after all")

    await t.route(url, handler)
    assert "error" in await t.get(url)
    assert len(await t.errors()) == 1
