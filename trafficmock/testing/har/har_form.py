"""The form of a HAR's entries, as far as a replay depends on it."""

from __future__ import annotations

import base64
import re
from typing import Any

import msgspec
from msgspec import Struct

_FAULT = re.compile(r"(?P<what>.*?)(?: - at `\$\.?(?P<field>.*)`)?", re.DOTALL)


class _HarPart(Struct):
    def __repr__(self) -> str:
        return f"{type(self).__name__}()"  # its values may be secrets


class _Header(_HarPart):
    name: str
    value: str | int | float | bool | None


class _Content(_HarPart):
    text: str | None = None
    encoding: str | None = None
    file: str | None = msgspec.field(default=None, name="_file")


class _Request(_HarPart):
    method: str
    url: str
    headers: list[_Header] | None = None
    post_data: _Content | None = msgspec.field(default=None, name="postData")


class _Response(_HarPart):
    status: int = -1
    headers: list[_Header] | None = None
    content: _Content | None = None


class _Entry(_HarPart):
    request: _Request
    response: _Response


def key_of(entry: Any) -> tuple[str, str] | None:
    """Return the method and the URL of an entry; ``None`` for one without request or response."""
    if not isinstance(entry, dict) or not isinstance(entry.get("response"), dict):
        return None
    request = entry.get("request")
    if not isinstance(request, dict):
        return None
    method, url = request.get("method"), request.get("url")
    return (method, url) if isinstance(method, str) and isinstance(url, str) else None


def fault_of(entry: Any) -> str:
    """Return the field of an entry that has not the form of a HAR, and why; empty if none has.

    The text has no value of the entry: it may be a secret.
    """
    try:
        read = msgspec.convert(entry, _Entry)
    except msgspec.ValidationError as error:
        found = _FAULT.fullmatch(str(error))
        what, field = (found["what"], found["field"]) if found else (str(error), None)
        return f"{field}: {what}" if field else what
    for field, holder in (
        ("request.postData.text", read.request.post_data),
        ("response.content.text", read.response.content),
    ):
        if holder is not None and holder.encoding == "base64" and not _is_base64(holder.text):
            return f"{field}: it is not base64"
    return ""


def _is_base64(text: str | None) -> bool:
    try:
        base64.b64decode(text or "")
    except ValueError:
        return False
    return True
