"""Requests and responses as tests see them."""

import json
from typing import Any

from tests.testing.row_context import RowContext, row
from trafficmock.testing.errors import UsageError


@row
async def request_properties(t: RowContext) -> None:
    """A request has Playwright's properties."""
    url = t.url("echo", "?a=1")
    request = await t.expect(
        "request", url, lambda: t.get(url, method="POST", headers={"X-A": "1"}, body="täxt")
    )
    assert (request.url, request.method, request.client_id) == (url, "POST", "app")
    assert request.headers["x-a"] == "1"
    request.headers["x-a"] = "changed"
    assert request.headers["x-a"] == "1"
    assert (await t(request.all_headers()))["x-a"] == "1"
    assert {"name": "x-a", "value": "1"} in await t(request.headers_array())
    assert await t(request.header_value("X-a")) == "1"
    assert await t(request.header_value("x-none")) is None
    assert request.post_data == "täxt"
    assert request.post_data_buffer == "täxt".encode()
    assert (request.resource_type, request.failure, request.service_worker) == ("other", None, None)
    assert request.is_navigation_request() is False
    assert set(request.timing) >= {"startTime", "responseEnd"}
    assert set(await t(request.sizes())) >= {"requestBodySize"}
    assert request.redirected_from is None
    assert request.redirected_to is None
    assert await t(request.response()) is request.existing_response
    for read in (
        lambda: request.frame,
        lambda: request.existing_response.frame,
        lambda: request.post_data_json,
    ):
        try:
            read()
        except UsageError:
            continue
        raise AssertionError(read)


@row
async def bodies(t: RowContext) -> None:
    """JSON bodies are read, forms give their last values, no body gives ``None``."""
    url = t.url("echo")
    seen: list[Any] = []

    async def handler(route: Any, request: Any) -> None:
        seen.append(request.post_data_json)
        await t(route.fulfill())

    await t.route(url, handler)
    form = {"content-type": "application/x-www-form-urlencoded"}
    await t.get(url, method="POST", body='{"a":[1]}')
    await t.get(url, method="POST", headers=form, body="a=1&a=2&b=")
    await t.get(url)
    assert seen == [{"a": [1]}, {"a": "2", "b": ""}, None]


@row
async def bad_json(t: RowContext) -> None:
    """A body that is not JSON says so when it is read as such."""
    url = t.url("echo")
    request = await t.expect("request", url, lambda: t.get(url, method="POST", body="{"))
    try:
        request.post_data_json  # noqa: B018 - reading raises
    except UsageError as error:
        assert "not a valid JSON object" in str(error)
        return
    raise AssertionError(request)


@row
async def response_properties(t: RowContext) -> None:
    """A response has Playwright's properties."""
    url = t.url("cookies")
    response = await t.expect("response", url, lambda: t.get(url))
    assert (response.status, response.ok, response.url) == (200, True, url)
    assert response.status_text == "OK"
    assert response.header_value("Content-Type") == "text/plain"
    assert response.header_value("x-none") is None
    assert {"name": "content-type", "value": "text/plain"} in response.headers_array()
    assert "a=1" in response.headers["set-cookie"]
    assert response.all_headers() == response.headers
    assert response.header_values("Content-Type") == ["text/plain"]
    assert response.header_values("x-none") == []
    assert await t(response.body()) == b"two cookies"
    assert await t(response.text()) == "two cookies"
    assert response.request.url == url
    assert response.from_service_worker is False
    try:
        await t(response.json())
    except json.JSONDecodeError:
        return
    raise AssertionError(response)


@row
async def same_response(t: RowContext) -> None:
    """A waiter's response, the request's and its existing one are the same object."""
    url = t.url("json")
    response = await t.expect("response", url, lambda: t.get(url))
    assert response.request.existing_response is response
    assert await t(response.request.response()) is response


@row
async def response_of_a_mock(t: RowContext) -> None:
    """The owner's request is answered by its mock, whether anybody watches or not."""
    url = t.url("echo")
    requests: list[Any] = []

    async def handler(route: Any, request: Any) -> None:
        requests.append(request)
        await t(route.fulfill(status=418, body="tea"))

    await t.route(url, handler)
    await t.get(url)
    response = await t(requests[0].response())
    assert (response.status, response.ok, response.url) == (418, False, url)
    assert await t(response.text()) == "tea"


@row
async def response_of_a_continued_request(t: RowContext) -> None:
    """The owner's request is answered by upstream, whether anybody watches or not."""
    url = t.url("json")
    requests: list[Any] = []

    async def handler(route: Any, request: Any) -> None:
        requests.append(request)
        await t(route.continue_())

    await t.route(url, handler)
    await t.get(url)
    response = await t(requests[0].response())
    assert (await t(response.json()))["from"] == "upstream"


@row
async def redirects_are_linked(t: RowContext) -> None:
    """Hops of a redirect know each other."""
    base = f"{t.node_app.upstream_url}/redirect"
    last = await t.expect("response", f"{base}/0/{t.base}", lambda: t.fetch(f"{base}/2/{t.base}"))
    urls = []
    request = last.request
    while request is not None:
        urls.append(request.url)
        request = request.redirected_from
    assert urls == [f"{base}/{left}/{t.base}" for left in range(3)], urls
    assert last.request.redirected_from.redirected_to is last.request
    assert last.request.redirected_from.existing_response.status == 302
