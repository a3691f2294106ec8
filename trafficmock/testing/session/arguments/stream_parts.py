"""What tests send in a streamed answer, as bytes."""

from __future__ import annotations

import json as json_module
from difflib import get_close_matches
from typing import Any

from trafficmock.testing.errors import UsageError
from trafficmock.wire.payloads.abort_codes import PLAYWRIGHT_CODES
from trafficmock.wire.payloads.answer import AbortCode


def content_of(data: Any) -> bytes:
    """Return the bytes of an argument of ``send``; text is sent as UTF-8.

    :raises UsageError: it is neither bytes nor text.
    """
    if isinstance(data, str):
        return data.encode("utf-8", "surrogatepass")
    if isinstance(data, bytes | bytearray | memoryview):
        return bytes(data)
    raise UsageError(
        f"send takes bytes or text, not {type(data).__name__}: for objects there are json_line "
        "and sse(json=…)"
    )


def json_line(value: Any) -> bytes:
    """Return an object as one line of JSON (NDJSON)."""
    return json_module.dumps(value).encode() + b"\n"


def server_sent_event(
    data: str | None, event: str | None, event_id: str | None, retry: int | None, json: Any
) -> bytes:
    """Return an event of a stream of server-sent events (HTML standard, section 9.2).

    :param data: the text, of which each line becomes a ``data`` field.
    :param retry: milliseconds until the client connects again.
    :param json: an object that is sent as JSON, in the place of ``data``.
    :raises UsageError: a value cannot be sent in an event.
    """
    if data is not None and json is not None:
        raise UsageError("sse takes either data or json")
    lines = []
    for name, value in (("event", event), ("id", event_id)):
        if value is not None:
            if any(each in value for each in "\r\n\0"):
                raise UsageError(f"sse: {name} has a line break or a NUL: {value!r}")
            lines.append(f"{name}: {value}")
    if retry is not None:
        if not isinstance(retry, int) or isinstance(retry, bool) or retry < 0:
            raise UsageError(f"sse: retry is a number of milliseconds, not {retry!r}")
        lines.append(f"retry: {retry}")
    text = json_module.dumps(json) if json is not None else data
    if text is not None:
        normal = text.replace("\r\n", "\n").replace("\r", "\n")
        lines += [f"data: {line}" for line in normal.split("\n")]
    if not lines:
        raise UsageError("sse: give data, json, event, id or retry")
    return ("\n".join(lines) + "\n\n").encode("utf-8", "surrogatepass")


def abort_code(code: str) -> AbortCode:
    """Return the code of protocol 3 for one of Playwright's.

    :raises UsageError: ``code`` is not a key of :data:`.PLAYWRIGHT_CODES`.
    """
    if code not in PLAYWRIGHT_CODES:
        near = get_close_matches(str(code), PLAYWRIGHT_CODES, n=1)
        hint = f"did you mean {near[0]!r}? These" if near else "these"
        raise UsageError(
            f"abort: {code!r} is not an error code of Playwright; "
            f"{hint} are: {', '.join(PLAYWRIGHT_CODES)}"
        )
    return PLAYWRIGHT_CODES[code]
