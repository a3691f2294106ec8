"""Short ways to make what the history is told."""

import json
from typing import Any, Literal

from msgspec import UNSET, Raw, UnsetType

from trafficmock import records
from trafficmock.history.entry import HistoryEntry
from trafficmock.history.query import Query
from trafficmock.history.store import History
from trafficmock.records import Owner
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.serialized_matcher import RouteMatchDiagnostic, SerializedMatcher
from trafficmock.wire.payloads.serialized_request import HeaderPairs, SerializedRequest
from trafficmock.wire.payloads.serialized_response import SerializedResponse

NO_QUERY = Query()
OWNER = Owner("test-1", "route-1", "pays by card", "tests/pay.spec.ts")


def request(
    url: str = "http://shop.test/pay",
    method: str = "GET",
    *,
    content: bytes = b"",
    headers: dict[str, str] | None = None,
    pairs: HeaderPairs | UnsetType = UNSET,
) -> SerializedRequest:
    return SerializedRequest(url, method, headers or {}, body.from_bytes(content), pairs)


def response(
    status: int = 200,
    status_text: str = "OK",
    *,
    content: bytes = b"",
    headers: dict[str, str] | None = None,
    pairs: HeaderPairs | UnsetType = UNSET,
) -> SerializedResponse:
    raw = body.from_bytes(content)
    return SerializedResponse(status, status_text, headers or {}, raw, headers_list=pairs)


def diagnostic(title: str = "pays by cash") -> RouteMatchDiagnostic:
    return RouteMatchDiagnostic(
        "route-2", "test-2", title, "tests/cash.spec.ts", "1", SerializedMatcher(url_glob="**")
    )


def quoted(length: int) -> Raw:
    """Make a body whose JSON text takes ``length`` bytes."""
    return Raw(b'"' + b"A" * (length - 2) + b'"')


def shown(entry: HistoryEntry[Any] | None) -> Any:
    """Read the JSON of an entry without its event ids."""
    assert entry is not None
    document = json.loads(entry.to_json())
    for event in document["events"]:
        del event["id"]
    return document


def ids(history: History) -> list[str]:
    """List the requests that are shown, newest first."""
    return [entry.id for entry in history.requests.query(NO_QUERY)]


def fill(history: History, *request_ids: str) -> None:
    """Remember requests that passed through, a millisecond apart."""
    for at, request_id in enumerate(request_ids):
        history.record(records.RequestSeen(request_id, "app", request()), at)
        history.record(records.RequestPassedThrough(request_id), at)


def frame(
    history: History,
    data: str | None,
    at: int = 11,
    *,
    socket_id: str = "s",
    detail: str | None = None,
    is_base64: bool | None = False,
) -> None:
    """Remember a frame of the application."""
    history.record(
        records.SocketActivity(socket_id, "client", "frame", detail, data, is_base64), at
    )


def close(
    history: History,
    side: Literal["page", "server"],
    at: int,
    *,
    code: int | None = None,
    reason: str | None = None,
    clean: bool = True,
    socket_id: str = "s",
) -> None:
    """Remember a close."""
    history.record(records.SocketClosed(socket_id, side, code, reason, clean), at)
