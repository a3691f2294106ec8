"""What ``route`` and ``mock`` return: the route, with the requests that met it."""

from typing import Any

from tests.testing.row_context import RowContext, row


@row
async def counted_requests(t: RowContext) -> None:
    """A mock and a route count the requests that they decided, and have them in their order."""
    mocked, routed = t.url("mocked"), t.url("routed")
    charge = await t(t.mocks.mock(f"{mocked}*", status=201))

    async def handler(route: Any, request: Any) -> None:
        await t(route.fulfill(status=202))

    orders = await t(t.mocks.route(routed, handler))
    assert await t(charge.call_count) == 0
    assert await t(orders.requests()) == []
    for url in (mocked, f"{mocked}?2", routed):
        await t.get(url)
    assert await t(charge.call_count) == 2
    assert [request.url for request in await t(charge.requests())] == [mocked, f"{mocked}?2"]
    assert await t(orders.call_count) == 1
    assert [request.url for request in await t(orders.requests())] == [routed]


@row
async def only_who_was_met(t: RowContext) -> None:
    """A request counts for each route that it came to, and for no other."""
    url = t.url("echo")
    older = await t(t.mocks.mock(url, status=204))
    other = await t(t.mocks.mock(t.url("other"), status=204))

    async def fall_back(route: Any, request: Any) -> None:
        await t(route.fallback())

    newer = await t(t.mocks.route(url, fall_back))
    await t.get(url)
    assert [await t(each.call_count) for each in (older, other, newer)] == [1, 0, 1]


@row
async def removed_by_handle(t: RowContext) -> None:
    """``unroute`` of a route removes this one alone, and counts on as it was; twice is no error."""
    url = t.url("echo")
    older = await t(t.mocks.mock(url, status=201))
    newer = await t(t.mocks.mock(url, status=202))
    assert (await t.get(url))["status"] == 202
    await t(newer.unroute())
    assert (await t.get(url))["status"] == 201
    await t(newer.unroute())
    assert [await t(each.call_count) for each in (older, newer)] == [1, 1]


@row
async def handle_of_used_route(t: RowContext) -> None:
    """A route that ``times`` has removed keeps its requests."""
    url = t.url("echo")
    await t(t.mocks.mock(url, status=201))
    once = await t(t.mocks.mock(url, status=503, times=1))
    assert [(await t.get(url))["status"] for _ in range(2)] == [503, 201]
    assert await t(once.call_count) == 1
    await t(once.unroute())
