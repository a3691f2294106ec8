"""What a row gets: mocks of some adapter, an application, its upstream and a proxy."""

import functools
import inspect
import json
import time
import urllib.request
import uuid
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from attrs import define, field

from tests.support.processes.node_app import NodeApp

Row = Callable[["RowContext"], Coroutine[Any, Any, None]]
Handler = Callable[..., Coroutine[Any, Any, Any]]
F = TypeVar("F", bound=Row)

CONTROL_SECONDS = 30.0
UNTIL_SECONDS = 20.0


def row(function: F) -> F:
    """Mark a coroutine as a row."""
    function.is_row = True  # type: ignore[attr-defined] # a mark
    return function


class Gate:
    """Holds handlers back until a row opens it."""

    def open(self) -> None:
        """Let everybody through."""
        raise NotImplementedError

    def wait(self) -> Any:
        """Wait for that; blocking, or to be awaited."""
        raise NotImplementedError


@define
class Adapter:
    """How rows run on an adapter.

    :param mocks: makes the context manager of a test.
    :param in_background: runs a blocking function beside the row.
    :param handler: makes the adapter's kind of handler of a coroutine function.
    """

    name: str
    mocks: Callable[[NodeApp, str], Any]
    in_background: Callable[..., Any]
    handler: Callable[[Handler], Callable[..., Any]]
    gate: Callable[[], Gate]


@define
class RowContext:
    """One row's surroundings."""

    mocks: Any
    node_app: NodeApp
    adapter: Adapter
    base: str = field(factory=lambda: uuid.uuid4().hex[:8])

    async def __call__(self, value: Any) -> Any:
        """Take a value, or wait for it."""
        return await value if inspect.isawaitable(value) else value

    def url(self, page: str, query: str = "") -> str:
        """Give an upstream address that no other row uses."""
        return f"{self.node_app.upstream_url}/{page}/{self.base}{query}"

    def socket_url(self, page: str) -> str:
        return self.url(page).replace("http:", "ws:")

    # The application

    async def control_app(self, action: str, **command: Any) -> Any:
        return await self(
            self.adapter.in_background(control, self.node_app.app_url, action, command)
        )

    async def get(self, url: str, **command: Any) -> Any:
        """Let the application send a request; tell how it ended."""
        return await self.control_app("request", kind="http", url=url, **command)

    async def fetch(self, url: str, **command: Any) -> Any:
        return await self.control_app("request", url=url, **command)

    async def begin(self, url: str, **command: Any) -> str:
        """Let the application begin a request; give the key of its outcome."""
        key = uuid.uuid4().hex
        await self.control_app("begin", key=key, kind="http", url=url, **command)
        return key

    async def outcome(self, key: str) -> Any:
        return await self.control_app("outcome", key=key)

    async def through_proxy(
        self, url: str, headers: dict[str, str], data: bytes | None = None
    ) -> str:
        """Send a request through the forward proxy, as an application does; give the body.

        :param data: is sent by POST.
        """
        found = await self(
            self.adapter.in_background(ask_through, self.node_app.proxy.url, url, headers, data)
        )
        return str(found)

    async def upstream(self, page: str) -> Any:
        """Ask the upstream directly."""
        return await self(self.adapter.in_background(ask, f"{self.node_app.upstream_url}/{page}"))

    async def until(self, check: Callable[[], Any]) -> None:
        """Let other code run until ``check``, a function or coroutine function, returns true.

        :raises AssertionError: 20 s have passed.
        """
        end = time.monotonic() + UNTIL_SECONDS
        while True:
            found = check()
            if await found if inspect.isawaitable(found) else found:
                return
            assert time.monotonic() < end, "waited in vain"
            await self.upstream("seen?path=/nothing")

    async def rest(self, path: str) -> Any:
        return await self(self.adapter.in_background(ask, f"{self.node_app.proxy.url}{path}"))

    async def recorded(self) -> list[Any]:
        """List what the proxy recorded last; all of it would bring large bodies of other tests."""
        entries: list[Any] = (await self.rest("/api/history?limit=10"))["entries"]
        return entries

    # The mocks

    async def within(self, run: Callable[[Any], Awaitable[Any]]) -> Any:
        """Let a test of its own run within this one; give what it gives, after its end."""
        test = self.adapter.mocks(self.node_app, f"within {self.base}")
        if hasattr(test, "__aenter__"):
            async with test as mocks:
                return await run(mocks)
        with test as mocks:
            return await run(mocks)

    async def route(self, url: Any, handler: Handler, **options: Any) -> Callable[..., Any]:
        """Register a handler; give what was registered."""
        made = self.adapter.handler(handler)
        await self(self.mocks.route(url, made, **options))
        return made

    async def answer(self, url: Any, body: str, **options: Any) -> Callable[..., Any]:
        """Route to a text."""

        async def handler(route: Any, request: Any) -> None:
            await self(route.fulfill(body=body))

        return await self.route(url, handler, **options)

    async def expect(
        self, kind: str, wanted: Any, act: Callable[[], Awaitable[Any]], **options: Any
    ) -> Any:
        """Act within an expectation; give what came."""
        expectation = getattr(self.mocks, f"expect_{kind}")(wanted, **options)
        if hasattr(expectation, "__aenter__"):
            async with expectation as info:
                await act()
            return await info.value
        with expectation as info:
            await act()
        return info.value

    async def errors(self) -> list[Any]:
        taken: list[Any] = await self(self.mocks.take_errors())
        return taken

    async def late_errors(self) -> list[Any]:
        """Take errors once there are some; a handler may still be on its way out."""
        while not (errors := await self.errors()):
            await self.upstream("seen?path=/nothing")
        return errors

    async def errors_until_now(self) -> list[Any]:
        """Take errors, with all that the proxy has sent before.

        The application may have the refusal of a request before the test has heard of it. The
        answer to a query comes behind what the proxy has sent the test.
        """
        await self.requests()
        return await self.errors()

    async def requests(self, *wanted: Any, **options: Any) -> list[Any]:
        found: list[Any] = await self(self.mocks.requests(*wanted, **options))
        return found


ALONE = {"connection": "close"}
"""Headers of a request with a connection of its own: after a reset the npm agent's interceptor
can report the failure of the last request on a connection for the next one."""


def control(app_url: str, action: str, command: dict[str, Any]) -> Any:
    """Send the application a command, and give its answer."""
    data = json.dumps(command).encode()
    request = urllib.request.Request(f"{app_url}/{action}", data=data, method="POST")
    with urllib.request.urlopen(request, timeout=CONTROL_SECONDS) as response:
        answer = json.load(response)
    assert "controlError" not in (answer or {}), answer
    return answer


def ask(url: str) -> Any:
    with urllib.request.urlopen(url, timeout=CONTROL_SECONDS) as response:
        return json.loads(response.read() or b"null")


def drive(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine that never has to wait."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return stop.value
    raise AssertionError("a blocking row had to wait")


def plain(handler: Handler) -> Callable[..., Any]:
    """Make a plain function of a coroutine function that never has to wait."""

    @functools.wraps(handler)
    def call(*args: Any) -> Any:
        return drive(handler(*args))

    return call


def ask_through(
    proxy_url: str, url: str, headers: dict[str, str], data: bytes | None = None
) -> str:
    """Send a request through the forward proxy."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({"http": proxy_url}))
    with opener.open(urllib.request.Request(url, data, headers), timeout=30) as answer:
        body: str = answer.read().decode()
        return body
