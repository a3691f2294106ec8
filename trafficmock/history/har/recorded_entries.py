"""Makes the entries of recordings, which can be replayed."""

from __future__ import annotations

import base64
import hashlib
import mimetypes
from typing import Any

from msgspec import UNSET, structs

from trafficmock.history.har.har_export import (
    har_entry,
    har_request,
    har_response,
    without_response,
)
from trafficmock.history.stored_messages import keep
from trafficmock.wire.http_syntax import lower_case
from trafficmock.wire.payloads.serialized_request import SerializedRequest
from trafficmock.wire.payloads.serialized_response import SerializedResponse

_UNKNOWN = -1
_STALLED = -1
"""The status of a request that got no response."""


def recorded_entry(
    request: SerializedRequest,
    response: SerializedResponse | str,
    *,
    began: int,
    took: int,
    is_full: bool,
) -> dict[str, Any]:
    """Make the entry of a request with its response, or the text of its failure.

    :param began: the time of the request, in epoch milliseconds.
    :param took: the time until the response, in milliseconds.
    :param is_full: whether it has times and sizes.
    """
    asked = har_request(*_parts(request))
    if "postData" in asked:
        asked["postData"]["params"] = []
    if isinstance(response, str):
        answer = without_response(_STALLED) | {"_failureText": response}
        answer["content"]["size"] = _UNKNOWN
    else:
        answer = har_response(*_parts(response))
        if response.pieces is not UNSET:
            answer["_pieces"] = [{"time": time, "size": size} for time, size in response.pieces]
    entry = har_entry(began, took, asked, answer)
    if not is_full:
        asked["bodySize"] = answer["bodySize"] = answer["content"]["size"] = _UNKNOWN
        entry["time"] = _UNKNOWN
        entry["timings"] = dict.fromkeys(("send", "wait", "receive"), _UNKNOWN)
    return entry


def _parts(message: Any) -> tuple[Any, Any]:
    """Return a message with its header lines in lower case, and its body."""
    lines = lower_case(message.headers, message.headers_list)
    _, body = keep(message.body_base64, message.truncated, message.body_size)
    return structs.replace(message, headers_list=lines), body


def attached_bodies(entry: dict[str, Any]) -> dict[str, bytes]:
    """Put the bodies of an entry into files, and return their contents by name."""
    files: dict[str, bytes] = {}
    for holder in (entry["request"].get("postData"), entry["response"]["content"]):
        if holder and "text" in holder:
            text, coding = holder.pop("text"), holder.pop("encoding", "")
            content = base64.b64decode(text) if coding else text.encode("utf-8", "surrogatepass")
            kind = holder["mimeType"].partition(";")[0].strip()
            # Playwright's file names: a hash of the content, not for security.
            name = hashlib.sha1(content, usedforsecurity=False).hexdigest()
            holder["_file"] = name = name + (mimetypes.guess_extension(kind) or ".bin")
            files[name] = content
    return files
