"""What came, and what is to come."""

import re
from functools import partial
from typing import Any

from tests.testing.row_context import RowContext, row
from trafficmock.testing.errors import UsageError, WaitTimeoutError


@row
async def requests_in_order(t: RowContext) -> None:
    """``requests`` lists all traffic since the test began, passthrough and hops included."""
    base = f"{t.node_app.upstream_url}/redirect"
    urls = [t.url("echo", "?1"), f"{base}/1/{t.base}", f"{base}/0/{t.base}", t.url("echo", "?2")]
    await t.answer(urls[0], "mock")
    for url in (urls[0], urls[1], urls[3]):
        await t.fetch(url)

    async def listed() -> list[str]:
        return [request.url for request in await t.requests(re.compile(t.base))]

    async def is_complete() -> bool:
        return len(await listed()) >= len(urls)

    await t.until(is_complete)
    found = await listed()
    assert found == urls, found


@row
async def requests_filtered(t: RowContext) -> None:
    """``requests`` filters by what handlers made of the request."""
    url = t.url("echo")

    async def handler(route: Any, request: Any) -> None:
        await t(route.continue_(method="PUT", url=t.url("echo", "?changed")))

    await t.route(url, handler)
    await t.get(url)
    (found,) = await t.requests(t.url("echo", "?changed"), method="PUT", client_id="app")
    assert found.method == "PUT"
    assert await t.requests(t.url("echo", "?changed"), method="GET") == []


@row
async def responses_of_listed_requests(t: RowContext) -> None:
    """Requests that nobody watched have their responses too."""
    url = t.url("json")
    await t.get(url)
    (found,) = await t.requests(url)
    response = await t(found.response())
    assert (await t(response.json()))["from"] == "upstream"


@row
async def timeout_of_a_wait_is_checked(t: RowContext) -> None:
    """A timeout is a number of milliseconds, 0 or more."""
    for timeout in (-5, "1s"):
        try:
            await t(t.mocks.wait_for_request("**", timeout=timeout))
        except UsageError as error:
            assert re.match("timeout is milliseconds.*0 for no limit, not", str(error)), error
        else:
            raise AssertionError(f"{timeout} was accepted")


@row
async def wait_for_each_kind_of_matcher(t: RowContext) -> None:
    """Waiters take globs, patterns and predicates over what they wait for."""
    url = t.url("echo")

    async def by_coroutine(request: Any) -> bool:
        return bool(request.url == url)

    wanted = [f"**/{t.base}", re.compile(t.base), lambda request: request.url == url]
    if t.adapter.name != "blocking":
        wanted.append(by_coroutine)
    for each in wanted:
        assert (await t.expect("request", each, lambda: t.get(url))).url == url
    for each in wanted[:3]:
        assert (await t.expect("response", each, lambda: t.get(url))).url == url


@row
async def predicate_over_a_response(t: RowContext) -> None:
    """A predicate over a response may look at its status."""
    url = t.url("echo")

    async def act() -> None:
        await t.get(t.url("nothing"))
        await t.get(url)

    found = await t.expect("response", lambda r: t.base in r.url and r.status == 404, act)
    assert found.url == t.url("nothing")


@row
async def predicate_that_raises(t: RowContext) -> None:
    """A predicate that raises ends the wait with its error."""

    def bad(_: Any) -> bool:
        raise ValueError("bad predicate")

    try:
        await t.expect("request", bad, lambda: t.get(t.url("echo")))
    except ValueError as error:
        assert "bad predicate" in str(error)
        return
    raise AssertionError("the wait should fail")


@row
async def predicate_at_the_end_of_an_iterator(t: RowContext) -> None:
    """So does one that raises ``StopIteration``, which a future of asyncio does not take."""
    nothing: list[bool] = []

    def bad(_: Any) -> bool:
        return next(iter(nothing))

    try:
        await t.expect("request", bad, lambda: t.get(t.url("echo")))
    except RuntimeError as error:
        assert "StopIteration" in str(error)
        return
    raise AssertionError("the wait should fail")


@row
async def future_only(t: RowContext) -> None:
    """Requests before the wait do not count; the error says that it came too early."""
    url = t.url("echo")
    await t.get(url)
    try:
        await t(t.mocks.wait_for_request(url, timeout=200))
    except WaitTimeoutError as error:
        assert "Timeout 200ms" in str(error)
        assert f"GET {url} (client app): came before the wait began" in str(error), error
        return
    raise AssertionError("the wait should fail")


@row
async def future_only_by_request(t: RowContext) -> None:
    """The response to an earlier request does not count."""
    url, gate = t.url("echo"), t.adapter.gate()
    kept: list[Any] = []

    async def handler(route: Any, request: Any) -> None:
        kept.append(route)

    await t.route(url, handler)
    key = await t.begin(url)
    await t.until(lambda: kept)

    async def act() -> None:
        await t(kept.pop().fulfill(body="early"))
        await t.outcome(key)

    try:
        await t.expect("response", url, act, timeout=200)
    except WaitTimeoutError:
        gate.open()
        return
    raise AssertionError("the wait should fail")


@row
async def failures_are_no_responses(t: RowContext) -> None:
    """A request that failed answers no waiter for responses."""
    url = t.url("reset", "?times=9")
    try:
        await t.expect("response", url, lambda: t.get(url), timeout=200)
    except WaitTimeoutError as error:
        assert "no response (" in str(error), error
        return
    raise AssertionError("the wait should fail")


@row
async def each_kind_of_response(t: RowContext) -> None:
    """Mocks, continued requests and hops answer waiters."""
    mocked, continued = t.url("echo"), t.url("json")
    hop = f"{t.node_app.upstream_url}/redirect/1/{t.base}"
    await t.answer(mocked, "mock")

    async def handler(route: Any, request: Any) -> None:
        await t(route.continue_())

    await t.route(continued, handler)
    for url, status in ((mocked, 200), (continued, 200), (hop, 302)):
        response = await t.expect("response", url, partial(t.get, url))
        assert (response.url, response.status) == (url, status)


@row
async def says_which_part_differs(t: RowContext) -> None:
    """A wait that failed lists what came, nearest first, and the part that differs."""
    url = t.url("echo", "?page=2")
    await t.get(t.url("json"))

    async def act() -> None:
        await t.get(url)

    try:
        await t.expect("request", t.url("echo", "?page=1"), act, timeout=200)
    except WaitTimeoutError as error:
        lines = str(error).splitlines()
        difference = "query differs ('?page=2', not '?page=1')"
        assert lines[2] == f"  GET {url} (client app): {difference}", lines
        assert "path differs" in lines[3], lines
        return
    raise AssertionError("the wait should fail")


@row
async def who_looks_at_nothing_is_told_nothing(t: RowContext) -> None:
    """A test without waiters is told of nothing but what it owns."""
    url = t.url("echo")
    await t.get(url)
    await t.errors()
    session = t.mocks._session
    assert session.traffic.requests == {}
    assert [request.url for request in await t.requests(url)] == [url]
