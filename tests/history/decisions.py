"""What may be decided about a request, and what its entry then shows (protocol 3)."""

from collections.abc import Callable
from typing import Any

from tests.history.builders import OWNER, diagnostic, request, response
from trafficmock import records
from trafficmock.history.store import History
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.serialized_request import SerializedOverrides

OWNED = {
    "testId": "test-1",
    "routeId": "route-1",
    "title": "pays by card",
    "path": "tests/pay.spec.ts",
}
MOCK = {"status": 200, "statusText": "OK", "headers": {}, "bodyBase64": "aGk="}

Decision = tuple[
    str, Callable[[History], None], dict[str, Any], str, dict[str, Any], dict[str, str]
]

DECISIONS: list[Decision] = [
    (
        "nobody wants it",
        lambda h: h.record(records.RequestPassedThrough("r"), 15),
        {"kind": "passthrough"},
        "passthrough",
        {},
        {"kind": "passthrough"},
    ),
    (
        "a handler continues it",
        lambda h: h.record(records.RequestContinued("r", OWNER, None), 15),
        {"kind": "continued"},
        "continue",
        OWNED,
        {"kind": "continue"},
    ),
    (
        "a handler changes it",
        lambda h: h.record(
            records.RequestContinued(
                "r", OWNER, SerializedOverrides(method="PUT", body_base64=body.from_bytes(b"new"))
            ),
            15,
        ),
        {"kind": "continued"},
        "continue",
        OWNED | {"overrides": {"method": "PUT", "bodyBase64": "bmV3"}},
        {"kind": "continue"},
    ),
    (
        "a handler takes the body away",
        lambda h: h.record(
            records.RequestContinued("r", OWNER, SerializedOverrides(body_base64=body.NULL)), 15
        ),
        {"kind": "continued"},
        "continue",
        OWNED | {"overrides": {"bodyBase64": None}},
        {"kind": "continue"},
    ),
    (
        "a handler overrides nothing",
        lambda h: h.record(records.RequestContinued("r", OWNER, SerializedOverrides()), 15),
        {"kind": "continued"},
        "continue",
        OWNED,
        {"kind": "continue"},
    ),
    (
        "a handler answers it",
        lambda h: h.record(records.RequestFulfilled("r", OWNER, response(content=b"hi")), 15),
        {"kind": "mocked", "response": MOCK, "routeId": "route-1", "testId": "test-1"},
        "fulfill",
        OWNED,
        {"kind": "fulfill"},
    ),
    (
        "a handler aborts it",
        lambda h: h.record(records.RequestAborted("r", OWNER, "timedout", ""), 15),
        {"kind": "aborted", "errorCode": "timedout"},
        "abort",
        OWNED,
        {"kind": "abort"},
    ),
    (
        "the application gives it up before anybody owned it",
        lambda h: h.record(records.RequestAborted("r", None, "aborted", "client closed"), 15),
        {"kind": "aborted", "errorCode": "aborted"},
        "abort",
        {},
        {"kind": "abort", "detail": "client closed"},
    ),
    (
        "two tests want it",
        lambda h: h.record(
            records.RequestFailed("r", None, "ambiguous_route", "two tests", [diagnostic()]), 15
        ),
        {
            "kind": "error",
            "message": "two tests",
            "code": "ambiguous_route",
            "matches": [
                {
                    "routeId": "route-2",
                    "testId": "test-2",
                    "title": "pays by cash",
                    "file": "tests/cash.spec.ts",
                    "workerId": "1",
                    "matcher": {"urlGlob": "**"},
                }
            ],
        },
        "error",
        {},
        {"kind": "error", "detail": "two tests"},
    ),
    (
        "its worker is lost",
        lambda h: h.record(records.RequestFailed("r", OWNER, "disconnected", "gone", None), 15),
        {"kind": "error", "message": "gone", "code": "disconnected"},
        "error",
        OWNED,
        {"kind": "error", "detail": "gone"},
    ),
]

BEGUN = {
    "id": "r",
    "timestamp": 10,
    "clientId": "app",
    "request": {
        "url": "http://shop.test/pay",
        "method": "POST",
        "headers": {"a": "b"},
        "bodyBase64": "Ym9keQ==",
    },
}
OBSERVED = {"timestamp": 10, "kind": "observed"}


def begun(**settings: Any) -> History:
    """Remember one request that waits for its decision."""
    history = History(**settings)
    paused = request(method="POST", content=b"body", headers={"a": "b"})
    history.record(records.RequestSeen("r", "app", paused), 10)
    return history
