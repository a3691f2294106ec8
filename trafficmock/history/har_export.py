"""HAR 1.2 of one entry, as test libraries replay it.

What stands where follows protocol 3; the query string and the cookies are filled in besides.
"""

import re
from base64 import b64encode
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from msgspec import UNSET, UnsetType

from trafficmock.errors import LocalError
from trafficmock.history.har_cookies import sent_cookies, set_cookie, split_set_cookie
from trafficmock.history.request_entry import RequestEntry
from trafficmock.history.stored_bodies import Body
from trafficmock.wire.payloads.serialized_request import HeaderPairs, SerializedRequest
from trafficmock.wire.payloads.serialized_response import SerializedResponse

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_VERSION = "HTTP/1.1"
_UNKNOWN_TYPE = "application/octet-stream"
_MAX_NAME = 64  # characters
_CUT = (
    "the body is not here whole: it broke off, or went beyond the byte budget of the history "
    "(--history-body-bytes, --history-bytes)"
)
_PENDING = "the body has not arrived yet"


def har_available(entry: RequestEntry) -> bool:
    """Tell whether there is a response to make a HAR of.

    A mock always has one; after ``continue`` and ``passthrough`` it comes with the report.
    """
    return entry.record.outcome.response is not UNSET


def har_filename(entry_id: str) -> str:
    """Name the file of an entry's HAR: safe in a header and on any file system, not too long."""
    return f"trafficmock-{re.sub(r'[^A-Za-z0-9._-]+', '_', entry_id)[:_MAX_NAME]}.har"


def to_har(entry: RequestEntry, *, version: str) -> dict[str, Any]:
    """Make a HAR with exactly this entry.

    A body that was not kept whole leaves its true size (-1 when it is not known) and a
    ``comment``, and no ``text``.

    :param version: trafficmock's, for ``log.creator``.
    :raises LocalError: there is no response; :func:`har_available` tells beforehand.
    """
    record, response = entry.record, entry.record.outcome.response
    if response is UNSET:
        raise LocalError("a HAR needs a response: ask har_available() first")
    took = 0 if record.duration_ms is UNSET else record.duration_ms
    exchange = {
        "startedDateTime": _moment(record.timestamp),
        "time": took,
        "request": _request(record.request, entry.request_body),
        "response": _response(response, entry.response_body),
        "cache": {},
        "timings": {"send": 0, "wait": took, "receive": 0},
    }
    creator = {"name": "trafficmock", "version": version}
    return {"log": {"version": "1.2", "creator": creator, "entries": [exchange]}}


def _moment(milliseconds: int) -> str:
    moment = _EPOCH + timedelta(milliseconds=milliseconds)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _request(request: SerializedRequest, body: Body | None) -> dict[str, Any]:
    headers = _pairs(request.headers, request.headers_list)
    cookies = [cookie for line in _all(headers, "cookie") for cookie in sent_cookies(line)]
    size, text = _content(body)
    har: dict[str, Any] = {
        "method": request.method,
        "url": request.url,
        "httpVersion": _VERSION,
        "cookies": cookies,
        "headers": _named(headers),
        "queryString": _named(parse_qsl(_query(request.url), keep_blank_values=True)),
        "headersSize": -1,
        "bodySize": size,
    }
    if text:
        har["postData"] = {"mimeType": _type(headers), **text}
    return har


def _response(response: SerializedResponse, body: Body | None) -> dict[str, Any]:
    headers = _pairs(response.headers, response.headers_list)
    size, text = _content(body)
    return {
        "status": response.status,
        "statusText": response.status_text,
        "httpVersion": _VERSION,
        "cookies": [set_cookie(line) for line in _all(headers, "set-cookie")],
        "headers": _named(headers),
        "content": {"size": size, "mimeType": _type(headers), **text},
        "redirectURL": next(iter(_all(headers, "location")), ""),
        "headersSize": -1,
        "bodySize": size,
    }


def _pairs(headers: dict[str, str], listed: HeaderPairs | UnsetType) -> HeaderPairs:
    """List the header lines, as the wire had them or as far as the map lets tell."""
    if listed is not UNSET:
        return listed
    pairs: HeaderPairs = []
    for name, value in headers.items():
        lines = split_set_cookie(value) if name.lower() == "set-cookie" else [value]
        pairs += [(name, line) for line in lines]
    return pairs


def _named(pairs: HeaderPairs) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in pairs]


def _all(pairs: HeaderPairs, wanted: str) -> list[str]:
    return [value for name, value in pairs if name.lower() == wanted]


def _type(headers: HeaderPairs) -> str:
    return next(iter(_all(headers, "content-type")), _UNKNOWN_TYPE)


def _query(url: str) -> str:
    try:
        return urlsplit(url).query
    except ValueError:
        # An address that Python rejects as a URL (a broken IPv6 host) may be valid for others.
        return url.partition("#")[0].partition("?")[2]


def _content(body: Body | None) -> tuple[int, dict[str, str]]:
    """Give a body's decoded bytes by number, and what HAR says of it, nothing when it is empty."""
    if body is None:
        return 0, {}
    if body.state != "whole":
        return body.size, {"comment": _CUT if body.truncated else _PENDING}
    content = body.content()
    if not content:
        return 0, {}
    try:
        return len(content), {"text": content.decode()}
    except UnicodeDecodeError:
        # Not the text as it arrived, which may hold junk that decoders skip.
        return len(content), {"text": b64encode(content).decode(), "encoding": "base64"}
