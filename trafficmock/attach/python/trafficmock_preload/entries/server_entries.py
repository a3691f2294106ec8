"""Changes servers, so that each request sets its context under any framework, or under none.

The application's class in :mod:`.framework_entries` sets it again, for an application that is
called by a server that is not listed here.
"""

from __future__ import annotations

import sys

from trafficmock_preload.entries.framework_entries import (
    HEADERS,
    asgi_entry,
    carried_by,
    within_request,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType, ModuleType
    from typing import Any

    from trafficmock_preload.current_context import TestContext, TestContexts


def change_environ(
    module: ModuleType, contexts: TestContexts, name: str, reads: str, serves: str
) -> None:
    """Set the context where a class for one WSGI request makes its ``environ`` (PEP 3333).

    :param name: the class.
    :param reads: the method that returns the ``environ``, in the thread that serves the request.
    :param serves: the method that calls the other one, and then the application, to its end.
    """
    handler: Any = module.__dict__[name]
    original_reads, original_serves = getattr(handler, reads), getattr(handler, serves)

    def read(self: Any, *args: Any, **kwargs: Any) -> Any:
        environ = original_reads(self, *args, **kwargs)
        contexts.enter(contexts.read(*carried_by(environ)))
        return environ

    def serve(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return original_serves(self, *args, **kwargs)
        finally:
            contexts.close(contexts.running())
            contexts.enter(None)

    setattr(handler, reads, read)
    setattr(handler, serves, serve)


def change_gunicorn(module: ModuleType, contexts: TestContexts) -> None:
    """Set the context where a worker of Gunicorn makes the ``environ`` and the response."""
    original = module.__dict__["create"]
    response_class: Any = module.__dict__["Response"]
    original_close = response_class.close

    def create(*args: Any, **kwargs: Any) -> Any:
        response, environ = original(*args, **kwargs)
        contexts.enter(contexts.read(*carried_by(environ)))
        return response, environ

    def close(self: Any) -> Any:
        try:
            return original_close(self)
        finally:
            contexts.close(contexts.running())

    module.__dict__["create"] = create
    response_class.close = close


def change_cheroot(module: ModuleType, contexts: TestContexts) -> None:
    """Set the context while the gateway of Cheroot, CherryPy's server, answers a request."""
    _change_call(module.__dict__["Gateway"], "respond", lambda gateway, _: gateway.env, contexts)


def change_hypercorn(module: ModuleType, contexts: TestContexts) -> None:
    """Set the context of each request of Hypercorn, for ASGI and for WSGI applications."""
    change_application(module, contexts, "ASGIWrapper", "__init__", "app")
    _change_call(module.__dict__["WSGIWrapper"], "run_app", lambda _, args: args[0], contexts)


def _change_call(
    owner: Any, method: str, environ_of: Callable[[Any, Any], Any], contexts: TestContexts
) -> None:
    """Set the context during a method that calls a WSGI application.

    :param environ_of: returns the ``environ`` from the object and the arguments of a call.
    """
    original = getattr(owner, method)

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        context = contexts.read(*carried_by(environ_of(self, args)))
        contexts.enter(context)
        try:
            return original(self, *args, **kwargs)
        finally:
            contexts.close(context)
            contexts.enter(None)

    setattr(owner, method, call)


def change_application(
    module: ModuleType, contexts: TestContexts, name: str, method: str, attribute: str
) -> None:
    """Enter the context of each request before the ASGI application that an object has.

    :param name: the class of the object.
    :param method: has set the attribute when it returns.
    :param attribute: the application.
    """
    server: Any = module.__dict__[name]
    original = getattr(server, method)

    def set_application(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = original(self, *args, **kwargs)
        setattr(self, attribute, asgi_entry(getattr(self, attribute), contexts))
        return result

    setattr(server, method, set_application)


def change_sanic(module: ModuleType, contexts: TestContexts) -> None:
    """Set the context of each request of Sanic, which writes the source of some methods anew."""
    protocol: Any = module.__dict__["HttpProtocol"]
    original = protocol.__init__

    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        handle = self.request_handler

        async def handled(request: Any) -> Any:
            headers = request.headers
            lines = [headers.getall(name, []) for name in HEADERS]
            return await within_request(
                handle(request), lines, contexts, (request.method, request.path)
            )

        self.request_handler = handled

    protocol.__init__ = init


def change_tornado(module: ModuleType, contexts: TestContexts) -> None:
    """Set the context of each request of Tornado, while its handler runs."""
    handler: Any = module.__dict__["RequestHandler"]
    original = handler._execute

    async def _execute(self: Any, *args: Any, **kwargs: Any) -> Any:
        lines = [self.request.headers.get_list(name) for name in HEADERS]
        named = self.request.method, self.request.path
        return await within_request(original(self, *args, **kwargs), lines, contexts, named)

    handler._execute = _execute


def change_deferreds(module: ModuleType, contexts: TestContexts) -> None:
    """Run each callback of a Deferred in the context in which it was added."""
    deferred: Any = module.__dict__["Deferred"]
    for name, count in (("addCallbacks", 2), ("addCallback", 1), ("addErrback", 1), ("addBoth", 1)):
        setattr(deferred, name, _adding(getattr(deferred, name), count, contexts))


def _adding(original: Any, count: int, contexts: TestContexts) -> Any:
    """Return a method that adds callbacks, the first of its arguments, in the present context.

    :param count: how many of them are callbacks.
    """

    def within(deferred: Any, function: Any, context: TestContext, caller: FrameType) -> Any:
        if not callable(function):
            return function
        is_continued = caller.f_globals.get("__name__") == "twisted.internet.defer"
        work = contexts.called_back(context, None if is_continued else caller, deferred)

        def called(*args: Any, **kwargs: Any) -> Any:
            result = function(*args, **kwargs)
            if work is not None:
                # The Deferred waits for one that is returned.
                work.wait_for(result)
            return result

        return contexts.within(called, context, work)

    def add(self: Any, *args: Any, **kwargs: Any) -> Any:
        context = contexts.running(gives=True)
        if context is None:
            return original(self, *args, **kwargs)
        caller = sys._getframe(1)
        added = [within(self, each, context, caller) for each in args[:count]]
        for name in ("callback", "errback"):
            if name in kwargs:
                kwargs[name] = within(self, kwargs[name], context, caller)
        return original(self, *added, *args[count:], **kwargs)

    return add
