"""``route_web_socket``: the test plays the server, or sits between."""

from typing import Any

from tests.testing.row_context import RowContext, row
from trafficmock.testing.errors import UsageError


async def opened(t: RowContext, url: str, **command: Any) -> str:
    answer = await t.control_app("ws/open", url=url, key=t.base + url[-3:], **command)
    key: str = answer["id"]
    await events(t, key, 1)
    return key


async def events(t: RowContext, key: str, count: int) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = (await t.control_app("ws/events", id=key, count=count))["events"]
    return events


async def mock(t: RowContext, url: Any, handler: Any) -> None:
    await t(t.mocks.route_web_socket(url, t.adapter.handler(handler)))


@row
async def mocked(t: RowContext) -> None:
    """A handler that does not connect opens the socket and answers its frames in order."""
    url = t.socket_url("mock")
    seen: list[Any] = []

    async def handler(ws: Any) -> None:
        seen.append((ws.url, ws.protocols))

        async def answer(message: Any) -> None:
            ws.send(f"re {message}" if isinstance(message, str) else message + b"!")

        ws.on_message(lambda _: ws.send("only the latest function counts"))
        ws.on_message(t.adapter.handler(answer))

    await mock(t, url, handler)
    key = await opened(t, url, protocols=["one", "two"])
    for number in range(5):
        await t.control_app("ws/send", id=key, data=str(number))
    await t.control_app("ws/send", id=key, base64="YQ==")
    got = await events(t, key, 7)
    assert seen == [(url, ["one", "two"])]
    assert got[0] == {"type": "open", "protocol": "one"}
    assert [each.get("data") for each in got[1:6]] == [f"re {number}" for number in range(5)]
    assert got[6]["base64"] == "YSE="


@row
async def one_application(t: RowContext) -> None:
    """A handler for another application's WebSockets is not asked, though it is newer."""
    url = t.socket_url("mock")

    def saying(text: str) -> Any:
        async def handler(ws: Any) -> None:
            ws.send(text)

        return t.adapter.handler(handler)

    await t(t.mocks.route_web_socket(url, saying("ours"), client_id=["app", "b"]))
    await t(t.mocks.route_web_socket(url, saying("another's"), client_id="another app"))
    key = await opened(t, url)
    got = await events(t, key, 2)
    assert got[1]["data"] == "ours"


@row
async def relayed(t: RowContext) -> None:
    """A connected socket passes frames both ways where no handler is set."""
    url = t.socket_url("ws-echo")

    async def handler(ws: Any) -> None:
        server = ws.connect_to_server()

        async def shout(message: Any) -> None:
            ws.send(message.upper())

        server.on_message(t.adapter.handler(shout))

    await mock(t, url, handler)
    key = await opened(t, url)
    await events(t, key, 1)
    await t.control_app("ws/send", id=key, data="hello")
    assert (await events(t, key, 2))[1]["data"] == "ECHO HELLO"


@row
async def opens_early(t: RowContext) -> None:
    """While its handler is busy a socket is not open, until the handler sends something."""
    url = t.socket_url("mock")
    before, after = t.adapter.gate(), t.adapter.gate()

    async def handler(ws: Any) -> None:
        await t(before.wait())
        ws.send("early")
        await t(after.wait())

    await mock(t, url, handler)
    key = (await t.control_app("ws/open", url=url, key=t.base))["id"]
    await t.get(t.url("echo"))
    assert await events(t, key, 0) == []
    before.open()
    got = await events(t, key, 2)
    assert [each["type"] for each in got] == ["open", "message"]
    after.open()


@row
async def connects_once(t: RowContext) -> None:
    """Connecting twice, or on the server's side, is an error."""
    url = t.socket_url("ws-echo")
    errors: list[str] = []

    async def handler(ws: Any) -> None:
        server = ws.connect_to_server()
        for each in (ws, server):
            try:
                each.connect_to_server()
            except UsageError as error:
                errors.append(str(error))

    await mock(t, url, handler)
    await events(t, await opened(t, url), 1)
    # The socket is open before the handler goes on.
    await t.until(lambda: len(errors) == 2)
    assert "already connected" in errors[0].lower()
    assert "connectToServer must be called on the page-side" in errors[1]


@row
async def closed_by_the_handler(t: RowContext) -> None:
    """A handler closes the socket with code and reason; later sends do not raise."""
    url = t.socket_url("mock")

    async def handler(ws: Any) -> None:
        async def close(message: Any) -> None:
            await t(ws.close(code=3001, reason=message))
            ws.send("too late")

        ws.on_message(t.adapter.handler(close))

    await mock(t, url, handler)
    key = await opened(t, url)
    await t.control_app("ws/send", id=key, data="bye")
    last = (await events(t, key, 2))[-1]
    assert (last["type"], last["code"], last["reason"]) == ("close", 3001, "bye"), last


@row
async def closed_by_the_page(t: RowContext) -> None:
    """The application's close comes to the handler, once."""
    url = t.socket_url("mock")
    closes: list[Any] = []

    async def handler(ws: Any) -> None:
        async def note(code: Any, reason: Any) -> None:
            closes.append((code, reason))

        ws.on_close(t.adapter.handler(note))

    await mock(t, url, handler)
    key = await opened(t, url)
    await events(t, key, 1)
    await t.control_app("ws/close", id=key, code=3002, reason="done")
    await t.until(lambda: closes)
    assert closes == [(3002, "done")]


@row
async def closed_by_the_server(t: RowContext) -> None:
    """The real server's close is passed on to the application."""
    url = t.socket_url("ws-echo")

    async def handler(ws: Any) -> None:
        ws.connect_to_server()

    await mock(t, url, handler)
    key = await opened(t, url)
    await events(t, key, 1)
    await t.control_app("ws/send", id=key, data="close:3003:server")
    last = (await events(t, key, 2))[-1]
    assert (last["type"], last["code"]) == ("close", 3003), last


@row
async def newest_only(t: RowContext) -> None:
    """Only the newest matching handler runs; it survives ``unroute_all``."""
    url = t.socket_url("mock")
    ran: list[str] = []

    async def old(ws: Any) -> None:
        ran.append("old")

    async def new(ws: Any) -> None:
        ran.append("new")

    await mock(t, url, old)
    await mock(t, lambda text: t.base in text, new)
    await t(t.mocks.unroute_all())
    await events(t, await opened(t, url), 1)
    assert ran == ["new"]


@row
async def handler_raises(t: RowContext) -> None:
    """A handler that raises closes the socket and fails the test; nothing stalls."""
    url = t.socket_url("mock")

    async def handler(ws: Any) -> None:
        raise ValueError("in the socket")

    await mock(t, url, handler)
    key = await opened(t, url)

    async def is_closed() -> bool:
        return bool((await events(t, key, 1))[-1]["type"] == "close")

    await t.until(is_closed)
    (error,) = await t.errors()
    assert "in the socket" in str(error)


@row
async def not_matched(t: RowContext) -> None:
    """Sockets that nobody routes go to their server."""

    async def handler(ws: Any) -> None:
        raise AssertionError(ws)

    await mock(t, "**/other", handler)
    url = t.socket_url("ws-echo")
    key = await opened(t, url)
    await events(t, key, 1)
    await t.control_app("ws/send", id=key, data="hello")
    assert (await events(t, key, 2))[1]["data"] == "echo hello"
