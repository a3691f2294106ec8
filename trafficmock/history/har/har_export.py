"""Exports one entry of the history as HAR 1.2, which test libraries replay.

The fields follow protocol 3; the query string and the cookies are filled in besides.
``recorded_entries`` makes the entries of recordings of the same parts.
"""

import re
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from msgspec import UNSET, UnsetType

from trafficmock.history.har.har_cookies import sent_cookies, set_cookie, split_set_cookie
from trafficmock.history.request_entry import PIECE, RequestEntry
from trafficmock.history.rest_records import RequestRecord
from trafficmock.history.stored_messages import Body
from trafficmock.redaction import body_codings
from trafficmock.wire.payloads.har_text import body_fields
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
_HEADS = frozenset({"fulfill", "response"})
"""The kinds of the events at which the head of a response came."""


def har_available(entry: RequestEntry) -> bool:
    """Return whether the entry has a response, without which most readers want no HAR.

    A mocked request always has one; after ``continue`` and ``passthrough`` the agent reports it.
    """
    return entry.record.outcome.response is not UNSET


def har_filename(entry_id: str) -> str:
    """Return the file name of an entry's HAR, safe in headers and on any file system."""
    return f"trafficmock-{re.sub(r'[^A-Za-z0-9._-]+', '_', entry_id)[:_MAX_NAME]}.har"


def to_har(entry: RequestEntry, *, version: str) -> dict[str, Any]:
    """Make a HAR with exactly this entry.

    A body that is not complete has its whole size (-1 if unknown) and a
    ``comment``, and no ``text``. An entry without a response has the status 0 and ``_error``, as
    browsers write it.

    :param version: the version of trafficmock, for ``log.creator``.
    """
    record, response = entry.record, entry.record.outcome.response
    took = 0 if record.duration_ms is UNSET else record.duration_ms
    exchange = har_entry(
        record.timestamp,
        took,
        har_request(record.request, entry.request_body),
        without_response(0) | {"_error": _failure(record)}
        if response is UNSET
        else har_response(response, entry.response_body),
    )
    if pieces := _pieces(record):
        exchange["response"]["_pieces"] = pieces
    creator = {"name": "trafficmock", "version": version}
    return {"log": {"version": "1.2", "creator": creator, "entries": [exchange]}}


def har_entry(
    began: int, took: int, request: dict[str, Any], response: dict[str, Any]
) -> dict[str, Any]:
    """Make an entry.

    :param began: the time of the request, in epoch milliseconds.
    :param took: the time until the end of the response, in milliseconds.
    """
    moment = _EPOCH + timedelta(milliseconds=began)
    return {
        "startedDateTime": moment.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "time": took,
        "request": request,
        "response": response,
        "cache": {},
        "timings": {"send": 0, "wait": took, "receive": 0},
    }


def har_request(request: SerializedRequest, body: Body | None) -> dict[str, Any]:
    """Make the request of an entry."""
    headers = _pairs(request.headers, request.headers_list)
    cookies = [cookie for line in _all(headers, "cookie") for cookie in sent_cookies(line)]
    size, text = _content(body, _type(headers))
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


def har_response(response: SerializedResponse, body: Body | None) -> dict[str, Any]:
    """Make the response of an entry."""
    headers = _pairs(response.headers, response.headers_list)
    size, text = _content(body, _type(headers))
    made: dict[str, Any] = {
        "status": response.status,
        "statusText": response.status_text,
        "httpVersion": _VERSION,
        "cookies": [set_cookie(line) for line in _all(headers, "set-cookie")],
        "headers": _named(headers),
        "content": {"size": size, "mimeType": _type(headers), **text, **_coding(headers, body)},
        "redirectURL": next(iter(_all(headers, "location")), ""),
        "headersSize": -1,
        "bodySize": size,
    }
    if response.trailers is not UNSET:
        made["_trailers"] = _named(response.trailers)
    return made


def _pieces(record: RequestRecord) -> list[dict[str, int]]:
    """Return the pieces of an answer: the milliseconds from its head to each, and its bytes."""
    pieces: list[dict[str, int]] = []
    head = record.timestamp
    for event in record.events:
        if event.kind in _HEADS:
            head = event.timestamp
        elif event.kind == PIECE and event.size is not UNSET:
            pieces.append({"time": max(0, event.timestamp - head), "size": event.size})
    return pieces


def without_response(status: int) -> dict[str, Any]:
    """Make what stands for a response that did not come."""
    return {
        "status": status,
        "statusText": "",
        "httpVersion": _VERSION,
        "cookies": [],
        "headers": [],
        "content": {"size": 0, "mimeType": "x-unknown"},
        "redirectURL": "",
        "headersSize": -1,
        "bodySize": -1,
    }


def _failure(record: RequestRecord) -> str:
    """Return why an entry has no response: a code, a text or the action of its outcome."""
    outcome = record.outcome
    failed = [event.detail for event in record.events if event.kind == "upstream_error"]
    known = (outcome.error_code, outcome.code, *reversed(failed))
    parts = [part for part in (*known, outcome.message) if part is not UNSET and part]
    return ": ".join(dict.fromkeys(parts)) or record.action


def _pairs(headers: dict[str, str], listed: HeaderPairs | UnsetType) -> HeaderPairs:
    """Return the header lines: the ordered ones if there are any, else those of the map."""
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
        # Python refuses a URL with an invalid IPv6 host, which the application's client accepted.
        return url.partition("#")[0].partition("?")[2]


def _coding(headers: HeaderPairs, body: Body | None) -> dict[str, str]:
    """Return the field for the coding in which a body still is: agents tell decoded ones."""
    header = ", ".join(_all(headers, "content-encoding"))
    codings = body_codings.codings_of(header)
    if not codings or body is None or body.state != "whole":
        return {}
    return {"_coding": header} if body_codings.is_coded(body.content(), codings) else {}


def _content(body: Body | None, content_type: str) -> tuple[int, dict[str, str]]:
    """Return the size of a body in bytes, and the fields that HAR has of a body, if not empty."""
    if body is None:
        return 0, {}
    if body.state != "whole":
        return body.size, {"comment": _CUT if body.truncated else _PENDING}
    content = body.content()
    if not content:
        return 0, {}
    return len(content), body_fields(content, content_type)
