"""What handlers do with a request: let it go on, or fail it."""

import json
from typing import Any

from tests.testing.row_context import RowContext, row
from trafficmock.testing.errors import UsageError

CODES = {
    "failed": "failed",
    "aborted": "aborted",
    "timedout": "timedout",
    "connectionrefused": "connectionrefused",
    "connectionreset": "connectionreset",
    "namenotresolved": "namenotresolved",
    "accessdenied": "failed",
    "internetdisconnected": "failed",
}


async def echo_of(t: RowContext, action: Any, **command: Any) -> Any:
    """Let a handler act on a request to the echo page; give what upstream saw."""
    url = t.url("echo")
    await t.route(url, action)
    outcome = await t.get(url, **command)
    assert "body" in outcome, outcome
    return json.loads(outcome["body"])


@row
async def continue_with_all_overrides(t: RowContext) -> None:
    """``continue_`` changes URL, method, headers and body."""

    async def handler(route: Any, request: Any) -> None:
        await t(
            route.continue_(
                url=t.url("echo", "?changed"),
                method="PUT",
                headers={"x-new": "1", "gone": None},
                post_data={"a": [1]},
            )
        )

    seen = await echo_of(t, handler, method="POST", headers={"x-old": "1"}, body="b")
    assert (seen["method"], json.loads(seen["body"])) == ("PUT", {"a": [1]})
    assert seen["path"].endswith("?changed")
    assert seen["headers"]["x-new"] == "1"
    assert seen["headers"]["content-length"] == str(len(seen["body"]))
    assert "x-old" not in seen["headers"]


@row
async def continue_keeps_forbidden_headers(t: RowContext) -> None:
    """Headers that handlers cannot set keep the original's values."""

    async def handler(route: Any, request: Any) -> None:
        headers = {"cookie": "evil=1", "Sec-Thing": "evil", "referer": "evil", "x": "1"}
        await t(route.continue_(headers=headers))

    sent = {"cookie": "a=1", "sec-thing": "kept", "y": "2"}
    headers = (await echo_of(t, handler, headers=sent))["headers"]
    assert (headers["cookie"], headers["sec-thing"], headers["x"]) == ("a=1", "kept", "1")
    assert "referer" not in headers
    assert "y" not in headers


@row
async def continue_without_body(t: RowContext) -> None:
    """An empty body is no body; other falsy values change nothing."""

    async def handler(route: Any, request: Any) -> None:
        await t(route.fallback(post_data=0))
        # The next handler sends it on.

    async def last(route: Any, request: Any) -> None:
        assert request.post_data == "b"
        await t(route.continue_(post_data=""))

    await t.route(t.url("echo"), last)
    assert (await echo_of(t, handler, method="POST", body="b"))["body"] == ""


@row
async def continue_refuses(t: RowContext) -> None:
    """Another scheme and a header value that is no string are refused, and undecided."""
    errors: list[str] = []

    async def handler(route: Any, request: Any) -> None:
        for bad in ({"url": "https://h.test/"}, {"headers": {"x": 1}}, {"url": "nonsense"}):
            try:
                await t(route.continue_(**bad))
            except UsageError as error:
                errors.append(str(error))
        await t(route.continue_(method=""))

    assert (await echo_of(t, handler))["method"] == "GET"
    assert "same protocol" in errors[0]
    assert len(errors) == 3


@row
async def abort_codes(t: RowContext) -> None:
    """Six codes reach the application; Playwright's others are ``failed``."""
    for code, expected in CODES.items():
        url = t.url("echo", f"?{code}")

        async def handler(route: Any, request: Any, code: str = code) -> None:
            await t(route.abort(code))

        await t.route(url, handler)
        assert "error" in await t.get(url)
        entries = await t.recorded()
        (entry,) = [each for each in entries if each["request"]["url"] == url]
        assert entry["outcome"]["errorCode"] == expected, (code, entry)


@row
async def unknown_abort_code(t: RowContext) -> None:
    """A code that Playwright does not have is refused at the call, and the route stays open."""
    url = t.url("echo")
    errors: list[str] = []

    async def handler(route: Any, request: Any) -> None:
        try:
            await t(route.abort("nonsense"))
        except ValueError as error:
            errors.append(str(error))
            await t(route.abort("timedout"))

    await t.route(url, handler)
    assert "error" in await t.get(url)
    assert len(errors) == 1
    assert "abort: 'nonsense' is unknown; the error codes of Playwright are" in errors[0]


@row
async def response_of_an_aborted_request(t: RowContext) -> None:
    """An aborted request has no response."""
    url = t.url("echo")

    async def handler(route: Any, request: Any) -> None:
        await t(route.abort())

    await t.route(url, handler)
    request = await t.expect("request", url, lambda: t.get(url))
    assert await t(request.response()) is None
