"""Short ways to write the objects that tests send and expect."""

from typing import Any

from msgspec import UNSET

from trafficmock.wire import inbound
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.answer import Abort, AbortCode, Continue, Fallback, Fetch, Fulfill
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
