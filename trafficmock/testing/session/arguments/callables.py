"""Names, checks and calls the functions that a test passes."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from types import CodeType
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from trafficmock.testing.errors import HandlerSignatureError, UsageError

T = TypeVar("T")


def describe(function: Any, what: str = "handler") -> str:
    """Return the name of a function with its file and line, for reports.

    :param what: the kind of function, for the text.
    """
    name = getattr(function, "__qualname__", None) or repr(function)
    code = code_of(function)
    if code is None:
        return f"{what} {name}"
    file = code.co_filename.replace("\\", "/").rpartition("/")[2]
    return f"{what} {name} ({file}:{code.co_firstlineno})"


def code_of(function: Any) -> CodeType | None:
    """Return the code object of a function, inside of decorators and partials."""
    while isinstance(function, partial):
        function = function.func
    code: CodeType | None = getattr(inspect.unwrap(function), "__code__", None)
    return code


def check_handler(handler: Any, parameters: str, most: int = 1) -> None:
    """Check that a handler can be called, before a request depends on it.

    :param parameters: the parameters of a handler, for the text.
    :param most: the number of arguments that it is called with; it may take fewer, at least one.
    :raises UsageError: it is not callable.
    :raises HandlerSignatureError: it does not take that many arguments.
    """
    if not callable(handler):
        raise UsageError(f"a handler is a function of {parameters}, not {handler!r}")
    signature = _signature(handler)
    _takes_route_alone(handler)
    if signature is not None and not any(_binds(signature, n) for n in range(1, most + 1)):
        raise HandlerSignatureError(
            f"{describe(handler)} is called as a function of {parameters}; "
            f"it cannot be: its parameters are {signature}"
        )


def call_handler(handler: Any, route: Any) -> Any:
    """Call a handler with the route, and with the request if it takes two arguments.

    Playwright for Python has the same rule.
    """
    if _takes_route_alone(handler):
        return handler(route)
    return handler(route, route.request)


def outcome_of(function: Callable[[], T]) -> tuple[T | None, BaseException | None]:
    """Call a function that calls functions of the test, on the thread of the session.

    The error of such a function is the test's, whatever its class: ``pytest.fail``, ``pytest.skip``
    and ``sys.exit`` raise errors that are no ``Exception``. An event loop passes these on to its
    own caller, and so ends; other tests have their connection on the same loop.

    :returns: the result and ``None``, or ``None`` and the error.
    """
    try:
        return function(), None
    except BaseException as error:  # noqa: BLE001 - it is code of the test
        return None, readable(error)


def readable(error: BaseException) -> BaseException:
    """Replace an error that cannot be told: one whose own text fails, and ``StopIteration``.

    A future of asyncio does not take ``StopIteration``, and who awaits it would wait for ever.
    Python replaces it in the same way where an ``async`` function raises it (PEP 479).
    """
    if isinstance(error, StopIteration):
        ended = RuntimeError("the function raised StopIteration, as next() does at the end")
        ended.__cause__ = error
        return ended.with_traceback(error.__traceback__)
    try:
        str(error)
    except BaseException as wrong:  # noqa: BLE001 - it is code of the test
        name = type(error).__name__
        replaced = RuntimeError(f"{name}, whose text cannot be read: {type(wrong).__name__}")
        return replaced.with_traceback(error.__traceback__)
    return error


_known: WeakKeyDictionary[Any, bool] = WeakKeyDictionary()
"""Whether a handler takes only the route, read once at its registration.

Python's parser reads the signature of a builtin. In Python 3.11 it fails when two threads use it at
once: pytest may write a failure while a handler is called on another thread.
"""


def _takes_route_alone(handler: Any) -> bool:
    try:
        known = _known.get(handler)
    except TypeError:  # not hashable
        return _read_takes_route_alone(handler)
    if known is None:
        known = _read_takes_route_alone(handler)
        with suppress(TypeError):  # no weak references
            _known[handler] = known
    return known


def _read_takes_route_alone(handler: Any) -> bool:
    signature = _signature(handler)
    return signature is not None and not _binds(signature, 2) and _binds(signature, 1)


def _signature(function: Any) -> inspect.Signature | None:
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        # Some builtins have no signature.
        return None


def _binds(signature: inspect.Signature, count: int) -> bool:
    try:
        signature.bind(*range(count))
    except TypeError:
        return False
    return True
