"""``route_from_har``: answers from a recording."""

import json
import tempfile
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.testing.row_context import RowContext, row
from tests.testing.rows.streaming import got, read, refused, rest
from trafficmock.testing.errors import RoutingError, UsageError

PAUSE_MS = 200
"""Long enough to be seen in the time that a request takes."""


def entry(url: str, method: str = "GET", *, body: str = "", **response: Any) -> dict[str, Any]:
    """Make an entry; ``text`` and the rest go into its response."""
    content = {"text": response.pop("text", "")}
    request: dict[str, Any] = {"method": method, "url": url, "headers": response.pop("sent", [])}
    if body:
        request["postData"] = {"mimeType": "text/plain", "text": body}
    answer = {"status": 200, "headers": [], "content": content, **response}
    return {"request": request, "response": answer}


@contextmanager
def har(*entries: dict[str, Any]) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "some.har"
        path.write_text(json.dumps({"log": {"entries": entries}}))
        yield path


def header(name: str, value: str) -> dict[str, str]:
    return {"name": name, "value": value}


@row
async def hit(t: RowContext) -> None:
    """A recorded answer is given with status, headers and body, any number of times."""
    url = t.url("echo")
    headers = [header("content-type", "text/x"), header("set-cookie", "a=1; Path=/")]
    recorded = entry(url, text="recorded", status=203, statusText="As It Was", headers=headers)
    with har(recorded) as path:
        await t(t.mocks.route_from_har(path))
        for _ in range(2):
            outcome = await t.get(url)
            assert (outcome["status"], outcome["body"]) == (203, "recorded")
            assert outcome["statusText"] == "As It Was"
            assert outcome["headers"]["content-type"] == "text/x"


@row
async def several_cookies(t: RowContext) -> None:
    """Several ``set-cookie`` do not hurt the application."""
    url = t.url("echo")
    headers = [header("set-cookie", "a=1"), header("set-cookie", "b=2")]
    with har(entry(url, text="recorded", headers=headers)) as path:
        await t(t.mocks.route_from_har(path))
        assert (await t.get(url))["body"] == "recorded"


@row
async def not_found(t: RowContext) -> None:
    """What is not recorded is aborted, or falls back."""
    url = t.url("echo")
    with har() as path:
        await t(t.mocks.route_from_har(path))
        assert "error" in await t.get(url)
        await t.answer("**/*", "never asked", times=1)
        await t(t.mocks.unroute_all())
        await t(t.mocks.route_from_har(path, not_found="fallback"))
        assert '"path"' in (await t.get(url))["body"]
        await t(t.mocks.unroute_all())
        # As in Playwright, a log without the list has nothing recorded.
        path.write_text('{"log": {}}')
        await t(t.mocks.route_from_har(path))
        assert "error" in await t.get(url)
        await t(t.mocks.unroute_all())
        await t(t.mocks.route_from_har(path, not_found="fallback"))
        assert '"path"' in (await t.get(url))["body"]


@row
async def missing_file(t: RowContext) -> None:
    """A missing file says how to record it, one that is no HAR says so; no route is made."""
    url = t.url("echo")
    with har() as path:
        path.write_text("{")
        missing = path.with_name("missing.har")
        for file, why in ((path, f"{path} is no HAR"), (missing, f"there is no HAR {missing}.")):
            try:
                await t(t.mocks.route_from_har(file))
            except UsageError as error:
                said = str(error)
            assert said.startswith(why), said
        assert "To record it, run the test once with" in said
        assert '"path"' in (await t.get(url))["body"]


@row
async def best_match(t: RowContext) -> None:
    """Method and body must be equal; most equal header lines win, then the earliest."""
    url = t.url("echo")
    entries = (
        entry(url, text="plain"),
        entry(url, text="with header", sent=[header("X-A", "1")]),
        entry(url, "POST", body="one", text="post one"),
        entry(url, "POST", body="two", text="post two"),
    )
    with har(*entries) as path:
        await t(t.mocks.route_from_har(path))
        assert (await t.get(url))["body"] == "plain"
        assert (await t.get(url, headers={"x-a": "1"}))["body"] == "with header"
        assert (await t.get(url, method="POST", body="two"))["body"] == "post two"
        assert "error" in await t.get(url, method="POST", body="three")


@row
async def redirects(t: RowContext) -> None:
    """A redirect is the application's to follow; ``follow_redirects`` does so within the HAR."""
    url, end = t.url("echo"), t.url("end")
    circle = t.url("circle")
    entries = (
        entry(url, "POST", body="x", status=303, headers=[header("location", end)]),
        entry(end, text="the end"),
        entry(circle, status=302, headers=[header("location", circle)]),
    )
    with har(*entries) as path:
        await t(t.mocks.route_from_har(path))
        assert (await t.get(url, method="POST", body="x"))["status"] == 303
        assert (await t.fetch(url, method="POST", body="x"))["body"] == "the end"
        await t(t.mocks.unroute_all())
        await t(t.mocks.route_from_har(path, follow_redirects=True))
        followed = await t.get(url, method="POST", body="x")
        assert (followed["status"], followed["body"]) == (200, "the end")
        assert "error" in await t.get(circle)
        said = await refused(t, lambda: t.mocks.route_from_har(path, follow_redirects=1))
        assert said.startswith(("follow_redirects is", "followRedirects is")), said


@row
async def never_answered(t: RowContext) -> None:
    """An entry with status -1 aborts the request, with the recorded failure if that is known."""
    url, other = t.url("echo"), t.url("other")
    refused = entry(url, status=-1, _failureText="connect ECONNREFUSED 192.0.2.1:443")
    with har(refused, entry(other, status=-1)) as path:
        await t(t.mocks.route_from_har(path))
        for each, code in ((url, "connectionrefused"), (other, "failed")):
            assert "error" in await t.get(each)
            (found,) = [one for one in await t.recorded() if one["request"]["url"] == each]
            assert found["outcome"]["errorCode"] == code, found
    assert not await t.errors()


@row
async def files_beside_it(t: RowContext) -> None:
    """Bodies are read from files beside the HAR, and from nowhere else."""
    url, evil = t.url("echo"), t.url("evil")
    entries = (entry(url, content={"_file": "body.txt"}), entry(evil, content={"_file": "../x"}))
    with har(*entries) as path:
        (path.parent / "body.txt").write_text("from the file")
        await t(t.mocks.route_from_har(path))
        assert (await t.get(url))["body"] == "from the file"
        assert "error" in await t.get(evil)
    (error,) = await t.late_errors()
    assert "leads out" in str(error)


@row
async def from_an_archive(t: RowContext) -> None:
    """A zip archive holds the HAR and its bodies."""
    url = t.url("echo")
    with har(entry(url, content={"_file": "body.txt"})) as path:
        archive = path.with_name("some.zip")
        with zipfile.ZipFile(archive, "w") as made:
            made.write(path, "har.har")
            made.writestr("body.txt", "from the archive")
        await t(t.mocks.route_from_har(archive))
        assert (await t.get(url))["body"] == "from the archive"


@row
async def is_an_ordinary_route(t: RowContext) -> None:
    """Newer routes come before it, and ``unroute_all`` removes it."""
    url = t.url("echo")
    with har(entry(url, text="recorded")) as path:
        await t(t.mocks.route_from_har(path))
        await t.answer(url, "newer", times=1)
        assert [(await t.get(url))["body"] for _ in range(2)] == ["newer", "recorded"]
        await t(t.mocks.unroute_all())
        assert '"path"' in (await t.get(url))["body"]


@row
async def update(t: RowContext) -> None:
    """With ``update`` upstream answers and is recorded, failures too."""
    good, bad, closed = t.url("json"), t.url("reset", "?times=9"), "http://127.0.0.1:9/closed"
    with har() as path:

        async def run(mocks: Any) -> None:
            await t(mocks.route_from_har(path, update=True, update_content="embed"))
            assert '"upstream"' in (await t.get(good))["body"]
            assert "error" in await t.get(bad)
            assert "error" in await t.get(closed)
            (found,) = [each for each in await t.recorded() if each["request"]["url"] == closed]
            assert found["outcome"]["errorCode"] == "connectionrefused", found

        await t.within(run)
        entries = json.loads(path.read_text())["log"]["entries"]
    assert [each["request"]["url"] for each in entries] == [good, bad, closed]
    assert '"upstream"' in entries[0]["response"]["content"]["text"]
    assert entries[1]["response"]["status"] == -1
    assert entries[1]["response"]["_failureText"]


@row
async def answer_with_its_pauses(t: RowContext) -> None:
    """With ``pace``, the pieces of a recorded stream come with their pauses times this factor."""
    url = t.url("stream")
    pieces = [{"time": 0, "size": 3}, {"time": PAUSE_MS, "size": 3}]
    kind = header("content-type", "text/x")
    with har(entry(url, text="onetwo", headers=[kind], _pieces=pieces)) as path:
        for pace, least_ms in ((1, PAUSE_MS), (0.5, PAUSE_MS / 2), (None, 0)):
            await t(t.mocks.route_from_har(path, **({} if pace is None else {"pace": pace})))
            began = time.monotonic()
            reader = read(t)
            assert await got(t, reader) == "text/x"
            parts = [await got(t, reader)]
            if parts == ["one"]:
                parts.append(await got(t, reader))
            assert "".join(parts) == "onetwo"
            assert await rest(t, reader) == ("", None)
            assert len(parts) == (1 if pace is None else 2)
            assert (time.monotonic() - began) * 1000 >= least_ms - 5
            await t(t.mocks.unroute_all())
        for wrong in (-1, "1", 1001):
            said = await refused(t, lambda wrong=wrong: t.mocks.route_from_har(path, pace=wrong))
            assert said.startswith("pace is a number from 0 to 1000")


@row
async def matched_on_parts(t: RowContext) -> None:
    """With ``match_on``, chosen parts have to be equal: not the port here, JSON by its values."""
    url = t.url("echo", "?b=2&a=1")
    elsewhere = f"http://127.0.0.1:9{urlsplit(url).path}?a=1&b=2"
    parts = ["method", "path", "query", "json", "header:x-tenant"]
    entries = (
        entry(
            elsewhere, "POST", body='{"n": 1, "m": 2}', text="one", sent=[header("X-Tenant", "a")]
        ),
        entry(
            elsewhere, "POST", body='{"n": 2, "m": 2}', text="two", sent=[header("X-Tenant", "a")]
        ),
    )
    with har(*entries) as path:
        await t(t.mocks.route_from_har(path, url="**/echo/**", match_on=parts))
        for body, tenant, expected in (
            ('{"m":2,"n":2}', "a", "two"),
            ('{"m":2,"n":1}', "a", "one"),
            ('{"m":2,"n":1}', "b", None),
            ('{"m":2,"n":3}', "a", None),
        ):
            answer = await t.get(url, method="POST", body=body, headers={"x-tenant": tenant})
            assert answer.get("body") == expected, answer
        for wrong, said in (
            ({"match_on": [1]}, "is a word or a list of words, not [1]"),
            ({"match_on": ["uri"]}, "or header:NAME, not on 'uri'"),
            ({"ignore": "id"}, "ignore: 'id' is none of header:NAME"),
        ):
            missing = path.with_name("missing.har")
            for file, mode in ((path, "none"), (missing, "once")):
                try:
                    await t(t.mocks.route_from_har(file, mode=mode, **wrong))
                except (RoutingError, UsageError) as error:
                    found = str(error)
                else:
                    found = "accepted"
                assert said in found, found


@row
async def ignored_fields(t: RowContext) -> None:
    """With ``ignore``, fields of queries, JSON and forms need not be equal."""
    url = t.url("echo", "?page=2&nonce=1")
    body = '{"user": "ada", "meta": {"at": 1}, "items": [{"id": 1}]}'
    ignore = ["query:nonce", "json:meta.at", "json:items[*].id"]
    with har(entry(url, "POST", body=body, text="recorded")) as path:
        await t(t.mocks.route_from_har(path, ignore=ignore))
        later = body.replace("1", "77")
        other = t.url("echo", "?page=2&nonce=77")
        assert (await t.get(other, method="POST", body=later))["body"] == "recorded"
        assert "error" in await t.get(other, method="POST", body=later.replace("ada", "bob"))


@row
async def in_order(t: RowContext) -> None:
    """With ``in_order``, each entry answers one request, in their order; then there is none."""
    url = t.url("echo")
    with har(entry(url, text="first"), entry(url, text="second")) as path:
        await t(t.mocks.route_from_har(path, in_order=True))
        answers = [await t.get(url) for _ in range(3)]
        assert [each.get("body") for each in answers] == ["first", "second", None]
        assert "error" in answers[2]
        said = await refused(t, lambda: t.mocks.route_from_har(path, in_order="yes"))
        assert said.startswith(("in_order is ", "inOrder is ")), said
        said = await refused(t, lambda: t.mocks.route_from_har(path, sequence=True))
        assert "in_order" in said or "inOrder" in said, said


@row
async def nearest_entry(t: RowContext) -> None:
    """Where nothing is recorded, the error names the nearest entry and the field that differs."""
    url = t.url("echo")
    with har(entry(t.url("other")), entry(url, "POST", body='{"n": 1}')) as path:
        await t(t.mocks.route_from_har(path, match_on=["method", "url", "json"]))
        assert "error" in await t.get(url, method="POST", body='{"n": 2}')
        (found,) = [each for each in await t.recorded() if each["request"]["url"] == url]
        (said,) = [
            each["detail"] for each in found["events"] if "Nearest" in each.get("detail", "")
        ]
        assert f"Nearest: entry 2 (POST {url}): json.n is 2, wanted 1" in said, said


@row
async def stream_with_its_pauses(t: RowContext) -> None:
    """The HAR of a stream, from the history, has its pieces and their times."""
    url = t.url("stream")
    chat = await t(t.mocks.stream(url, content_type="text/x"))
    reader = read(t)
    for part in ("one", "second"):
        await t(chat.send(part))
    await t(chat.end())
    await rest(t, reader)
    (found,) = [each for each in await t.recorded() if each["request"]["url"] == url]
    await t.until(lambda: has_ended(t, found["id"]))
    document = await t.rest(f"/api/history/{found['id']}/har")
    (exchange,) = document["log"]["entries"]
    pieces = exchange["response"]["_pieces"]
    assert [piece["size"] for piece in pieces] == [3, 6], pieces
    assert 0 <= pieces[0]["time"] <= pieces[1]["time"], pieces


async def has_ended(t: RowContext, entry_id: str) -> bool:
    """Tell whether the history has the end of a stream."""
    found = await t.rest(f"/api/history/{entry_id}")
    return bool(found["entry"]["events"][-1]["kind"] == "end")
