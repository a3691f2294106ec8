"""The JavaScript test side, as rows use it: their calls go to a Node process, over pipes.

``row_server.mjs`` is the other end. A row is written for Python; here its names, options and errors
are translated into those of JavaScript and back.
"""

from __future__ import annotations

import base64
import contextlib
import functools
import inspect
import json
import os
import queue
import re
import shutil
import subprocess
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Self

from tests.testing.row_context import drive
from trafficmock.matching import GlobError
from trafficmock.testing import errors

SERVER = Path(__file__).with_name("row_server.mjs")
SECONDS = 40.0

PROPERTIES = {
    "ConnectedTrafficMock": {"id", "headers", "cookie"},
    "Request": {
        *("url", "method", "headers", "client_id", "post_data", "post_data_buffer"),
        *("post_data_json", "redirected_from", "redirected_to", "existing_response", "failure"),
        *("resource_type", "frame", "service_worker", "timing"),
    },
    "Response": {"status", "ok", "url", "status_text", "headers", "request", "frame"}
    | {"from_service_worker"},
    "Stream": {"request"},
    "WebSocketRoute": {"url", "protocols"},
    "RouteHandle": {"call_count"},
}
"""What Python reads where JavaScript calls, by class."""

NAMES = {
    "continue_": "continue",
    "route_from_har": "routeFromHAR",
    "post_data_json": "postDataJSON",
}
"""Names whose JavaScript spelling is not the camel case of Python's."""

MATCHED = {"route", "mock", "stream", "unroute", "requests", "route_web_socket"}
WAITED = {"wait_for_request", "wait_for_response"}
CONDITIONS = {"match_query", "match_headers", "match_form", "match_json", "match_graphql"}
FILTERS = {"method", "client_id", *CONDITIONS}
DATA = {"json", "post_data"}
"""Options whose values are data, in which no name is translated."""

ERRORS: dict[str, type[Exception]] = {
    "TimeoutError": errors.WaitTimeoutError,
    "SyntaxError": json.JSONDecodeError,
    "GlobError": GlobError,
    "ENOENT": FileNotFoundError,
    "unmatched_request": errors.UnmatchedRequestError,
    **{
        each.__name__: each
        for each in vars(errors).values()
        if isinstance(each, type) and issubclass(each, Exception)
    },
    "ValueError": ValueError,
}
"""Python's error for one of JavaScript, by its code or class."""

WORDS = {
    "statusText": "status_text",
    "contentType": "content_type",
    "clientId": "client_id",
    "matchQuery": "match_query",
    "matchJson": "match_json",
    "matchGraphql": "match_graphql",
}
"""Names of options in errors."""


def camel(name: str) -> str:
    """Give a name as JavaScript spells it."""
    return NAMES.get(name) or re.sub(r"_(.)", lambda found: found[1].upper(), name)


class RowServer:
    """The Node process."""

    def __init__(self) -> None:
        asked, ask = os.pipe()
        answered, answer = os.pipe()
        self._process = subprocess.Popen(
            [shutil.which("node") or "node", str(SERVER), str(ask), str(answered)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            pass_fds=(ask, answered),
        )
        os.close(ask)
        os.close(answered)
        self._lock = threading.Lock()
        self._last = 0
        self._results: dict[int, Future[Any]] = {}
        self._objects: weakref.WeakValueDictionary[int, Remote] = weakref.WeakValueDictionary()
        self._functions: list[Callable[..., Any]] = []
        self._queues: dict[int, queue.Queue[Callable[[], None]]] = {}
        self._answers = os.fdopen(answer, "wb", 0)
        for read in (self._listen, functools.partial(self._judge, os.fdopen(asked, "rb"))):
            threading.Thread(target=read, daemon=True).start()

    def stop(self) -> None:
        """End the process."""
        assert self._process.stdin and self._process.stdout
        self._process.stdin.close()
        self._process.wait(10)
        self._process.stdout.close()

    def connect(self, **options: Any) -> Any:
        """Begin a test."""
        return self.call(0, "connect", [options])

    def call(self, target: int, name: str, args: list[Any]) -> Any:
        """Call a method, or read an attribute, and wait for the result."""
        future: Future[Any] = Future()
        with self._lock:
            self._last += 1
            number = self._last
            self._results[number] = future
        self._send({"id": number, "target": target, "name": name, "args": args})
        return future.result(SECONDS)

    # What comes

    def _listen(self) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            message = json.loads(line)
            if "call" in message:
                self._begin(message)
            elif "error" in message:
                self._results.pop(message["id"]).set_exception(error_of(message["error"]))
            else:
                self._results.pop(message["id"]).set_result(self.decode(message["value"]))
        ended = errors.ConnectionLostError("the row server has ended")
        for future in self._results.values():
            if not future.done():
                future.set_exception(ended)

    def _begin(self, message: dict[str, Any]) -> None:
        """Run a function: handlers at once, those of one WebSocket's messages in their order."""
        number = message["call"]

        def run() -> None:
            self._send({"id": message["id"], **self._run(number, message["args"])})

        if not getattr(self._functions[number], "in_order", False):
            threading.Thread(target=run, daemon=True).start()
            return
        if number not in self._queues:
            jobs = self._queues[number] = queue.Queue()
            threading.Thread(
                target=lambda: [job() for job in iter(jobs.get, None)], daemon=True
            ).start()
        self._queues[number].put(run)

    def _judge(self, asked: Any) -> None:
        """Answer for predicates, while the process waits."""
        for line in asked:
            message = json.loads(line)
            answer = self._run(message["call"], message["args"])
            self._answers.write(json.dumps(answer).encode() + b"\n")

    def _run(self, number: int, args: list[Any]) -> dict[str, Any]:
        try:
            function = self._functions[number]
            taken = len(inspect.signature(function).parameters)
            value = function(*self.decode(args)[:taken])
            if inspect.iscoroutine(value):
                value = drive(value)
        except Exception as error:  # noqa: BLE001 - whatever a handler raises goes to its caller
            return {"error": {"name": type(error).__name__, "message": str(error)}}
        return {"value": value if isinstance(value, bool) else None}

    # Values

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin
        line = json.dumps(message, default=self._encode).encode() + b"\n"
        with self._lock:
            self._process.stdin.write(line)
            self._process.stdin.flush()

    def _encode(self, value: Any) -> Any:
        match value:
            case bytes():
                return {"$bytes": base64.b64encode(value).decode()}
            case Path():
                return str(value)
            case Remote():
                return {"$object": value.number}
            case re.Pattern():
                return {"$regexp": [value.pattern, "i" if value.flags & re.IGNORECASE else ""]}
            case Function():
                return {"$function": value.described(self._functions)}
        return {"$pattern": Function(value.test, at_once=True).described(self._functions)}

    def decode(self, value: Any) -> Any:
        """Give a value that came."""
        if isinstance(value, list):
            return [self.decode(each) for each in value]
        if not isinstance(value, dict):
            return value
        if "$bytes" in value:
            return base64.b64decode(value["$bytes"])
        if "$error" in value:
            return error_of(value["$error"])
        if "$object" in value:
            return self._borrowed(value["$object"], value["type"])
        return {key: self.decode(each) for key, each in value.items()}

    def _borrowed(self, number: int, kind: str) -> Remote:
        """Give the object, which is returned when nobody here has it any more."""
        found = self._objects.get(number)
        if found is None:
            found = self._objects[number] = Remote(self, number, kind)
            weakref.finalize(found, self._give_back, number, found.received)
        found.received.append(number)
        return found

    def _give_back(self, number: int, received: list[int]) -> None:
        with contextlib.suppress(OSError, ValueError):
            self._send({"release": number, "count": len(received)})


class Function:
    """A function of a row that JavaScript calls.

    :param at_once: JavaScript waits for its answer, and does nothing else.
    """

    def __init__(self, function: Callable[..., Any], *, at_once: bool = False) -> None:
        self._function = function
        self._at_once = at_once

    def described(self, functions: list[Callable[..., Any]]) -> dict[str, Any]:
        """Give what JavaScript gets; the same function has the same number."""
        if self._function not in functions:
            functions.append(self._function)
        number = functions.index(self._function)
        name = self._function.__name__
        return {"number": number, "name": name, "isAskedAtOnce": self._at_once}


class Remote:
    """An object of JavaScript."""

    def __init__(self, server: RowServer, number: int, kind: str) -> None:
        self.number = number
        self.received: list[int] = []
        self._server = server
        self._kind = kind

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in PROPERTIES.get(self._kind, ()):
            # The cookie is for an application, by default that of the base URL.
            args = ["http://localhost/"] if name == "cookie" else []
            return self._server.call(self.number, camel(name), args)
        return functools.partial(self._perform, name)

    def _perform(self, name: str, *given: Any, **options: Any) -> Any:
        if name.startswith("expect_"):
            waiting = name.replace("expect", "wait_for")
            args = [self, camel(waiting), *arguments(waiting, given, options)]
            return Expectation(self._server.call(0, "begin", args))
        return self._server.call(self.number, camel(name), arguments(name, given, options))


class Expectation:
    """A wait around an act.

    :param wait: what waits, since now.
    """

    def __init__(self, wait: Any) -> None:
        self._wait = wait
        self.value: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        if error is None:
            self.value = self._wait.result()


def arguments(name: str, given: tuple[Any, ...], options: dict[str, Any]) -> list[Any]:
    """Give the arguments of a call as JavaScript takes them."""
    args = list(given)
    if name in MATCHED | WAITED:
        matcher = translated(args.pop(0), at_once=name in MATCHED) if args else None
        filters = {
            camel(key): compared(options.pop(key)) for key in sorted(FILTERS & options.keys())
        }
        if filters:
            matcher = {**({} if matcher is None else {"url": matcher}), **filters}
        args = [*([] if matcher is None else [matcher]), *args]
    args = [translated(each) for each in args]
    if name in ("on_message", "on_close"):
        given[0].__dict__["in_order"] = True
    if options:
        args.append({camel(key): option(key, value) for key, value in options.items()})
    return args


def compared(value: Any) -> Any:
    """Give the value of a filter: in data no name is translated; patterns and functions are."""
    if isinstance(value, dict):
        return {key: compared(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [compared(each) for each in value]
    return translated(value, at_once=True)


def option(name: str, value: Any) -> Any:
    """Give the value of an option."""
    if name in DATA and isinstance(value, dict | list):
        return {"$json": value}
    if name == "headers" and isinstance(value, dict):
        return {key: {"$undefined": 1} if each is None else each for key, each in value.items()}
    if name == "allow":
        return [
            {camel(key): compared(each[key]) for key in each} if isinstance(each, dict) else each
            for each in value
        ]
    if isinstance(value, float) and value != value:  # noqa: PLR0124 - NaN, which JSON lacks
        return {"$nan": 1}
    return translated(value)


def translated(value: Any, *, at_once: bool = False) -> Any:
    """Give an argument: functions, and the names in a matcher, are translated."""
    if isinstance(value, dict):
        return {camel(key): each for key, each in value.items()}
    if callable(value) and not isinstance(value, Remote):
        return Function(value, at_once=at_once)
    return value


def error_of(described: dict[str, Any]) -> Exception:
    """Give the error of Python that is like one of JavaScript.

    What its text says of the handler stands in notes, as in Python.
    """
    text, *notes = described["message"].split("\nin the ")
    text = re.sub(r'"([^"\']*)"', r"'\1'", text)
    for theirs, ours in WORDS.items():
        text = text.replace(theirs, ours)
    name, code = described["name"], described["code"]
    kind = ERRORS.get(str(code)) or ERRORS.get(name)
    error = with_text(kind, text) if kind else JavaScriptError(f"{name}: {text}")
    for note in notes:
        error.add_note(note)
    return error


class JavaScriptError(Exception):
    """An error that Python has no counterpart of."""


def with_text(kind: type[Exception], text: str) -> Exception:
    """Make an error of a class whose constructor may want more than the text."""
    members = {"__init__": Exception.__init__, "__str__": Exception.__str__}
    made: Exception = type(kind.__name__, (kind,), members)(text)
    return made
