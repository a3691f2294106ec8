"""``fetch``: what handlers ask upstream."""

import json
from typing import Any

from tests.testing.row_context import ALONE, RowContext, row
from trafficmock.testing.errors import FetchError, UsageError


@row
async def fetch_then_modify(t: RowContext) -> None:
    """``fetch`` decides nothing, may be repeated, and its response can be built upon."""
    url = t.url("json")

    async def handler(route: Any, request: Any) -> None:
        first = await t(route.fetch())
        second = await t(route.fetch(url=t.url("echo")))
        found = {**await t(first.json()), "path": (await t(second.json()))["path"]}
        await t(route.fulfill(response=first, json=found))

    await t.route(url, handler)
    outcome = await t.get(url)
    body = json.loads(outcome["body"])
    assert body["items"] == [1, 2]
    assert body["path"] == f"/echo/{t.base}"
    assert int(outcome["headers"]["content-length"]) == len(outcome["body"])


@row
async def fetch_starts_from_the_changes(t: RowContext) -> None:
    """``fetch`` starts from the changes so far, its options win, and they leave no trace."""
    url = t.url("echo")
    seen: list[Any] = []

    async def above(route: Any, request: Any) -> None:
        await t(route.fallback(method="PUT", post_data="above"))

    async def handler(route: Any, request: Any) -> None:
        response = await t(route.fetch(headers={"x-n": 5, "cookie": "c=1"}, post_data={"a": 1}))
        seen.append(await t(response.json()))
        seen.append(request.post_data)
        response = await t(route.fetch(post_data="text"))
        seen.append(await t(response.json()))
        await t(route.fulfill(response=response))

    await t.route(url, handler)
    await t.route(url, above)
    await t.get(url, method="POST", body="b", headers={"x-old": "1"})
    first, body, second = seen
    assert (first["method"], json.loads(first["body"])) == ("PUT", {"a": 1})
    assert (first["headers"]["x-n"], first["headers"]["cookie"]) == ("5", "c=1")
    assert first["headers"]["content-type"] == "application/json"
    assert body == "above"
    assert second["headers"]["content-type"] == "application/octet-stream"
    assert second["headers"]["x-old"] == "1"


@row
async def fetch_of_text_as_json(t: RowContext) -> None:
    """A text that is no JSON, sent as JSON, becomes a JSON string."""
    seen: list[str] = []

    async def handler(route: Any, request: Any) -> None:
        json_type = {"content-type": "application/json"}
        for text in ("plain", '{"a":1}'):
            response = await t(route.fetch(method="POST", headers=json_type, post_data=text))
            seen.append((await t(response.json()))["body"])
        await t(route.fulfill(body=""))

    url = t.url("echo")
    await t.route(url, handler)
    await t.get(url)
    assert seen == ['"plain"', '{"a":1}'], seen


@row
async def fetch_refuses(t: RowContext) -> None:
    """Negative counts and URLs that are not HTTP's are refused before anything is sent."""
    errors: list[str] = []

    async def handler(route: Any, request: Any) -> None:
        for bad in ({"max_redirects": -1}, {"max_retries": -1}, {"url": "file:///x"}):
            try:
                await t(route.fetch(**bad))
            except UsageError as error:
                errors.append(str(error))
        await t(route.fulfill(body="fine"))

    url = t.url("echo")
    await t.route(url, handler)
    outcome = await t.get(url)
    assert outcome["body"] == "fine", outcome
    assert ["maxRedirects" in errors[0], "maxRetries" in errors[1], "protocol" in errors[2]] == [
        True
    ] * 3


@row
async def fetch_relative(t: RowContext) -> None:
    """A relative URL is resolved against the request's."""

    async def handler(route: Any, request: Any) -> None:
        response = await t(route.fetch(url="/json/other"))
        await t(route.fulfill(response=response))

    url = t.url("echo")
    await t.route(url, handler)
    assert '"upstream"' in (await t.get(url))["body"]


@row
async def fetch_redirects(t: RowContext) -> None:
    """``max_redirects`` follows so many redirects, none, or fails beyond them."""
    seen: list[Any] = []

    async def handler(route: Any, request: Any) -> None:
        seen.append((await t(route.fetch(max_redirects=0))).status)
        seen.append((await t(route.fetch(max_redirects=2))).status)
        try:
            await t(route.fetch(max_redirects=1))
        except FetchError as error:
            seen.append(str(error))
        await t(route.fulfill(body="done"))

    url = f"{t.node_app.upstream_url}/redirect/2/{t.base}"
    await t.route(url, handler)
    await t.get(url)
    assert seen[:2] == [302, 200], seen
    assert "max redirect count exceeded" in seen[2].lower()


@row
async def fetch_retries(t: RowContext) -> None:
    """``max_retries`` survives so many resets."""
    url = t.url("reset", "?times=2")

    async def handler(route: Any, request: Any) -> None:
        await t(route.fulfill(response=await t(route.fetch(max_retries=2))))

    await t.route(url, handler)
    outcome = await t.get(url, headers=ALONE)
    assert json.loads(outcome["body"]) == {"attempts": 3}


@row
async def fetch_times_out(t: RowContext) -> None:
    """``fetch`` gives up after its timeout, in milliseconds."""
    url = f"{t.node_app.upstream_url}/held/{t.base}"
    errors: list[str] = []

    async def handler(route: Any, request: Any) -> None:
        try:
            await t(route.fetch(timeout=-50))
        except UsageError as error:
            errors.append(str(error))
        try:
            await t(route.fetch(timeout=50))
        except FetchError as error:
            errors.append(str(error))
        await t(route.fulfill(body="given up"))

    await t.route(url, handler)
    assert (await t.get(url))["body"] == "given up"
    wrong, late = errors
    assert "0 for no limit, not -50" in wrong, wrong
    assert "Timeout 50ms" in late, late
