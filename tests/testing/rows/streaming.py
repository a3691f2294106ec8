"""Streams: answers that a test writes part by part."""

import json
import time
from typing import Any

from tests.support.stream_reader import Reader, with_httpx
from tests.testing.row_context import RowContext, row
from trafficmock.testing.errors import AlreadyHandledError, StreamClosedError, UsageError

TYPE = "text/x-parts"
HEADERS = {"content-type": TYPE}
DELAY_MS = 150
LARGE = "x" * (3 * 2**20)
"""More than may be on its way to an application."""


def read(t: RowContext, page: str = "stream", **options: Any) -> Reader:
    """Let an application behind the forward proxy ask for an answer and read it."""
    return Reader(with_httpx, t.node_app.proxy.url, t.url(page), **options)


async def got(t: RowContext, reader: Reader) -> Any:
    """Wait for the next part, as text; the first is the content type."""
    part = await t(t.adapter.in_background(reader.get))
    return part.decode() if isinstance(part, bytes) else part


async def rest(t: RowContext, reader: Reader) -> tuple[str, Any]:
    """Wait for the end; give what is left, and the error."""
    content, error = await t(t.adapter.in_background(reader.rest))
    return content.decode(), error


async def refused(t: RowContext, call: Any) -> str:
    """Give the text of the ``UsageError`` of a call."""
    try:
        await t(call())
    except UsageError as error:
        return str(error)
    raise AssertionError("the call was accepted")


@row
async def stream_is_written_part_by_part(t: RowContext) -> None:
    """The application has each part of a ``stream`` when the call is done."""
    chat = await t(t.mocks.stream(t.url("stream"), content_type=TYPE, status=201))
    reader = read(t)
    assert (await t(chat.request)).url == t.url("stream")
    assert await got(t, reader) == TYPE
    await t(chat.send("é"))
    assert await got(t, reader) == "é"
    await t(chat.send(b"\x00"))
    assert await got(t, reader) == "\x00"
    await t(chat.send(""))
    await t(chat.json_line({"a": [1]}))
    line = await got(t, reader)
    assert line.endswith("\n")
    assert json.loads(line) == {"a": [1]}
    await t(chat.end())
    await t(chat.end())
    assert await rest(t, reader) == ("", None)
    assert "ended already" in await refused(t, lambda: chat.send("late"))
    assert "ended already" in await refused(t, chat.abort)


@row
async def stream_of_events(t: RowContext) -> None:
    """``sse`` writes the fields of a server-sent event, one ``data`` for each line."""
    chat = await t(t.mocks.stream(t.url("stream"), content_type="text/event-stream"))
    reader = read(t)
    await got(t, reader)
    await t(chat.sse(data="one\ntwo\r\nthree\r", event="token", id="7", retry=10))
    fields = "event: token\nid: 7\nretry: 10\n"
    assert await got(t, reader) == fields + "data: one\ndata: two\ndata: three\ndata: \n\n"
    await t(chat.sse(json={"a": "\n"}))
    event = await got(t, reader)
    assert event.startswith("data: ")
    assert json.loads(event.removeprefix("data: ")) == {"a": "\n"}
    await t(chat.sse(data=""))
    assert await got(t, reader) == "data: \n\n"
    await t(chat.end())
    assert await rest(t, reader) == ("", None)


@row
async def stream_refuses_what_it_cannot_send(t: RowContext) -> None:
    """What cannot be sent is an error at the call, and the stream stays open."""
    chat = await t(t.mocks.stream(t.url("stream"), content_type=TYPE))
    reader = read(t)
    await got(t, reader)
    assert "send takes" in await refused(t, lambda: chat.send(5))
    assert "either data or json" in await refused(t, lambda: chat.sse(data="a", json=1))
    assert "line break" in await refused(t, lambda: chat.sse(event="a\nb"))
    assert "line break" in await refused(t, lambda: chat.sse(data="a", id="\0"))
    assert "milliseconds" in await refused(t, lambda: chat.sse(retry=-1))
    assert "give data" in await refused(t, chat.sse)
    assert "not an error code" in await refused(t, lambda: chat.abort("broken"))
    assert "status" in await refused(t, lambda: t.mocks.stream(t.url("other"), status=99))
    await t(chat.end())
    assert await rest(t, reader) == ("", None)


@row
async def stream_breaks_off(t: RowContext) -> None:
    """``abort`` breaks the answer off after the parts so far; that is no error of the test."""
    chat = await t(t.mocks.stream(t.url("stream"), content_type=TYPE))
    reader = read(t)
    await t(chat.send("begun"))
    assert [await got(t, reader) for _ in range(2)] == [TYPE, "begun"]
    await t(chat.abort())
    content, error = await rest(t, reader)
    assert (content, isinstance(error, Exception)) == ("", True)
    assert await t.errors() == []


@row
async def stream_answers_one_request(t: RowContext) -> None:
    """A ``stream`` answers one request; the next handler gets those after it."""
    url = t.url("stream")
    await t(t.mocks.mock(url, body="plain", content_type="x/y"))
    first = await t(t.mocks.stream(url, content_type=TYPE))
    one, other = read(t), None
    await t(first.send("1"))
    other = read(t)
    assert await rest(t, other) == ("x/yplain", None)
    await t(first.end())
    assert await rest(t, one) == (f"{TYPE}1", None)


@row
async def stream_in_a_handler(t: RowContext) -> None:
    """``route.stream`` is the decision, and what is larger than a window comes whole."""
    twice: list[Exception] = []

    async def handler(route: Any, request: Any) -> None:
        stream = await t(route.stream(content_type=TYPE))
        try:
            await t(route.fulfill(body="again"))
        except AlreadyHandledError as error:
            twice.append(error)
        await t(stream.send(LARGE))
        await t(stream.end())

    await t.route(t.url("stream"), handler)
    assert await rest(t, read(t)) == (TYPE + LARGE, None)
    assert len(twice) == 1


@row
async def fulfill_with_parts(t: RowContext) -> None:
    """``fulfill`` sends the parts of an iterable one by one."""

    async def handler(route: Any, request: Any) -> None:
        await t(route.fulfill(body=["a", b"b", "", "c"], content_type=TYPE))

    await t.route(t.url("stream"), handler)
    assert await rest(t, read(t)) == (f"{TYPE}abc", None)


@row
async def fulfill_with_parts_and_more(t: RowContext) -> None:
    """An iterable as body excludes a body of another kind, and a delay."""
    said = []

    async def handler(route: Any, request: Any) -> None:
        said.append(await refused(t, lambda: route.fulfill(body=["a"], json=1)))
        said.append(await refused(t, lambda: route.fulfill(body=["a"], fault="stall")))
        said.append(await refused(t, lambda: route.fulfill(body=["a"], delay=5)))
        await t(route.fulfill(body="whole", content_type=TYPE))

    await t.route(t.url("stream"), handler)
    assert await rest(t, read(t)) == (f"{TYPE}whole", None)
    assert said == [
        "an answer in parts has no json",
        "an answer in parts breaks by stream.abort(), not by a fault",
        "an answer in parts has no delay",
    ]


@row
async def stream_of_a_handler_that_fails(t: RowContext) -> None:
    """An error of a handler breaks its answer off, and is an error of the test."""
    has_read = t.adapter.gate()

    async def handler(route: Any, request: Any) -> None:
        stream = await t(route.stream(content_type=TYPE))
        await t(stream.send("begun"))
        await t(has_read.wait())
        raise RuntimeError("the model is gone")

    await t.route(t.url("stream"), handler)
    reader = read(t)
    assert [await got(t, reader) for _ in range(2)] == [TYPE, "begun"]
    has_read.open()
    assert isinstance((await rest(t, reader))[1], Exception)
    (error,) = await t.late_errors()
    assert "the model is gone" in str(error)


@row
async def stream_that_the_application_closes(t: RowContext) -> None:
    """When the application has closed the answer, ``send`` raises ``StreamClosedError``."""
    chat = await t(t.mocks.stream(t.url("stream"), content_type=TYPE))
    reader = read(t, parts=1)
    await rest(t, reader)

    async def is_closed() -> bool:
        try:
            await t(chat.send("more"))
        except StreamClosedError as error:
            return "the application closed the answer" in str(error)
        return False

    await t.until(is_closed)
    await t(chat.end())
    await t(chat.abort())


@row
async def stream_that_stays_open(t: RowContext) -> None:
    """A test that ends with an open stream fails, and the answer breaks off."""
    url = t.url("stream")
    readers: list[Reader] = []

    async def leave(mocks: Any) -> None:
        chat = await t(mocks.stream(url, content_type=TYPE))
        readers.append(read(t))
        await t(chat.send("begun"))
        assert [await got(t, readers[0]) for _ in range(2)] == [TYPE, "begun"]

    try:
        await t.within(leave)
    except Exception as error:  # noqa: BLE001 - the classes of the adapters differ
        assert "ended while its streamed answer" in str(error), error
    else:
        raise AssertionError("the test passed")
    content, broken = await rest(t, readers[0])
    assert (content, isinstance(broken, Exception)) == ("", True)


@row
async def mock_in_chunks(t: RowContext) -> None:
    """``mock`` with ``chunks`` sends them one by one, ``delay`` apart, to each request."""
    chunks = ["one", b"two", "", LARGE, "three"]
    await t(t.mocks.mock(t.url("stream"), chunks=chunks, content_type=TYPE, delay=DELAY_MS))
    for _ in range(2):
        reader = read(t)
        times = []
        for part in (TYPE, "one", "two"):
            assert await got(t, reader) == part
            times.append(time.monotonic())
        assert (times[2] - times[1]) * 1000 > DELAY_MS / 2, times
        assert await rest(t, reader) == (LARGE + "three", None)


@row
async def mock_in_chunks_for_any_application(t: RowContext) -> None:
    """An application whose agent does not take pieces gets all when the last one is due."""
    await t(t.mocks.mock(t.url("echo"), chunks=["one", "two"], status=203, delay=DELAY_MS))
    began = time.monotonic()
    outcome = await t.get(t.url("echo"))
    assert (outcome["status"], outcome["body"]) == (203, "onetwo")
    assert (time.monotonic() - began) * 1000 >= DELAY_MS


@row
async def stream_as_a_whole(t: RowContext) -> None:
    """An agent that takes no pieces gets a ``stream`` when it ends; the calls are done at once."""
    chat = await t(t.mocks.stream(t.url("echo"), content_type=TYPE))
    key = await t.begin(t.url("echo"))
    for part in ("one", "two"):
        await t(chat.send(part))
    await t(chat.end())
    outcome = await t.outcome(key)
    assert (outcome["status"], outcome["body"]) == (200, "onetwo")
    assert outcome["headers"]["content-type"] == TYPE


@row
async def mock_at_a_rate(t: RowContext) -> None:
    """``mock`` with a ``rate`` sends the body so many bytes in a second, also in a sequence."""
    url = t.url("stream")
    began = time.monotonic()
    await t(t.mocks.mock(url, body="a" * 40, rate=200, content_type=TYPE))
    reader = read(t)
    assert [await got(t, reader) for _ in range(2)] == [TYPE, "a" * 10]
    assert await rest(t, reader) == ("a" * 30, None)
    assert time.monotonic() - began >= 40 / 200 - 0.05
    await t(t.mocks.mock(url, sequence=[{"body": "slow", "rate": 60, "headers": HEADERS}]))
    assert await rest(t, read(t)) == (f"{TYPE}slow", None)
    for options in ({"rate": 0}, {"rate": 5, "chunks": ["a"]}, {"rate": 5, "fault": "stall"}):
        assert "rate" in await refused(t, lambda options=options: t.mocks.mock(url, **options))


@row
async def answers_at_a_rate(t: RowContext) -> None:
    """``fulfill`` and ``continue_`` with a ``rate`` send the body so many bytes in a second."""
    url = t.url("echo")

    async def fulfil(route: Any, request: Any) -> None:
        await t(route.fulfill(body="a" * 40, rate=200, content_type=TYPE))

    async def slow_down(route: Any, request: Any) -> None:
        await t(route.continue_(rate=400))

    await t.route(url, slow_down)
    await t.route(url, fulfil, times=1)
    began = time.monotonic()
    reader = read(t, "echo")
    assert [await got(t, reader) for _ in range(2)] == [TYPE, "a" * 10]
    assert await rest(t, reader) == ("a" * 30, None)
    assert time.monotonic() - began >= 40 / 200 - 0.05
    began = time.monotonic()
    reader = read(t, "echo")
    await got(t, reader)
    first = await got(t, reader)
    more, error = await rest(t, reader)
    assert (len(first), error) == (20, None)
    assert json.loads(first + more)["method"] == "GET"
    assert time.monotonic() - began >= len(first + more) / 400 - 0.05


@row
async def mock_refuses_chunks_and_a_body(t: RowContext) -> None:
    """``chunks`` are pieces, in the place of another body."""
    url = t.url("stream")
    wanted = "chunks exclude body, json, path and fault"
    assert await refused(t, lambda: t.mocks.mock(url, chunks=["a"], body="b")) == wanted
    assert await refused(t, lambda: t.mocks.mock(url, chunks=["a"], json=1)) == wanted
    assert await refused(t, lambda: t.mocks.mock(url, chunks=["a"], fault="stall")) == wanted
    assert "chunks is" in await refused(t, lambda: t.mocks.mock(url, chunks="abc"))
    assert "send takes" in await refused(t, lambda: t.mocks.mock(url, chunks=["a", 5]))
