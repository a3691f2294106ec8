"""What handlers can do with a request."""

import json
import tempfile
from pathlib import Path
from typing import Any

from tests.testing.scene import ALONE, Scene, ours, row
from trafficmock.testing.errors import FetchError, UsageError

CODES = {
    "failed": "failed",
    "aborted": "aborted",
    "timedout": "timedout",
    "connectionrefused": "connectionrefused",
    "connectionreset": "connectionreset",
    "namenotresolved": "namenotresolved",
    "accessdenied": "failed",
    "internetdisconnected": "failed",
    "anything": "failed",
}


async def echo_of(t: Scene, action: Any, **command: Any) -> Any:
    """Let a handler act on a request to the echo page; give what upstream saw."""
    url = t.url("echo")
    await t.route(url, action)
    outcome = await t.get(url, **command)
    assert "body" in outcome, outcome
    return json.loads(outcome["body"])


@row
async def continue_with_all_overrides(t: Scene) -> None:
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
    assert (seen["method"], seen["body"]) == ("PUT", '{"a": [1]}')
    assert seen["path"].endswith("?changed")
    assert seen["headers"]["x-new"] == "1"
    assert seen["headers"]["content-length"] == "10"
    assert "x-old" not in seen["headers"]


@row
async def continue_keeps_forbidden_headers(t: Scene) -> None:
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
async def continue_without_body(t: Scene) -> None:
    """An empty body is no body; falsy values that are none change nothing."""

    async def handler(route: Any, request: Any) -> None:
        await t(route.fallback(post_data=0))
        # The next handler sends it on.

    async def last(route: Any, request: Any) -> None:
        assert request.post_data == "b"
        await t(route.continue_(post_data=""))

    await t.route(t.url("echo"), last)
    assert (await echo_of(t, handler, method="POST", body="b"))["body"] == ""


@row
async def continue_refuses(t: Scene) -> None:
    """Another scheme and a header value that is no string are refused, and undecided."""
    told: list[str] = []

    async def handler(route: Any, request: Any) -> None:
        for bad in ({"url": "https://h.test/"}, {"headers": {"x": 1}}, {"url": "nonsense"}):
            try:
                await t(route.continue_(**bad))
            except UsageError as error:
                told.append(str(error))
        await t(route.continue_(method=""))

    assert (await echo_of(t, handler))["method"] == "GET"
    assert "same protocol" in told[0]
    assert len(told) == 3


@row
async def abort_codes(t: Scene) -> None:
    """Six codes reach the application; the others are ``failed``."""
    for code, expected in CODES.items():
        url = t.url("echo", f"?{code}")

        async def handler(route: Any, request: Any, code: str = code) -> None:
            await t(route.abort(code))

        await t.route(url, handler)
        assert "error" in await t.get(url)
        entries = (await t.rest("/api/history"))["entries"]
        (entry,) = [each for each in entries if each["request"]["url"] == url]
        assert entry["outcome"]["errorCode"] == expected, (code, entry)


@row
async def response_of_an_aborted_request(t: Scene) -> None:
    """The response of an aborted request is none."""
    url = t.url("echo")

    async def handler(route: Any, request: Any) -> None:
        await t(route.abort())

    await t.route(url, handler)
    request = await t.expect("request", url, lambda: t.get(url))
    assert await t(request.response()) is None


@row
async def fetch_then_modify(t: Scene) -> None:
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
async def fetch_starts_from_the_changes(t: Scene) -> None:
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
    assert (first["method"], first["body"]) == ("PUT", '{"a": 1}')
    assert (first["headers"]["x-n"], first["headers"]["cookie"]) == ("5", "c=1")
    assert first["headers"]["content-type"] == "application/json"
    assert body == "above"
    assert second["headers"]["content-type"] == "application/octet-stream"
    assert second["headers"]["x-old"] == "1"


@row
async def fetch_of_text_as_json(t: Scene) -> None:
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
async def fetch_refuses(t: Scene) -> None:
    """Negative counts and URLs that are not HTTP's are refused before anything is sent."""
    told: list[str] = []

    async def handler(route: Any, request: Any) -> None:
        for bad in ({"max_redirects": -1}, {"max_retries": -1}, {"url": "file:///x"}):
            try:
                await t(route.fetch(**bad))
            except UsageError as error:
                told.append(str(error))
        await t(route.fulfill(body="fine"))

    url = t.url("echo")
    await t.route(url, handler)
    outcome = await t.get(url)
    assert outcome["body"] == "fine", outcome
    assert ["maxRedirects" in told[0], "maxRetries" in told[1], "protocol" in told[2]] == [True] * 3


@row
async def fetch_relative(t: Scene) -> None:
    """A relative URL is resolved against the request's."""

    async def handler(route: Any, request: Any) -> None:
        response = await t(route.fetch(url="/json/other"))
        await t(route.fulfill(response=response))

    url = t.url("echo")
    await t.route(url, handler)
    assert '"upstream"' in (await t.get(url))["body"]


@row
async def fetch_redirects(t: Scene) -> None:
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

    url = f"{t.stage.upstream_url}/redirect/2/{t.base}"
    await t.route(url, handler)
    await t.get(url)
    assert seen[:2] == [302, 200], seen
    assert "max redirect count exceeded" in seen[2].lower()


@row
async def fetch_retries(t: Scene) -> None:
    """``max_retries`` survives so many resets."""
    url = t.url("reset", "?times=2")

    async def handler(route: Any, request: Any) -> None:
        await t(route.fulfill(response=await t(route.fetch(max_retries=2))))

    await t.route(url, handler)
    outcome = await t.get(url, headers=ALONE)
    assert json.loads(outcome["body"]) == {"attempts": 3}


@row
async def fetch_times_out(t: Scene) -> None:
    """``fetch`` gives up after its timeout, in milliseconds."""
    url = f"{t.stage.upstream_url}/held/{t.base}"
    told: list[str] = []

    async def handler(route: Any, request: Any) -> None:
        try:
            await t(route.fetch(timeout=50))
        except FetchError as error:
            told.append(str(error))
        await t(route.fulfill(body="given up"))

    await t.route(url, handler)
    assert (await t.get(url))["body"] == "given up"
    assert "Timeout 50ms" in told[0]


@row
async def fulfill_defaults(t: Scene) -> None:
    """Without arguments it is an empty 200; status 0 is 200 too."""
    for options in ({}, {"status": 0}):
        url = t.url("echo", f"?{len(options)}")

        async def handler(route: Any, request: Any, options: Any = options) -> None:
            await t(route.fulfill(**options))

        await t.route(url, handler)
        outcome = await t.get(url)
        assert (outcome["status"], outcome["body"]) == (200, "")


@row
async def fulfill_headers(t: Scene) -> None:
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
async def fulfill_json_and_path(t: Scene) -> None:
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
async def fulfill_from_a_response(t: Scene) -> None:
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


@row
async def fulfill_with_a_disposed_response(t: Scene) -> None:
    """A response that was disposed of has no body any more."""
    url = t.url("json")
    told: list[str] = []

    async def handler(route: Any, request: Any) -> None:
        response = await t(route.fetch())
        response.dispose()
        for attempt in (response.body, lambda: route.fulfill(response=response)):
            try:
                await t(attempt())
            except UsageError as error:
                told.append(str(error))
        await t(route.fulfill(body="fine"))

    await t.route(url, handler)
    assert (await t.get(url))["body"] == "fine"
    assert ["disposed" in text for text in told] == [True, True]


@ours
async def fulfill_with_a_bad_mock(t: Scene) -> None:
    """What no HTTP response can carry fails the test, not the application's process."""
    url = t.url("echo")

    async def handler(route: Any, request: Any) -> None:
        await t(route.fulfill(headers={"bad name": "x"}))

    await t.route(url, handler)
    assert "error" in await t.fetch(url)
    assert len(await t.errors()) == 1
    assert (await t.tell("alive"))["pid"]
