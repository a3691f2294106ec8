"""Says where a request without a context is sent from, so that people find where it was lost.

It is asked for such requests alone. The proxy only shows it.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType
    from typing import Any

    Inbound = tuple[Any, Any, float]
    """The method, the path and the time (epoch seconds) of a request that came in."""

HEADER = "Trafficmock-Origin"
STARTED = "_trafficmock_started"
"""The attribute of a thread that was started without a context: place, and whether at import."""

_MOST_FRAMES = 80
_LONGEST = 200
_OURS = os.path.dirname(__file__) + os.sep
_ENTRIES = os.path.join(_OURS, "entries") + os.sep
_LIBRARY = os.path.dirname(os.__file__) + os.sep
_INSTALLED = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")
_RUNTIME = frozenset({"asyncio", "concurrent", "contextlib", "contextvars", "multiprocessing"})
"""Modules that call the application, or run what it starts, but send nothing themselves."""

_ENTERING = frozenset({"environ", "request", "scope"})
"""The variables that hold an inbound request, in the code that handles it."""

_MOST_KINDS = 10_000
_kinds: dict[str, str] = {}
"""The kinds of files by their names."""
_APPLICATION, _INSTALLATION, _STANDARD, _OWN = "application", "installed", "standard", "ours"

_QUEUES = frozenset(
    {"arq", "billiard", "celery", "dramatiq", "huey", "kombu", "procrastinate", "rq", "taskiq"}
)
_SCHEDULES = frozenset({"apscheduler", "sched", "schedule"})
_POOLS = ("concurrent.futures.thread", "multiprocessing.pool")


def coded(past: Inbound | None, latest: Inbound | None) -> str:
    """Return the origin of a request that is sent now: JSON in base64.

    :param past: the request whose context the code has, but which does not count any more.
    :param latest: the request with a context that came in last.
    """
    from binascii import b2a_base64

    try:
        found = _origin(past, latest)
    except Exception as error:
        # Objects of the application were looked at. Its request does not fail by that.
        found = {"place": f"unknown ({type(error).__name__})"}
    return b2a_base64(_written(found).encode(), newline=False).decode()


def _written(found: dict[str, Any]) -> str:
    """Write JSON, by an encoder that is made once."""
    global _write  # noqa: PLW0603 - json is imported only where it is needed
    if _write is None:
        import json

        _write = json.JSONEncoder(separators=(",", ":")).encode
    return _write(found)


_write: Callable[[object], str] | None = None


def start_of_thread() -> tuple[str, bool]:
    """Return the place in the application that starts a thread, and whether it is at import."""
    place, at_import = "", False
    for frame in _frames():
        name = frame.f_globals.get("__name__", "")
        if name == "importlib._bootstrap":
            at_import = True
            break
        if not place and _is_application(frame):
            place, at_import = _place(frame), frame.f_code.co_name == "<module>"
    return place, at_import


def _origin(past: Inbound | None, latest: Inbound | None) -> dict[str, Any]:
    frames = list(_frames())
    names = [str(frame.f_globals.get("__name__", "")) for frame in frames]
    found = {**_call(frames, names), **_source(past, frames, names)}
    if latest is not None:
        found["carried"] = _request(*latest)
    return {name: _cut(value) for name, value in found.items() if value}


def _call(frames: list[FrameType], names: list[str]) -> dict[str, Any]:
    """Return the call of the application, and the client library that it called."""
    library = ""
    for frame, name in zip(frames, names):
        if _is_application(frame):
            return {"library": library, "place": _place(frame)}
        top = name.partition(".")[0]
        kind = _kind(frame)
        if kind == _OWN or top in _RUNTIME or top == "threading":
            continue
        library = top if kind == _INSTALLATION else name
    return {"library": library}


def _source(past: Inbound | None, frames: list[FrameType], names: list[str]) -> dict[str, Any]:
    """Return what runs the code that sends the request."""
    if past is not None:
        return {"kind": "expired", "inbound": _request(*past)}
    for package in (name.partition(".")[0] for name in reversed(names)):
        if package in _QUEUES or package in _SCHEDULES:
            return {"kind": "queue" if package in _QUEUES else "timer", "name": package}
    if (inbound := _handled(frames)) is not None:
        return {"kind": "request", "inbound": inbound}
    if "asyncio.events" in names:
        return _of_loop()
    # Not at the top: its import is what changes threads, and that reads this module.
    import threading

    thread = threading.current_thread()
    if thread is threading.main_thread():
        return {"kind": "main"}
    place, at_import = getattr(thread, STARTED, ("", False))
    is_pooled = any(name in _POOLS for name in names)
    is_timer = isinstance(thread, threading.Timer)
    kind = "timer" if is_timer else "pool" if is_pooled else "thread"
    return {"kind": kind, "name": thread.name, "started": place, "atImport": at_import}


def _of_loop() -> dict[str, Any]:
    import asyncio

    task = asyncio.current_task()
    if task is None:
        return {"kind": "timer"}
    coroutine = getattr(task.get_coro(), "__qualname__", "")
    return {"kind": "task", "name": f"{task.get_name()} ({coroutine})"}


def _handled(frames: list[FrameType]) -> dict[str, Any] | None:
    """Return the inbound request that the code handles, from the variables of its callers."""
    for frame in reversed(frames):
        # Reading the variables of a frame copies them.
        code = frame.f_code
        if _ENTERING.isdisjoint(code.co_varnames + code.co_cellvars + code.co_freevars):
            continue
        values = frame.f_locals
        environ, scope = values.get("environ"), values.get("scope")
        if isinstance(environ, dict) and "REQUEST_METHOD" in environ:
            return _request(environ["REQUEST_METHOD"], environ.get("PATH_INFO"))
        if isinstance(scope, dict) and scope.get("type") in ("http", "websocket"):
            return _request(scope.get("method", "WebSocket"), scope.get("path"))
        request = values.get("request") if frame.f_code.co_filename.startswith(_ENTRIES) else None
        if request is not None and hasattr(request, "method") and hasattr(request, "path"):
            return _request(request.method, request.path)
    return None


def _request(method: object, path: object, at: float = 0) -> dict[str, Any]:
    return {"method": _text(method), "path": _text(path).partition("?")[0], "at": round(at * 1000)}


def _frames() -> Iterator[FrameType]:
    """Yield the callers of this module, the innermost first."""
    frame: FrameType | None = sys._getframe(1)
    for _ in range(_MOST_FRAMES):
        if frame is None:
            return
        if frame.f_code.co_filename != __file__:
            yield frame
        frame = frame.f_back


def _is_application(frame: FrameType) -> bool:
    return _kind(frame) == _APPLICATION


def _kind(frame: FrameType) -> str:
    """Return the kind of the file whose code a frame runs."""
    name = frame.f_code.co_filename
    kind = _kinds.get(name)
    if kind is None:
        kind = _kind_of(name)
        if len(_kinds) < _MOST_KINDS:
            _kinds[name] = kind
    return kind


def _kind_of(name: str) -> str:
    if name.startswith(_OURS):
        return _OWN
    if any(each in name for each in _INSTALLED):
        return _INSTALLATION
    return _STANDARD if name.startswith(("<frozen", _LIBRARY)) else _APPLICATION


def _place(frame: FrameType) -> str:
    name = frame.f_code.co_filename
    here = os.getcwd() + os.sep
    shown = name[len(here) :] if name.startswith(here) else os.sep.join(name.split(os.sep)[-2:])
    return f"{shown}:{frame.f_lineno} in {frame.f_code.co_name}"


def _text(value: object) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)


def _cut(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _cut(each) for name, each in value.items()}
    return value[:_LONGEST] if isinstance(value, str) else value
