"""The functions that a test gives us: what to call them, and how to call them."""

from __future__ import annotations

import inspect
from functools import partial
from typing import TYPE_CHECKING, Any

from trafficmock.testing.errors import UsageError

if TYPE_CHECKING:
    from types import CodeType

__tracebackhide__ = True
"""For pytest: a failure is shown where the test's own code called."""


def describe(function: Any, what: str = "handler") -> str:
    """Name a function of the test with its file and line."""
    name = getattr(function, "__qualname__", None) or repr(function)
    code = code_of(function)
    if code is None:
        return f"{what} {name}"
    file = code.co_filename.replace("\\", "/").rpartition("/")[2]
    return f"{what} {name} ({file}:{code.co_firstlineno})"


def code_of(function: Any) -> CodeType | None:
    """Give the code of a function of the test, which decorators and partials may hide."""
    while isinstance(function, partial):
        function = function.func
    code: CodeType | None = getattr(inspect.unwrap(function), "__code__", None)
    return code


def check_handler(handler: Any, parameters: str) -> None:
    """Refuse what cannot be called, at once: later it would fail the application's request.

    :param parameters: what a handler is called with, in words.
    :raises UsageError: it is no function.
    """
    if not callable(handler):
        raise UsageError(f"a handler is a function of {parameters}, not {handler!r}")


def call_handler(handler: Any, route: Any) -> Any:
    """Call a route handler: with the request too, unless it takes the route alone.

    Playwright for Python does so.
    """
    if _takes_route_alone(handler):
        return handler(route)
    return handler(route, route.request)


def _takes_route_alone(handler: Any) -> bool:
    try:
        signature = inspect.signature(handler)
    except (TypeError, ValueError):
        # Some builtins keep theirs to themselves.
        return False
    return not _binds(signature, 2) and _binds(signature, 1)


def _binds(signature: inspect.Signature, count: int) -> bool:
    try:
        signature.bind(*range(count))
    except TypeError:
        return False
    return True
