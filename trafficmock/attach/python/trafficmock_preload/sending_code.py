"""Says where a request without a context is sent from, so that people find where it was lost.

It is asked for such requests alone. The proxy only shows it.
"""

from __future__ import annotations

import os
import sys
from functools import lru_cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType
    from typing import Any

    Inbound = tuple[Any, Any, float]
    """The method, the path and the time (epoch seconds) of a request that came in."""

HEADER = "Trafficmock-Origin"
STARTED = "_trafficmock_started"
"""The attribute of a thread that was started without a context: place, and whether at import."""

RECEIVES = "_trafficmock_receives"
"""The attribute of a thread that receives messages: what they are of."""

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

APPLICATION, _INSTALLATION, _STANDARD, OWN = "application", "installed", "standard", "ours"

_QUEUES = frozenset(
    {"arq", "billiard", "celery", "dramatiq", "huey", "kombu", "procrastinate", "rq", "taskiq"}
)
_SCHEDULES = frozenset({"apscheduler", "sched", "schedule"})
_BATCHES = frozenset({"aiodataloader", "promise.dataloader", "strawberry.dataloader"})
_POOLS = frozenset({"concurrent.futures.thread", "multiprocessing.pool"})
_IMPORT = "importlib._bootstrap"


class _Code:
    """What the code that a frame runs tells, which is found once.

    :ivar code: the code. Its own hash is slow.
    :ivar kind: that of its file.
    :ivar shown: its file, as it is shown.
    :ivar starts: the library by which it starts what it calls; empty if it is none for that.
    :ivar holds_request: whether its variables may hold an inbound request.
    :ivar is_telling: whether it says what runs the code that it calls.
    """

    __slots__ = ("code", "holds_request", "is_telling", "kind", "module", "shown", "starts", "top")

    def __init__(self, code: CodeType, module: str) -> None:
        file = code.co_filename
        self.code = code
        self.module = module
        self.top = module.partition(".")[0]
        self.kind = kind_of(file)
        self.shown = _shown(file)
        starts = self.top in _QUEUES or self.top in _SCHEDULES or module in _BATCHES
        self.starts = self.top if starts else ""
        names = _ENTERING.intersection(code.co_varnames + code.co_cellvars + code.co_freevars)
        self.holds_request = bool(names if file.startswith(_ENTRIES) else names - {"request"})
        self.is_telling = bool(self.starts or self.holds_request or module in {_IMPORT, *_POOLS})


_MOST_CODES = 10_000
_codes: dict[int, _Code] = {}
"""By the ids of their code, which stays, so that no other code gets its id."""


def coded(past: Inbound | None, latest: Inbound | None, *, is_loop: bool = False) -> str:
    """Return the origin of a request that is sent now: JSON in base64.

    :param past: the request that has begun the code, but whose context does not count for it.
    :param latest: the request with a context that came in last.
    :param is_loop: whether the code is a loop that works for everyone.
    """
    from binascii import b2a_base64

    try:
        found = _origin(past, latest, is_loop=is_loop)
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
    for frame, code in _frames():
        if code.module == _IMPORT:
            at_import = True
            break
        if not place and code.kind == APPLICATION:
            place, at_import = _place(frame, code), code.code.co_name == "<module>"
    return place, at_import


def note_messages(library: str) -> None:
    """Note that this thread receives messages.

    :param library: what they are of.
    """
    import threading

    setattr(threading.current_thread(), RECEIVES, library)


def _origin(past: Inbound | None, latest: Inbound | None, *, is_loop: bool) -> dict[str, Any]:
    frames = _frames()
    source = _source(past, frames)
    if is_loop and source["kind"] == "expired":
        source["kind"] = "loop"
    found = {**_call(frames), **source}
    if latest is not None:
        found["carried"] = _request(*latest)
    return {name: _cut(value) for name, value in found.items() if value}


def _call(frames: list[tuple[FrameType, _Code]]) -> dict[str, Any]:
    """Return the call of the application, and the client library that it called."""
    library = ""
    for frame, code in frames:
        if code.kind == APPLICATION:
            return {"library": library, "place": _place(frame, code)}
        if code.kind == OWN or code.top in _RUNTIME or code.top == "threading":
            continue
        library = code.top if code.kind == _INSTALLATION else code.module
    return {"library": library}


def _source(past: Inbound | None, frames: list[tuple[FrameType, _Code]]) -> dict[str, Any]:
    """Return what runs the code that sends the request."""
    if past is not None:
        return {"kind": "expired", "inbound": _request(*past)}
    for _, code in reversed(frames):
        if code.starts:
            kind = "queue" if code.starts in _QUEUES else "timer"
            return {"kind": "batch" if code.module in _BATCHES else kind, "name": code.starts}
    if (inbound := _handled(frames)) is not None:
        return {"kind": "request", "inbound": inbound}
    if (task := _of_loop() or _of_greenlet()) is not None:
        return task
    # Not at the top: its import is what changes threads, and that reads this module.
    import threading

    thread = threading.current_thread()
    received = getattr(thread, RECEIVES, "")
    if thread is threading.main_thread():
        return {"kind": "receiver", "name": received} if received else {"kind": "main"}
    place, at_import = getattr(thread, STARTED, ("", False))
    is_timer = isinstance(thread, threading.Timer)
    is_pooled = any(code.module in _POOLS for _, code in frames)
    kind = "timer" if is_timer else "pool" if is_pooled else "receiver" if received else "thread"
    name = received if kind == "receiver" else thread.name
    return {"kind": kind, "name": name, "started": place, "atImport": at_import}


def _of_loop() -> dict[str, Any] | None:
    """Return what the loop of asyncio runs in this thread; ``None`` if no loop does.

    Its own functions need not be among the callers: those of uvloop are in C.
    """
    asyncio = sys.modules.get("asyncio")
    if asyncio is None or asyncio._get_running_loop() is None:
        return None
    task = asyncio.current_task()
    if task is None:
        return {"kind": "timer"}
    coroutine = getattr(task.get_coro(), "__qualname__", "")
    return {"kind": "task", "name": f"{task.get_name()} ({coroutine})"}


def _of_greenlet() -> dict[str, Any] | None:
    """Return the greenlet of gevent or eventlet that runs; ``None`` if none does."""
    greenlet = sys.modules.get("greenlet")
    running = None if greenlet is None else greenlet.getcurrent()
    if running is None or running.parent is None:
        return None
    return {"kind": "task", "name": str(getattr(running, "name", type(running).__name__))}


def _handled(frames: list[tuple[FrameType, _Code]]) -> dict[str, Any] | None:
    """Return the inbound request that the code handles, from the variables of its callers."""
    for frame, code in reversed(frames):
        # Reading the variables of a frame copies them.
        if not code.holds_request:
            continue
        values = frame.f_locals
        environ, scope = values.get("environ"), values.get("scope")
        if isinstance(environ, dict) and "REQUEST_METHOD" in environ:
            return _request(environ["REQUEST_METHOD"], environ.get("PATH_INFO"))
        if isinstance(scope, dict) and scope.get("type") in ("http", "websocket"):
            return _request(scope.get("method", "WebSocket"), scope.get("path"))
        request = values.get("request") if code.code.co_filename.startswith(_ENTRIES) else None
        if request is not None and hasattr(request, "method") and hasattr(request, "path"):
            return _request(request.method, request.path)
    return None


def _request(method: object, path: object, at: float = 0) -> dict[str, Any]:
    return {"method": _text(method), "path": _text(path).partition("?")[0], "at": round(at * 1000)}


def _frames() -> list[tuple[FrameType, _Code]]:
    """Return the callers of this module that tell something, the innermost first.

    These are all up to the application's own code, and those that say what runs it.
    """
    found, in_application = [], False
    frame: FrameType | None = sys._getframe(1)
    for _ in range(_MOST_FRAMES):
        if frame is None:
            break
        try:
            code = _codes[id(frame.f_code)]
        except KeyError:
            code = _known(frame)
        if code.is_telling or not in_application:
            found.append((frame, code))
            in_application = in_application or code.kind == APPLICATION
        frame = frame.f_back
    return found


def _known(frame: FrameType) -> _Code:
    """Find out what the code of a frame tells, and remember it."""
    code = _Code(frame.f_code, str(frame.f_globals.get("__name__", "")))
    if len(_codes) < _MOST_CODES:
        _codes[id(frame.f_code)] = code
    return code


@lru_cache(maxsize=4096)
def kind_of(name: str) -> str:
    """Return whose the code of a file is: that of the application, installed, standard or ours."""
    if name.startswith(_OURS):
        return OWN
    if any(each in name for each in _INSTALLED):
        return _INSTALLATION
    return _STANDARD if name.startswith(("<frozen", _LIBRARY)) else APPLICATION


def _shown(file: str) -> str:
    try:
        here = os.getcwd() + os.sep
    except OSError:
        # The directory has been removed.
        here = None
    if here is not None and file.startswith(here):
        return file[len(here) :]
    return os.sep.join(file.split(os.sep)[-2:])


def _place(frame: FrameType, code: _Code) -> str:
    return f"{code.shown}:{frame.f_lineno} in {code.code.co_name}"


def _text(value: object) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)


def _cut(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _cut(each) for name, each in value.items()}
    return value[:_LONGEST] if isinstance(value, str) else value
