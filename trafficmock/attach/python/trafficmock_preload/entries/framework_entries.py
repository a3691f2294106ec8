"""Changes the entry points of web frameworks, so that each request sets its context.

A WSGI server uses a thread for one request at a time. So the context stays set after the
application returned, for a body that is produced while it is sent; the next request sets its own.
Elsewhere the context is reset when the call ends.
"""

from __future__ import annotations

from functools import partial

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import ModuleType
    from typing import Any

    from trafficmock_preload.current_context import TestContext, TestContexts

HEADERS = {"baggage": ",", "cookie": "; ", "traceparent": ","}
"""The headers that may have a context, with what joins several lines of one."""

_RAW_HEADERS = {name.encode(): joint.encode() for name, joint in HEADERS.items()}


def change_wsgi(module: ModuleType, contexts: TestContexts, name: str) -> None:
    """Set the context of each request in a class of WSGI applications (PEP 3333).

    :param name: the name of the class in the module.
    """
    application: Any = module.__dict__[name]
    original = application.__call__

    def __call__(self: Any, environ: Any, start_response: Any) -> Any:  # noqa: N807 - that of WSGI
        return served(contexts, environ, lambda: original(self, environ, start_response))

    application.__call__ = __call__


def change_wsgiref(module: ModuleType, contexts: TestContexts) -> None:
    """Set the context of each request under ``wsgiref``, for any WSGI application."""
    handler: Any = module.__dict__["BaseHandler"]
    original = handler.run

    def run(self: Any, application: Any) -> Any:
        def entered(environ: Any, start_response: Any) -> Any:
            return served(contexts, environ, lambda: application(environ, start_response))

        return original(self, entered)

    handler.run = run


def served(contexts: TestContexts, environ: Any, call: Callable[[], Any]) -> Any:
    """Call a WSGI application in the context of its request, which stays set.

    :param environ: of the request.
    :param call: calls the application.
    """
    context = contexts.read(*carried_by(environ))
    if context is not None and is_within(contexts.running(), context):
        return call()
    contexts.enter(context)
    if context is None:
        return call()
    try:
        body = call()
    except BaseException:
        contexts.close(context)
        raise
    return closing(body, lambda: contexts.close(context))


def carried_by(environ: Any) -> tuple[str | None, str | None, str | None, tuple[Any, Any]]:
    """Return what the ``environ`` of a WSGI request has for :meth:`.TestContexts.read`."""
    return (
        environ.get("HTTP_BAGGAGE"),
        environ.get("HTTP_COOKIE"),
        environ.get("HTTP_TRACEPARENT"),
        (environ.get("REQUEST_METHOD"), environ.get("PATH_INFO")),
    )


def is_within(running: TestContext | None, context: TestContext) -> bool:
    """Return whether an application is called within another one, which has set the context."""
    return running is not None and running.closed_at is None and running.id == context.id


def closing(body: Any, closed: Callable[[], None]) -> Any:
    """Call a function when the server closes the body of a response.

    :returns: the body, or a wrapper around a generator.
    """
    if isinstance(body, (list, tuple)):
        closed()
        return body
    close = getattr(body, "close", None)

    def close_both() -> None:
        try:
            if close is not None:
                close()
        finally:
            closed()

    try:
        # Not wrapped where that can be avoided: servers recognise files by their class.
        body.close = close_both
    except AttributeError:
        return ClosingBody(body, close_both)
    return body


class ClosingBody:
    """Wraps the body of a response, and replaces its ``close``; for generators."""

    def __init__(self, body: Any, close: Callable[[], None]) -> None:
        self._body = body
        self.close = close

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._body)


def change_asgi(module: ModuleType, contexts: TestContexts, name: str) -> None:
    """Set the context of each request and WebSocket in a class of ASGI applications.

    :param name: the name of the class in the module.
    """
    application: Any = module.__dict__[name]
    original = application.__call__

    async def __call__(self: Any, scope: Any, receive: Any, send: Any) -> Any:  # noqa: N807 - that of ASGI
        return await asgi_entry(partial(original, self), contexts)(scope, receive, send)

    application.__call__ = __call__


def asgi_entry(application: Any, contexts: TestContexts) -> Any:
    """Wrap an ASGI application: it is called in the context of each request and WebSocket."""

    async def entered(scope: Any, receive: Any, send: Any) -> Any:
        named = scope.get("method", "WebSocket"), scope.get("path")
        context = contexts.read(*_carried(scope.get("headers") or ()), named)
        running = contexts.running()
        if context is None or is_within(running, context):
            if context is None and running is not None:
                contexts.enter(None)
            return await application(scope, receive, send)

        async def watched(message: Any) -> None:
            await send(message)
            if message.get("type") == "http.response.body" and not message.get("more_body"):
                contexts.close(context)

        contexts.enter(context)
        try:
            return await application(scope, receive, watched)
        finally:
            contexts.close(context)
            contexts.enter(running)

    return entered


def _carried(pairs: Iterable[tuple[bytes, bytes]]) -> tuple[str | None, str | None, str | None]:
    """Return the values of the headers that may have a context; names must be in lower case."""
    found: dict[bytes, bytes] = {}
    for name, value in pairs:
        if name in _RAW_HEADERS:
            found[name] = found[name] + _RAW_HEADERS[name] + value if name in found else value
    texts = (found[name].decode("latin-1") if name in found else None for name in _RAW_HEADERS)
    baggage, cookie, trace = texts
    return baggage, cookie, trace


def change_aiohttp_web(module: ModuleType, contexts: TestContexts) -> None:
    """Set the context of each request of aiohttp's server; a connection has one task for all."""
    application: Any = module.__dict__["Application"]
    original = application._handle

    async def handle(self: Any, request: Any) -> Any:
        lines = [request.headers.getall(name, []) for name in HEADERS]
        named = request.method, request.path
        return await within_request(original(self, request), lines, contexts, named)

    application._handle = handle


async def within_request(
    coroutine: Any, lines: list[list[str]], contexts: TestContexts, named: tuple[Any, Any]
) -> Any:
    """Await a coroutine in the context of a request.

    :param lines: the values of each of :data:`HEADERS`, in their order.
    :param named: the method and the path of the request.
    """
    joined = zip(HEADERS.values(), lines)
    baggage, cookie, trace = (joint.join(each) if each else None for joint, each in joined)
    context = contexts.read(baggage, cookie, trace, named)
    running = contexts.enter(context)
    try:
        return await coroutine
    finally:
        contexts.close(context)
        contexts.enter(running)


def change_twisted_web(module: ModuleType, contexts: TestContexts) -> None:
    """Set the context of each request of Twisted's server, in a copy of Python's context."""
    request_class: Any = module.__dict__["Request"]
    original = request_class.requestReceived

    def requestReceived(self: Any, command: Any, path: Any, version: Any) -> Any:
        from contextvars import copy_context

        context = contexts.read(*_carried(_raw_pairs(self.requestHeaders)), (command, path))
        if context is None:
            return original(self, command, path, version)
        if not self._disconnected and not self.finished:
            self.notifyFinish().addBoth(lambda _: contexts.close(context))
        copied = copy_context()
        copied.run(contexts.enter, context)
        return copied.run(original, self, command, path, version)

    request_class.requestReceived = requestReceived


def _raw_pairs(headers: Any) -> list[tuple[bytes, bytes]]:
    return [(name, value) for name in _RAW_HEADERS for value in headers.getRawHeaders(name) or ()]
