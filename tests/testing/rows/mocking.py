"""``mock``: fixed answers, which the proxy gives by itself."""

import json
import re
import tempfile
from pathlib import Path
from typing import Any

from tests.testing.row_context import RowContext, row
from trafficmock.testing.errors import UsageError


@row
async def same_answer(t: RowContext) -> None:
    """``mock`` answers every request with the same status, headers and body."""
    url = t.url("echo")
    await t(t.mocks.mock(url, status=203, headers={"X-A": "b"}, json={"left": 2}))
    for _ in range(2):
        outcome = await t.get(url)
        assert (outcome["status"], json.loads(outcome["body"])) == (203, {"left": 2})
        assert outcome["headers"]["content-type"] == "application/json"
        assert outcome["headers"]["x-a"] == "b"


@row
async def empty_answer(t: RowContext) -> None:
    """Without a response it answers with an empty 200."""
    url = t.url("echo")
    await t(t.mocks.mock(url))
    outcome = await t.get(url)
    assert (outcome["status"], outcome["body"]) == (200, "")


@row
async def trailers(t: RowContext) -> None:
    """A mock, an answer of a sequence and one of a handler have trailers."""

    async def handler(route: Any, request: Any) -> None:
        await t(route.fulfill(body="c", trailers={"X-Sum": 3}))

    url = t.url("echo")
    await t.route(f"{url}?c", handler)
    await t(t.mocks.mock(f"{url}?a", body="a", trailers={"X-Sum": 1}))
    await t(t.mocks.mock(f"{url}?b", sequence=[{"body": "b", "trailers": {"X-Sum": 2}}]))
    for number, page in enumerate("abc", 1):
        assert await t.through_proxy(f"{url}?{page}", {}) == page
        (found,) = [
            each for each in await t.recorded() if each["request"]["url"] == f"{url}?{page}"
        ]
        entry = (await t.rest(f"/api/history/{found['id']}"))["entry"]
        assert entry["outcome"]["response"]["trailers"] == [["x-sum", str(number)]], entry
    try:
        await t(t.mocks.mock(url, trailers={"content-length": 1}))
    except UsageError as error:
        assert re.match("trailers: .content-length. is read before the body", str(error)), error
    else:
        raise AssertionError("it was accepted")


@row
async def bodies(t: RowContext) -> None:
    """Its body is text, bytes, JSON or a file, which is read at the call."""
    page = "echo"
    await t(t.mocks.mock(t.url(page, "?text"), body="täxt", content_type="text/x"))
    await t(t.mocks.mock(t.url(page, "?bytes"), body=b"bytes"))
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "page.html"
        file.write_text("<p>")
        await t(t.mocks.mock(t.url(page, "?file"), path=file))
    text, raw, html = [await t.get(t.url(page, f"?{each}")) for each in ("text", "bytes", "file")]
    assert (text["body"], text["headers"]["content-type"]) == ("täxt", "text/x")
    assert raw["body"] == "bytes"
    assert (html["body"], html["headers"]["content-type"]) == ("<p>", "text/html")


@row
async def filters(t: RowContext) -> None:
    """Methods, client ids and ``times`` say which requests it answers, and how many."""
    url = t.url("echo")
    await t(t.mocks.mock(url, body="any", client_id="nobody"))
    await t(t.mocks.mock(url, body="posted", method="POST"))
    await t(t.mocks.mock(url, body="twice", method="GET", times=2))
    sent = [await t.get(url, method=method) for method in ("GET", "POST", "GET", "GET")]
    first, second, third, fourth = [each["body"] for each in sent]
    assert (first, second, third) == ("twice", "posted", "twice")
    assert '"path"' in fourth


@row
async def exact_times(t: RowContext) -> None:
    """Of many requests at once it answers exactly ``times``; the others go to the network."""
    url = t.url("echo")
    await t(t.mocks.mock(url, body="mocked", times=3))
    keys = [await t.begin(url) for _ in range(8)]
    answers = [(await t.outcome(key))["body"] for key in keys]
    assert sum(answer == "mocked" for answer in answers) == 3


@row
async def newest_first(t: RowContext) -> None:
    """The newest of handlers and mocks that match a request is asked first."""
    url = t.url("echo")
    await t.answer(url, "handler")
    await t(t.mocks.mock(url, body="mock"))
    assert (await t.get(url))["body"] == "mock"
    await t.answer(url, "newer handler", times=1)
    assert [(await t.get(url))["body"] for _ in range(2)] == ["newer handler", "mock"]


@row
async def predicate_before_it(t: RowContext) -> None:
    """A newer handler with a predicate is asked first, whether it matches or not."""
    url = t.url("echo")
    await t(t.mocks.mock(f"{url}*", body="mock"))
    await t.answer(lambda found: found.endswith("?picked"), "picked")
    found = [(await t.get(f"{url}{query}"))["body"] for query in ("", "?picked", "?other")]
    assert found == ["mock", "picked", "mock"]


@row
async def fallback_reaches_it(t: RowContext) -> None:
    """A newer handler that falls back leaves the request to it; that counts for ``times``."""
    url = t.url("echo")
    await t(t.mocks.mock(url, body="mock", times=1))
    seen: list[str] = []

    async def handler(route: Any, request: Any) -> None:
        seen.append(request.url)
        await t(route.fallback())

    await t.route(url, handler)
    first, second = [(await t.get(url))["body"] for _ in range(2)]
    assert (first, len(seen)) == ("mock", 2)
    assert '"path"' in second


@row
async def fallback_after_the_last(t: RowContext) -> None:
    """A request that falls back to a mock which is used up meanwhile goes to the next handler."""
    url, gate = t.url("echo"), t.adapter.gate()
    await t.answer(url, "the next")
    await t(t.mocks.mock(url, body="mock", times=1))

    async def handler(route: Any, request: Any) -> None:
        await t(gate.wait())
        await t(route.fallback())

    registered = await t.route(url, handler, method="PUT")
    held = await t.begin(url, method="PUT")
    assert (await t.get(url))["body"] == "mock"
    gate.open()
    assert (await t.outcome(held))["body"] == "the next"
    await t(t.mocks.unroute(url, registered, method="PUT"))


@row
async def unrouted(t: RowContext) -> None:
    """``unroute`` takes a mock out by its matcher, ``unroute_all`` with all others."""
    url = t.url("echo")
    await t(t.mocks.mock(url, body="mock"))
    await t(t.mocks.unroute(url))
    assert '"path"' in (await t.get(url))["body"]
    await t(t.mocks.mock(url, body="mock"))
    await t(t.mocks.unroute_all())
    assert '"path"' in (await t.get(url))["body"]


@row
async def seen_by_waits(t: RowContext) -> None:
    """What it answers is seen by waits and in the list of requests, with its response."""
    url = t.url("echo")
    await t(t.mocks.mock(url, status=201, body="mock"))
    request = await t.expect("request", url, lambda: t.get(url, method="POST", body="sent"))
    assert (request.method, await t(request.post_data)) == ("POST", "sent")
    response = await t.expect("response", url, lambda: t.get(url))
    assert (response.status, await t(response.text())) == (201, "mock")
    listed = await t(t.mocks.requests(url))
    assert [each.method for each in listed] == ["POST", "GET"]
    assert [(await t(each.response())).status for each in listed] == [201, 201]


@row
async def recorded_as_fulfilled(t: RowContext) -> None:
    """The history shows what it answers as fulfilled by this test."""
    url = t.url("echo")
    await t(t.mocks.mock(url, status=201, body="mock"))
    await t.get(url)
    [entry, *_] = [each for each in await t.recorded() if each["request"]["url"] == url]
    assert entry["title"].endswith("recorded_as_fulfilled"), entry
    outcome = entry["outcome"]
    assert (outcome["kind"], outcome["response"]["status"]) == ("mocked", 201)


WRONG: tuple[tuple[dict[str, Any], str], ...] = (
    ({"status": 99}, "an integer from 200 to 999, not 99"),
    ({"status": "200"}, "an integer from 200 to 999, not '200'"),
    ({"status_text": "a\nb"}, "without control characters"),
    ({"headers": {"a b": "c"}}, "'a b' is not a header name"),
    ({"headers": {"a": "b\nc"}}, "has a line break"),
    ({"headers": "a: b"}, "headers are a mapping, or pairs|headers are an object"),
    ({"headers": 5}, "headers are a mapping, or pairs|headers are an object"),
    ({"headers": [(b"a", b"b")]}, "are text, not bytes|headers are an object"),
    ({"content_type": 5}, "content_type must be text"),
    (
        {"body": {"a": 1}},
        "body must be str or bytes, not dict|body must be a string or a Buffer, not object",
    ),
    ({"json": 1, "body": "x"}, "either body or json"),
    ({"path": "missing"}, "(?i)no such file"),
    ({"times": "2"}, "times is a number of requests, not '2'|not \"2\""),
    ({"times": True}, "times is a number of requests, not [tT]rue"),
    ({"required": "yes"}, "required is [tT]rue or [fF]alse, not .yes."),
    ({"required": 1}, "required is [tT]rue or [fF]alse, not 1"),
    ({"method": "GE T"}, "'GE T' is not a method"),
    ({"client_id": 7}, "client_id is a text or several, not 7"),
)
"""Arguments that make no mock, and patterns of what is said of them."""


@row
async def refused_at_the_call(t: RowContext) -> None:
    """What makes no response, or no route for HTTP requests, is refused by the call."""
    url = t.url("echo")
    given = [(url, options, said) for options, said in WRONG]
    for wanted, options, said in [*given, (t.socket_url("echo"), {}, "route_?[wW]eb_?[sS]ocket")]:
        try:
            await t(t.mocks.mock(wanted, **options))
        except (UsageError, OSError) as error:
            assert re.search(said, str(error)), error
            continue
        raise AssertionError(f"accepted {options}")
    assert '"path"' in (await t.get(url))["body"]
    assert await t.errors() == []
