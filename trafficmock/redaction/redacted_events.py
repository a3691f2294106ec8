"""Events without secrets, for a history that does not keep them (``--redact-history``)."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from typing import Any

import pybase64
from msgspec import UNSET, Struct, structs

from trafficmock.redaction.redactor import Redactor
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.serialized_request import SerializedOverrides, SerializedRequest
from trafficmock.wire.payloads.serialized_response import SerializedError, SerializedResponse

_Message = SerializedRequest | SerializedResponse | SerializedOverrides
_Writers = dict[type, "Callable[[Any, int], None]"]

_TEXTS = ("detail", "message", "failure", "reason")
"""The fields of events whose texts may quote traffic."""


def redacting(writers: _Writers, redactor: Redactor) -> _Writers:
    """Return writers that get events without their secrets."""

    def writer(write: Callable[[Any, int], None]) -> Callable[[Any, int], None]:
        return lambda record, at: write(redacted_event(record, redactor), at)

    return {kind: writer(write) for kind, write in writers.items()}


def redacted_event(record: Struct, redactor: Redactor) -> Struct:
    """Return an event with marks for its secrets.

    :param record: one of :data:`trafficmock.records.Record`.
    """
    if "is_base64" in record.__struct_fields__:
        return _with_frame(record, redactor)
    changes: dict[str, Any] = {}
    for name in record.__struct_fields__:
        value = getattr(record, name)
        if isinstance(value, _Message):
            changes[name] = redacted_message(value, redactor)
        elif isinstance(value, SerializedError):
            changes[name] = structs.replace(value, message=redactor.text(value.message))
        elif name == "url":
            changes[name] = redactor.url(value)
        elif name == "protocols":
            changes[name] = redactor.protocols(value)
        elif name in _TEXTS and isinstance(value, str):
            changes[name] = redactor.text(value)
    return structs.replace(record, **changes)


def redacted_message(message: _Message, redactor: Redactor) -> _Message:
    """Return a request, a response or overrides with marks for its secrets."""
    headers, listed = message.headers, message.headers_list
    changes: dict[str, Any] = {}
    if headers:
        changes["headers"] = {name: redactor.header(name, each) for name, each in headers.items()}
    if listed is not UNSET and listed is not None:
        changes["headers_list"] = redactor.headers(listed)
    if message.url:
        changes["url"] = redactor.url(message.url)
    content = body.to_bytes(message.body_base64)
    if content:
        head = {name.lower(): value for name, value in (headers or {}).items()}
        new = redactor.body(content, head.get("content-type"), head.get("content-encoding"))
        if new != content:
            changes["body_base64"] = body.from_bytes(new)
    return structs.replace(message, **changes)


def _with_frame(record: Any, redactor: Redactor) -> Struct:
    """Return a frame (:class:`~trafficmock.records.SocketActivity`) without its secrets."""
    data = record.data
    if data is not None and record.is_base64:
        content = pybase64.b64decode(data)
        new = redactor.frame(content)
        data = data if new == content else b64encode(new).decode()
    elif data is not None:
        data = redactor.frame_text(data)
    changed: Struct = structs.replace(record, data=data)
    return changed
