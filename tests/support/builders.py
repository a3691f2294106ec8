"""Short ways to write the objects that tests send and expect."""

from typing import Any

import msgspec
from msgspec import UNSET, Raw

from trafficmock.wire import inbound
from trafficmock.wire.http_syntax import lines_of
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.answer import Abort, AbortCode, Continue, Fallback, Fetch, Fulfill
from trafficmock.wire.payloads.answer_options import WrittenOptions
from trafficmock.wire.payloads.serialized_matcher import SerializedMatcher
from trafficmock.wire.payloads.serialized_request import SerializedOverrides, SerializedRequest
from trafficmock.wire.payloads.serialized_response import SerializedError, SerializedResponse
from trafficmock.wire.reason_phrases import phrase_of

URL = "http://h.test/a"
WS_URL = "ws://h.test/s"


class Text:
    """Equal to every string that has all of these parts."""

    def __init__(self, *parts: str) -> None:
        self.parts = parts

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and all(part in other for part in self.parts)

    def __hash__(self) -> int:
        return hash(self.parts)

    def __repr__(self) -> str:
        return "Text(" + ", ".join(map(repr, self.parts)) + ")"


ANY: Any = Text()
"""Equal to every string."""


def text(*parts: str) -> Any:
    """Make a :class:`Text` that may stand where a string belongs."""
    return Text(*parts)


def request(
    url: str = URL, method: str = "GET", content: bytes = b"", **headers: str
) -> SerializedRequest:
    return SerializedRequest(url, method, headers, body.from_bytes(content))


def response(status: int = 200, content: bytes = b"", **headers: str) -> SerializedResponse:
    return SerializedResponse(status, phrase_of(status), headers, body.from_bytes(content))


def options(*answers: Fulfill | Abort) -> WrittenOptions:
    """Write answers as options of a mock in JavaScript: a single one, or its sequence."""
    steps = [_step(each) for each in answers]
    given = steps[0] if len(steps) == 1 and "abort" not in steps[0] else {"sequence": steps}
    return {name: Raw(msgspec.json.encode(value)) for name, value in given.items()}


def _step(answer: Fulfill | Abort) -> dict[str, Any]:
    delay = {} if answer.delay_ms is UNSET else {"delay": answer.delay_ms}
    if isinstance(answer, Abort):
        return {"abort": answer.error_code, **delay}
    given, fault = answer.response, answer.fault
    step: dict[str, Any] = {"status": given.status, "statusText": given.status_text, **delay}
    step["headers"] = lines_of(given.headers, given.headers_list)
    if answer.pieces:
        pauses, sizes = zip(*answer.pieces, strict=True)
        starts = [sum(sizes[:number]) for number in range(len(sizes))]
        content = body.to_bytes(given.body_base64)
        step["chunks"] = [content[at : at + size] for at, size in zip(starts, sizes, strict=True)]
        step["delay"] = max(pauses)
    elif not body.is_empty(given.body_base64):
        step["body"] = given.body_base64
    if fault:
        step["fault"] = fault.kind
        if fault.after is not UNSET:
            step["after"] = fault.after
    if answer.rate is not UNSET:
        step["rate"] = answer.rate
    return step


def redirect(location: str, status: int = 302) -> SerializedResponse:
    return response(status, location=location)


def failure(message: str = "refused", code: str = "ECONNREFUSED") -> SerializedError:
    return SerializedError("Error", message, code=code)


def glob(pattern: str) -> SerializedMatcher:
    return SerializedMatcher(url_glob=pattern)


def predicate(pattern: str | None = None) -> SerializedMatcher:
    """Make a matcher that only the worker can judge."""
    return SerializedMatcher(url_glob=UNSET if pattern is None else pattern, predicate=True)


# What agents say


def start(request_id: str = "r1", url: str = URL, client_id: str = "app") -> inbound.RequestStart:
    return inbound.RequestStart(request_id, client_id, request(url))


def observe(
    request_id: str, prior_id: str | None, url: str = URL, client_id: str = "app"
) -> inbound.RequestObserve:
    prior = UNSET if prior_id is None else prior_id
    return inbound.RequestObserve(request_id, client_id, request(url), prior)


def report(
    request_id: str = "r1", answer: SerializedResponse | SerializedError | None = None
) -> inbound.RequestResponse:
    answer = answer or response()
    if isinstance(answer, SerializedError):
        return inbound.RequestResponse(request_id, ok=False, error=answer)
    return inbound.RequestResponse(request_id, ok=True, response=answer)


def fetched(
    request_id: str = "r1",
    fetch_id: str = "f1",
    answer: SerializedResponse | SerializedError | None = None,
) -> inbound.FetchResult:
    answer = answer or response()
    if isinstance(answer, SerializedError):
        return inbound.FetchResult(request_id, fetch_id, ok=False, error=answer)
    return inbound.FetchResult(request_id, fetch_id, ok=True, response=answer)


def open_socket(
    socket_id: str = "s1", url: str = WS_URL, client_id: str = "app"
) -> inbound.SocketOpen:
    return inbound.SocketOpen(socket_id, url, ["chat"], client_id)


# What workers say


def fulfill(
    request_id: str = "r1", answer: SerializedResponse | None = None
) -> inbound.HandlerResult:
    return inbound.HandlerResult(request_id, Fulfill(answer or response()))


def continue_(
    request_id: str = "r1", overrides: SerializedOverrides | None = None
) -> inbound.HandlerResult:
    changes = UNSET if overrides is None else overrides
    return inbound.HandlerResult(request_id, Continue(changes))


def abort(
    request_id: str = "r1", code: AbortCode = "failed", message: str | None = None
) -> inbound.HandlerResult:
    text = UNSET if message is None else message
    return inbound.HandlerResult(request_id, Abort(code, text))


def fetch(request_id: str = "r1", fetch_id: str = "f1") -> inbound.HandlerResult:
    return inbound.HandlerResult(request_id, Fetch(fetch_id))


def fall_back(
    request_id: str = "r1", run_id: str = "1", overrides: SerializedOverrides | None = None
) -> inbound.HandlerResult:
    """Let a handler that the coordinator ran leave the request to the next one."""
    changes = UNSET if overrides is None else overrides
    return inbound.HandlerResult(request_id, Fallback(changes), run_id)


def claims(request_id: str, test_id: str, *route_ids: str) -> inbound.RequestClaimResult:
    return inbound.RequestClaimResult(
        request_id, test_id, [inbound.RouteMatch(each) for each in route_ids]
    )


def claims_socket(socket_id: str, test_id: str, *route_ids: str) -> inbound.SocketClaimResult:
    return inbound.SocketClaimResult(
        socket_id, test_id, [inbound.RouteMatch(each) for each in route_ids]
    )
