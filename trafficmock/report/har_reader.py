"""Makes the document of a page of any HAR: of a browser, of Playwright, of mitmproxy, or ours."""

from __future__ import annotations

import json
import zipfile
import zlib
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Callable, Iterable
from datetime import datetime
from functools import partial
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import Any

from trafficmock.errors import LocalError
from trafficmock.report.foreign_files import Room, read_file
from trafficmock.report.report_settings import MOST_HAR_ENTRIES
from trafficmock.report.run_document import run_document

ReadFile = Callable[[str], bytes]

_IN_ARCHIVE = "har.har"
_TEXT, _BINARY = 1, 2
"""The opcodes of frames with data."""


def read_har(path: Path) -> dict[str, Any]:
    """Read a HAR file, or a zip archive with one, as Playwright writes it.

    All that is read for the page counts, each time that an entry names it.

    :returns: a document like that of a run, with the name of the file in ``har``.
    :raises LocalError: the file cannot be read, is too large, or is no HAR.
    """
    room = Room(str(path))
    try:
        content = read_file(path, room, is_named=True)
        if zipfile.is_zipfile(BytesIO(content)):
            # What is in the archive counts, and not the archive.
            room.left += len(content)
            with zipfile.ZipFile(BytesIO(content)) as archive:
                read = partial(_archived, archive, room)
                return _document(read(_IN_ARCHIVE), path, read)
        return _document(content, path, lambda name: _beside(path, name, room))
    except OSError as error:
        raise LocalError(f"{path} cannot be read: {error.strerror or error}") from None
    except (zipfile.BadZipFile, zipfile.LargeZipFile, KeyError, RuntimeError, EOFError) as error:
        raise LocalError(f"{path} is no archive with a HAR: {error}") from None
    except zlib.error as error:
        raise LocalError(f"{path} is damaged: {error}") from None


def har_document(har: object, name: str, read: ReadFile) -> dict[str, Any]:
    """Make the document of a page of a parsed HAR; what is not as in HAR 1.2 is left out.

    :param name: the name of the file.
    :param read: returns the content of a file that a body is in.
    :raises LocalError: it has no list of entries.
    """
    entries = _at(har, "log", "entries")
    if not isinstance(entries, list):
        raise LocalError(f"{name} is no HAR: it is not JSON with a list log.entries")
    if len(entries) > MOST_HAR_ENTRIES:
        raise LocalError(f"{name} has more than {MOST_HAR_ENTRIES} entries, too many for a page")
    creator = str(_at(har, "log", "creator", "name") or "")
    document = run_document([])
    found = [_entry(each, number, creator, read) for number, each in enumerate(entries, 1)]
    document["unowned"]["requests"] = [each for each in found if each and "request" in each]
    document["unowned"]["webSockets"] = [each for each in found if each and "request" not in each]
    return {**document, "har": name}


def _document(content: bytes, path: Path, read: ReadFile) -> dict[str, Any]:
    try:
        har = json.loads(content)
    except (ValueError, RecursionError):
        har = None
    return har_document(har, path.name, read)


def _archived(archive: zipfile.ZipFile, room: Room, name: str) -> bytes:
    found = archive.getinfo(name)
    # No more than this is read, whatever comes out.
    room.take(found.file_size)
    return archive.read(found)


def _beside(path: Path, name: str, room: Room) -> bytes:
    """Read a file in the directory of a HAR.

    :raises FileNotFoundError: the name leads out of it, or by a link.
    """
    parts = PurePosixPath(name)
    directory = path.parent.resolve()
    file = (directory / name).resolve()
    if parts.is_absolute() or ".." in parts.parts or file != directory.joinpath(*parts.parts):
        raise FileNotFoundError(name)
    return read_file(file, room)


def _at(value: object, *keys: str) -> Any:
    """Return what is at a path of keys; ``None`` if there is nothing."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _text(value: object, *keys: str) -> str:
    found = _at(value, *keys)
    return found if isinstance(found, str) else ""


def _number(value: object, *keys: str) -> float:
    found = _at(value, *keys)
    is_number = isinstance(found, int | float) and not isinstance(found, bool)
    return found if is_number and abs(found) < 2**53 else 0


def _entry(entry: object, number: int, creator: str, read: ReadFile) -> dict[str, Any] | None:
    """Return a record of the REST API for an entry; ``None`` if it has no request."""
    request = _at(entry, "request")
    url = _text(request, "url")
    if not url:
        return None
    record: dict[str, Any] = {
        "id": f"har-{number}",
        "timestamp": _epoch(_text(entry, "startedDateTime")),
        "clientId": creator,
    }
    messages = _at(entry, "_webSocketMessages")
    if isinstance(messages, list) and url.startswith(("ws:", "wss:", "http:", "https:")):
        return {**record, **_socket(url, messages, record["timestamp"])}
    took = max(0, round(_number(entry, "time")))
    status = round(_number(entry, "response", "status"))
    error = _text(entry, "response", "_error") or _text(entry, "response", "_failureText")
    events = [{"id": f"har-{number}-1", "timestamp": record["timestamp"], "kind": "observed"}]
    outcome: dict[str, Any] = {"kind": "passthrough"}
    if status > 0:
        outcome["response"] = _response(_at(entry, "response"), url, read)
    else:
        detail = error or "no response"
        ended = {"timestamp": record["timestamp"] + took, "kind": "upstream_error"}
        events.append({"id": f"har-{number}-2", **ended, "detail": detail})
    return {
        **record,
        "request": {
            "url": url,
            "method": _text(request, "method") or "GET",
            **_headers(request),
            "bodyBase64": _body(_at(request, "postData"), read),
        },
        "outcome": outcome,
        "action": "recorded",
        "durationMs": took,
        "events": events,
    }


def _response(response: object, url: str, read: ReadFile) -> dict[str, Any]:
    size = _number(response, "content", "size")
    body = _body(_at(response, "content"), read)
    kept: dict[str, Any] = {"bodyBase64": body}
    if body is None and size > 0:
        kept |= {"truncated": True, "bodySize": round(size)}
    return {
        "status": min(999, round(_number(response, "status"))),
        "statusText": _text(response, "statusText"),
        **_headers(response),
        **kept,
        "url": url,
    }


def _headers(message: object) -> dict[str, Any]:
    """Return the headers of a message, also as ordered pairs."""
    listed = _at(message, "headers")
    pairs = [
        (_text(each, "name"), _text(each, "value"))
        for each in (listed if isinstance(listed, list) else [])
        # Browsers list the pseudo-headers of HTTP/2, which are no headers.
        if _text(each, "name") and not _text(each, "name").startswith(":")
    ]
    return {"headers": dict(_joined(pairs)), "headersList": [list(pair) for pair in pairs]}


def _joined(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    headers: dict[str, str] = {}
    for name, value in pairs:
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


def _body(holder: object, read: ReadFile) -> str | None:
    """Return a body in base64; ``None`` if there is none."""
    file, text = _text(holder, "_file"), _text(holder, "text")
    if file:
        try:
            return b64encode(read(file)).decode("ascii") or None
        except (OSError, KeyError, ValueError):
            return None
    if _text(holder, "encoding") == "base64":
        try:
            return b64encode(b64decode(text)).decode("ascii") or None
        except (Base64Error, ValueError):
            return None
    return b64encode(text.encode("utf-8", "surrogatepass")).decode("ascii") or None


def _socket(url: str, messages: list[object], began: int) -> dict[str, Any]:
    """Return the record of a WebSocket, whose messages Chromium, Playwright and mitmproxy write."""
    events: list[dict[str, Any]] = [
        {"id": "open", "timestamp": began, "direction": "system", "kind": "open"}
    ]
    for number, message in enumerate(messages):
        opcode, data = _number(message, "opcode"), _text(message, "data")
        if opcode in (_TEXT, _BINARY):
            direction = "client" if _text(message, "type") == "send" else "server"
            at = round(_number(message, "time") * 1000) or began
            frame = {"id": f"frame-{number}", "timestamp": at, "kind": "frame", "data": data}
            events.append({**frame, "direction": direction, "isBase64": opcode == _BINARY})
    return {
        "url": url.replace("http", "ws", 1) if url.startswith("http") else url,
        "protocols": [],
        "outcome": "recorded",
        "events": events[::-1],
    }


def _epoch(text: str) -> int:
    """Return a time as epoch milliseconds; 0 if it is none."""
    try:
        moment = datetime.fromisoformat(text)
        return max(0, round(moment.timestamp() * 1000))
    except (ValueError, OverflowError, OSError):
        return 0
