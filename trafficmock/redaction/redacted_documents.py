"""HARs and entries of the REST API with marks for their secrets."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from typing import Any

from trafficmock.redaction.redactor import Redactor

_AS_THEY_ARE = frozenset(
    {"method", "httpVersion", "startedDateTime", "mimeType", "version", "path", "file", "place"}
    | {"kind", "action", "code", "errorCode", "direction", "name", "encoding", "statusText"}
)
"""Texts that are no traffic, or words of a list."""

_URLS = frozenset({"url", "redirectURL", "_resourceURL"})


def redacted_har(har: Mapping[str, Any], redactor: Redactor) -> dict[str, Any]:
    """Return a copy of a HAR with marks for its secrets.

    Sizes stay those of the traffic. Bodies in files (``_file``) are not read.

    :param har: a HAR 1.2, as trafficmock, Playwright or a browser writes it.
    """
    return _changed(har, redactor) if not redactor.is_off else dict(har)


def redacted_record(entry: Mapping[str, Any], redactor: Redactor) -> dict[str, Any]:
    """Return a copy of an entry with marks for its secrets.

    :param entry: a request or WebSocket, or a list's summary of one, as the REST API returns it.
    """
    return _changed(entry, redactor) if not redactor.is_off else dict(entry)


def _changed(value: Mapping[str, Any], redactor: Redactor) -> dict[str, Any]:
    """Change an object, whose keys say what its values are."""
    made = {key: _field(key, item, value, redactor) for key, item in value.items()}
    pieces, content = value.get("_pieces"), made.get("content")
    if isinstance(pieces, list) and isinstance(content, dict) and content != value["content"]:
        made["_pieces"] = _fitted(pieces, content)
    return made


def _fitted(pieces: list[Any], content: Mapping[str, Any]) -> list[Any]:
    """Return the pieces of a streamed body with sizes that its redacted text has in sum."""
    text, fitted = str(content.get("text", "")), []
    is_base64 = content.get("encoding") == "base64"
    left = len(base64.b64decode(text) if is_base64 else text.encode("utf-8", "surrogatepass"))
    for number, piece in enumerate(pieces, 1):
        size = left if number == len(pieces) else min(left, int(piece.get("size", 0)))
        fitted.append({**piece, "size": size})
        left -= size
    return fitted


def _field(key: str, item: Any, holder: Mapping[str, Any], redactor: Redactor) -> Any:
    if isinstance(item, str):
        return _string(key, item, holder, redactor)
    if key == "headers" and isinstance(item, dict):
        return {name: _header(name, value, redactor) for name, value in item.items()}
    if key in ("headersList", "trailers") and isinstance(item, list):
        return [[name, _header(name, value, redactor)] for name, value in item]
    if key == "protocols" and isinstance(item, list):
        return redactor.protocols([str(each) for each in item])
    key = "headers" if key == "_trailers" else key
    if key in ("headers", "queryString", "cookies", "params") and isinstance(item, list):
        return [_named(key, each, redactor) for each in item]
    return _any(key, item, holder, redactor)


def _any(key: str, item: Any, holder: Mapping[str, Any], redactor: Redactor) -> Any:
    if isinstance(item, dict):
        if key in ("postData", "content") and isinstance(item.get("text"), str):
            item = {**item, "text": _har_body(item, holder, redactor)}
        return _changed(item, redactor)
    if isinstance(item, list):
        return [_field(key, each, holder, redactor) for each in item]
    return item


def _is_no_traffic(key: str, holder: Mapping[str, Any]) -> bool:
    if key in _AS_THEY_ARE or key == "id" or key.endswith("Id"):
        return True
    if key == "title":
        # Of a test. The title of a page in a HAR is a URL.
        return "pageTimings" not in holder
    return key == "text" and "mimeType" in holder  # which _har_body has changed already


def _string(key: str, text: str, holder: Mapping[str, Any], redactor: Redactor) -> str:
    if _is_no_traffic(key, holder):
        return text
    if key in _URLS:
        return redactor.url(text)
    if key == "bodyBase64":
        return _base64(text, holder, redactor)
    if key == "data":
        return _frame(text, holder, redactor)
    return redactor.text(text)


def _named(key: str, item: Any, redactor: Redactor) -> Any:
    if not isinstance(item, dict):
        return item
    if key != "headers":
        # The name of a parameter may be all of it, as in "?ghp_…", and a part has a file name.
        texts = ("name", "fileName", "comment")
        item = {
            each: redactor.text(text) if each in texts and isinstance(text, str) else text
            for each, text in item.items()
        }
    if not isinstance(item.get("value"), str):
        return item
    name, value = str(item.get("name", "")), item["value"]
    if key == "headers":
        new = redactor.header(name, value)
    elif key == "cookies":
        new = redactor.cookie(value)
    elif key == "params":
        new = redactor.field(name, value)
    else:
        new = redactor.parameter(name, value)
    return {**item, "value": new}


def _header(name: str, value: Any, redactor: Redactor) -> Any:
    return redactor.header(name, value) if isinstance(value, str) else value


def _base64(text: str, holder: Mapping[str, Any], redactor: Redactor) -> str:
    try:
        content = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return redactor.text(text)
    new = redactor.body(content, _head(holder, "content-type"), _head(holder, "content-encoding"))
    return text if new == content else base64.b64encode(new).decode()


def _har_body(body: Mapping[str, Any], message: Mapping[str, Any], redactor: Redactor) -> str:
    """Return the text of a body of a HAR; its content type is in it, its coding in the message."""
    text, kind = str(body["text"]), str(body.get("mimeType", ""))
    if body.get("encoding") == "base64":
        coding = _head(message, "content-encoding")
        head = {"headersList": [("content-type", kind), ("content-encoding", coding)]}
        return _base64(text, head, redactor)
    return redactor.body(text.encode("utf-8", "surrogatepass"), kind).decode(
        "utf-8", "surrogatepass"
    )


def _frame(text: str, holder: Mapping[str, Any], redactor: Redactor) -> str:
    binary = holder.get("isBase64") is True or holder.get("opcode") == _BINARY
    return _base64(text, {}, redactor) if binary else redactor.frame_text(text)


_BINARY = 2
"""The number of binary frames in a HAR."""


def _head(holder: Mapping[str, Any], wanted: str) -> str:
    """Return the value of a header of a message, empty for none."""
    pairs: Sequence[Any] = holder.get("headersList") or ()
    headers = holder.get("headers")
    if not pairs and isinstance(headers, dict):
        pairs = list(headers.items())
    elif not pairs and isinstance(headers, list):
        pairs = [(each.get("name"), each.get("value")) for each in headers]
    return next((str(value) for name, value in pairs if str(name).lower() == wanted), "")
