"""``fulfill``: what handlers answer."""

import functools
import json
import tempfile
from pathlib import Path
from typing import Any

from tests.testing.row_context import RowContext, row
from trafficmock.testing.errors import UsageError


@row
async def fulfill_defaults(t: RowContext) -> None:
    """Without arguments it is an empty 200; status 0 is 200 too."""
    for options in ({}, {"status": 0}):
        url = t.url("echo", f"?{len(options)}")

        async def handler(route: Any, request: Any, options: Any = options) -> None:
            await t(route.fulfill(**options))

        await t.route(url, handler)
        outcome = await t.get(url)
        assert (outcome["status"], outcome["body"]) == (200, "")


@row
async def fulfill_headers(t: RowContext) -> None:
    """Values become strings, names lower case, ``None`` and transfer-encoding are left out."""

    async def handler(route: Any, request: Any) -> None:
        headers = {"X-Number": 5, "X-None": None, "Transfer-Encoding": "chunked"}
        await t(route.fulfill(status=203, headers=headers, body="b", content_type="text/x"))

    url = t.url("echo")
    await t.route(url, handler)
    outcome = await t.get(url)
    headers = outcome["headers"]
    assert outcome["status"] == 203
    assert (headers["x-number"], headers["content-type"]) == ("5", "text/x")
    assert headers["content-length"] == "1"
    assert not {"x-none", "transfer-encoding"} & headers.keys()


@row
async def fulfill_json_and_path(t: RowContext) -> None:
    """JSON and files bring their content types."""
    url, page = t.url("echo"), t.url("echo", "?file")

    async def as_json(route: Any, request: Any) -> None:
        await t(route.fulfill(json={"a": "ä"}))

    await t.route(url, as_json)
    outcome = await t.get(url)
    assert json.loads(outcome["body"]) == {"a": "ä"}
    assert outcome["headers"]["content-type"] == "application/json"
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "page.html"
        file.write_text("<p>")

        async def as_file(route: Any, request: Any) -> None:
            await t(route.fulfill(path=file))

        await t.route(page, as_file)
        outcome = await t.get(page)
    assert outcome["body"] == "<p>"
    assert outcome["headers"]["content-type"] == "text/html"


@row
async def fulfill_status_texts(t: RowContext) -> None:
    """The text beside the status is the one given, else the status's own."""
    cases = [
        ({"status": 418}, "I'm a Teapot"),
        ({"status": 404, "status_text": ""}, "Not Found"),
        ({"status": 401, "status_text": "Very Well"}, "Very Well"),
    ]
    for number, (options, wanted) in enumerate(cases):
        url = t.url("echo", f"?{number}")

        async def handler(route: Any, request: Any, options: Any = options) -> None:
            await t(route.fulfill(**options))

        await t.route(url, handler)
        response = await t.expect("response", url, functools.partial(t.get, url))
        assert response.status_text == wanted
        outcome = await t.get(url)
        assert outcome["statusText"] == wanted, outcome
        [entry, *_] = [each for each in await t.recorded() if each["request"]["url"] == url]
        assert entry["outcome"]["response"]["statusText"] == wanted


@row
async def fulfill_with_a_bad_status_text(t: RowContext) -> None:
    """A status text that HTTP cannot carry is refused, and may be given again."""
    url = t.url("echo")
    refused: list[str] = []

    async def handler(route: Any, request: Any) -> None:
        for text in ("a\r\nset-cookie: b=1", "€"):
            try:
                await t(route.fulfill(status_text=text))
            except UsageError as error:
                refused.append(str(error))
        await t(route.fulfill(status=202))

    await t.route(url, handler)
    assert (await t.get(url))["statusText"] == "Accepted"
    assert len(refused) == 2
    for each in refused:
        assert "status_text must be text" in each and "without control characters" in each


@row
async def fulfill_from_a_response(t: RowContext) -> None:
    """A response gives status, text, headers and body where nothing else is said."""
    url = t.url("json")

    async def handler(route: Any, request: Any) -> None:
        response = await t(route.fetch())
        await t(route.fulfill(response=response, status=202, headers={"x-only": "1"}))

    await t.route(url, handler)
    outcome = await t.get(url)
    assert (outcome["status"], outcome["headers"].get("x-only")) == (202, "1")
    assert "content-type" not in outcome["headers"]
    assert '"upstream"' in outcome["body"]
    assert outcome["statusText"] == "Accepted"


@row
async def fulfill_with_a_disposed_response(t: RowContext) -> None:
    """A response that was disposed of has no body any more."""
    url = t.url("json")
    errors: list[str] = []

    async def handler(route: Any, request: Any) -> None:
        response = await t(route.fetch())
        response.dispose()
        for attempt in (response.body, lambda: route.fulfill(response=response)):
            try:
                await t(attempt())
            except UsageError as error:
                errors.append(str(error))
        await t(route.fulfill(body="fine"))

    await t.route(url, handler)
    assert (await t.get(url))["body"] == "fine"
    assert ["disposed" in text for text in errors] == [True, True]


@row
async def fulfill_with_a_bad_mock(t: RowContext) -> None:
    """What no HTTP response can carry fails the test, not the application's process."""
    url = t.url("echo")

    async def handler(route: Any, request: Any) -> None:
        await t(route.fulfill(headers={"bad name": "x"}))

    await t.route(url, handler)
    assert "error" in await t.fetch(url)
    (error,) = await t.errors()
    assert isinstance(error, UsageError)
    assert "'bad name' is not a header name" in str(error)
    assert (await t.control_app("alive"))["pid"]


@row
async def fulfill_without_a_coding_that_the_body_lacks(t: RowContext) -> None:
    """A content-encoding that the body does not have is left out, whichever client asks."""
    for number, coding in enumerate(("br", "zstd", "gzip, br", "x-unknown", "gzip", "deflate")):
        url = t.url("echo", f"?{number}")

        async def handler(route: Any, request: Any, coding: str = coding) -> None:
            await t(route.fulfill(headers={"content-encoding": coding}, body="plain"))

        await t.route(url, handler)
        for outcome in (await t.get(url), await t.fetch(url)):
            assert outcome["body"] == "plain", (coding, outcome)
            assert "content-encoding" not in outcome["headers"], coding
