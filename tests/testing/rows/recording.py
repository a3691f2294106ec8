"""``route_from_har`` with ``update``: what is recorded can be replayed."""

import contextlib
import itertools
import json
import tempfile
import zipfile
from pathlib import Path
from typing import Any, get_args

from tests.support.stream_reader import Reader, with_httpx
from tests.testing.row_context import RowContext, row
from trafficmock.testing.errors import UsageError
from trafficmock.wire.payloads.serialized_har import Content, UpdateMode

COMBINATIONS = tuple(
    itertools.product(("some.har", "some.zip"), get_args(Content), get_args(UpdateMode))
)


UPSTREAM_PAUSE_MS = 200
"""That of the page `slowly`."""

MARKED = {"x-mark": "m", "content-type": "text/x-sent"}


async def record(t: RowContext, path: Path, urls: list[str], **options: Any) -> list[Any]:
    """Let upstream answer, and write it down; give the outcomes."""

    async def run(mocks: Any) -> list[Any]:
        await t(mocks.route_from_har(path, update=True, **options))
        return [await t.get(url, method="POST", body="sent", headers=MARKED) for url in urls]

    outcomes: list[Any] = await t.within(run)
    return outcomes


def read(path: Path) -> tuple[list[Any], set[str]]:
    """Give the entries, and the names of what lies beside them."""
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
            text = archive.read("har.har")
    else:
        names = {each.name for each in path.parent.iterdir()}
        text = path.read_bytes()
    return json.loads(text)["log"]["entries"], names - {"har.har", path.name}


@row
async def recorded_pauses(t: RowContext) -> None:
    """A recording has the pieces in which an answer came, with their times."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "some.har"

        async def run(mocks: Any) -> None:
            await t(mocks.route_from_har(path, update=True))
            reader = Reader(with_httpx, t.node_app.proxy.url, t.url("slowly"))
            assert (await t(t.adapter.in_background(reader.rest)))[0] is not None

        await t.within(run)
        ((entry,), _) = read(path)
    pieces = entry["response"]["_pieces"]
    assert [piece["size"] for piece in pieces] == [3, 3], pieces
    assert pieces[1]["time"] - pieces[0]["time"] >= UPSTREAM_PAUSE_MS / 2, pieces


@row
async def recorded_redirects(t: RowContext) -> None:
    """A redirect is recorded as the application gets it, which follows it by its own rules."""
    url = f"{t.node_app.upstream_url}/redirect/1/{t.base}"
    for options, statuses in (({}, [302, 200]), ({"follow_redirects": True}, [200])):
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "some.har"

            async def run(mocks: Any, path: Path = path, options: Any = options) -> Any:
                await t(mocks.route_from_har(path, update=True, **options))
                return await t.fetch(url)

            outcome = await t.within(run)
            (entries, _) = read(path)
            await t(t.mocks.route_from_har(path))
            replayed = await t.fetch(url)
            await t(t.mocks.unroute_all())
        assert [entry["response"]["status"] for entry in entries] == statuses, entries
        assert (outcome["status"], replayed["status"]) == (200, 200)
        assert outcome["body"] == replayed["body"]


@row
async def every_way_of_recording(t: RowContext) -> None:
    """File or archive, bodies beside it or within, minimal or full: the replay is the same."""
    for name, content, mode in COMBINATIONS:
        urls = [t.url(page, f"?{name}&{content}&{mode}") for page in ("echo", "json")]
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / name
            outcomes = await record(t, path, urls, update_content=content, update_mode=mode)
            entries, files = read(path)
            await t(t.mocks.route_from_har(path))
            replayed = [await t.get(url, method="POST", body="sent") for url in urls]
            unlike = await t.get(urls[0], method="POST", body="other")
            await t(t.mocks.unroute_all())
        case = name, content, mode
        assert [each["body"] for each in replayed] == [each["body"] for each in outcomes], case
        assert [each["status"] for each in replayed] == [200, 200], case
        assert "error" in unlike, case
        check_bodies(entries, files, content)
        check_figures(entries, mode)


def check_bodies(entries: list[Any], files: set[str], content: str) -> None:
    """Bodies stand where they should, those of requests too."""
    for entry in entries:
        for holder in (entry["response"]["content"], entry["request"]["postData"]):
            assert ("_file" in holder) == (content == "attach"), holder
            assert ("text" in holder) == (content == "embed"), holder
    named = {entry["response"]["content"].get("_file") for entry in entries}
    assert named - {None} <= files
    assert bool(files) == (content == "attach"), files


def check_figures(entries: list[Any], mode: str) -> None:
    """Times and sizes stand in full recordings alone."""
    for entry in entries:
        size = entry["response"]["content"]["size"]
        assert (size > 0) == (mode == "full"), entry
        assert (entry["time"] >= 0) == (mode == "full"), entry


@row
async def recorded_anew(t: RowContext) -> None:
    """A HAR that is there is written anew, not added to."""
    url, other = t.url("echo"), t.url("json")
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "some.har"
        await record(t, path, [url])
        await record(t, path, [other])
        entries, _ = read(path)
    assert [entry["request"]["url"] for entry in entries] == [other]


async def replay(t: RowContext, path: Path, urls: list[str], *, mode: str) -> list[Any]:
    """Send requests in a test of a mode; give the outcomes."""

    async def run(mocks: Any) -> list[Any]:
        await t(mocks.route_from_har(path, mode=mode))
        return [await t.get(url) for url in urls]

    outcomes: list[Any] = await t.within(run)
    return outcomes


def urls_of(path: Path) -> list[str]:
    """Give the URLs of the entries."""
    return [entry["request"]["url"] for entry in read(path)[0]]


@row
async def recorded_once(t: RowContext) -> None:
    """With the mode ``once``, a HAR that is missing is recorded, and replayed from then on."""
    url, other = t.url("echo"), t.url("json")
    for name in ("some.har", "some.zip"):
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / name
            (first,) = await replay(t, path, [url], mode="once")
            again, unknown = await replay(t, path, [url, other], mode="once")
            assert urls_of(path) == [url]
        assert (first["status"], again["body"]) == (200, first["body"])
        assert "error" in unknown


@row
async def recorded_if_new(t: RowContext) -> None:
    """With the mode ``new``, requests that the HAR lacks are added; the others are replayed."""
    url, other = t.url("echo"), t.url("json")
    for name in ("some.har", "some.zip"):
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / name
            (first,) = await replay(t, path, [url], mode="new")
            again, new = await replay(t, path, [url, other], mode="new")
            assert urls_of(path) == [url, other]
            before = path.stat().st_mtime_ns
            both = await replay(t, path, [url, other], mode="new")
            assert path.stat().st_mtime_ns == before
            assert [each["body"] for each in both] == [first["body"], new["body"]]
        assert (again["body"], new["status"]) == (first["body"], 200)


@row
async def recorded_never(t: RowContext) -> None:
    """With the mode ``none``, a HAR that is missing is an error that says how to record it."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "some.har"
        try:
            await t(t.mocks.route_from_har(path, mode="none"))
        except UsageError as error:
            assert "To record it" in str(error), error
        else:
            raise AssertionError("a HAR that is missing was accepted")


@row
async def recorded_only_if_passed(t: RowContext) -> None:
    """The HAR of a test whose handlers fail is not written; an earlier one stays."""
    url, other = t.url("echo"), t.url("json")
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "some.har"
        await record(t, path, [url])
        before = path.read_bytes()

        async def fails(route: Any, request: Any) -> None:
            raise ValueError("on purpose")

        async def run(mocks: Any) -> None:
            await t(mocks.route_from_har(path, mode="all"))
            await t(mocks.route(other, t.adapter.handler(fails)))
            await t.get(url)
            await t.get(other)

        with contextlib.suppress(Exception):
            await t.within(run)
        assert path.read_bytes() == before


@row
async def recorded_without_secrets(t: RowContext) -> None:
    """Marks stand for secrets, and any value fits one; ``redact`` names more, or switches off."""
    url = t.url("echo", "?token=sekret1&size=2")
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "some.har"
        await record(t, path, [url], update_content="embed")
        marked = path.read_text()
        await t(t.mocks.route_from_har(path))
        other = t.url("echo", "?token=another&size=2")
        replayed = await t.get(other, method="POST", body="sent")
        await t(t.mocks.unroute_all())
        await record(t, path, [url], update_content="embed", redact=["query:size"])
        (entry,), _ = read(path)
        await record(t, path, [url], redact="off")
        exact = path.read_text()
    assert "sekret1" not in marked
    assert "[redacted:" in marked
    assert "size=2" in marked
    assert "size=2" not in entry["request"]["url"]
    assert "sekret1" not in entry["request"]["url"]
    assert "token=sekret1&size=2" in exact
    assert replayed["status"] == 200, replayed
    said = ""
    try:
        await t(t.mocks.route_from_har(path, update=True, redact="size"))
    except UsageError as error:
        said = str(error)
    assert "'size' is none of header:NAME" in said
