"""Where frameworks get a request, under every server: its context begins there.

A WSGI application runs in a thread that its server uses for one request at a time, so the context
is set and stays: the next request sets its own, and a body that is produced while it is sent
belongs to the request that asked for it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType
    from typing import Any

    from trafficmock_preload.current_context import TestContexts


def change_flask(module: ModuleType, contexts: TestContexts) -> None:
    """Flask."""
    change_wsgi(module.__dict__["Flask"], contexts)


def change_wsgi(application: Any, contexts: TestContexts) -> None:
    """Give the requests of a class of WSGI applications (PEP 3333) their contexts."""
    original = application.__call__

    def __call__(self: Any, environ: Any, start_response: Any) -> Any:  # noqa: N807 - that of WSGI
        context = contexts.read(
            environ.get("HTTP_BAGGAGE"),
            environ.get("HTTP_COOKIE"),
            environ.get("HTTP_TRACEPARENT"),
        )
        contexts.enter(context)
        if context is None:
            return original(self, environ, start_response)
        try:
            body = original(self, environ, start_response)
        except BaseException:
            contexts.close(context)
            raise
        return closing(body, lambda: contexts.close(context))

    application.__call__ = __call__


def closing(body: Any, closed: Callable[[], None]) -> Any:
    """Have a function called when the body of an answer is closed, which the server does."""
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
        # The object stays what it is: servers send files in their own way.
        body.close = close_both
    except AttributeError:
        return ClosingBody(body, close_both)
    return body


class ClosingBody:
    """The body of an answer, with a ``close`` of our own; for generators."""

    def __init__(self, body: Any, close: Callable[[], None]) -> None:
        self._body = body
        self.close = close

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._body)
