"""How an HTTP answer is written: JSON, its usual headers, and errors in one shape."""

import json
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any

from twisted.web.http import NO_BODY_CODES
from twisted.web.iweb import IRequest

JSON = b"application/json; charset=utf-8"


class RestError(Exception):
    """An answer that is an error.

    :param status: the HTTP status.
    :param code: the ``error`` of the body, for programs.
    :param message: what was wrong and what to do about it, for people. Left out of
        the body when it is empty.
    :param headers: what the answer carries besides.
    """

    def __init__(
        self,
        status: int,
        code: str,
        message: str = "",
        *,
        headers: Iterable[tuple[bytes, bytes]] = (),
    ) -> None:
        super().__init__(code, message)
        self.status = status
        self.code = code
        self.message = message
        self.headers = tuple(headers)


NOT_FOUND = RestError(404, "not_found")
"""Its body is exactly ``{"error": "not_found"}``: clients compare it as a whole."""
WRONG_METHOD = RestError(
    405,
    "method_not_allowed",
    "The API is read-only: use GET.",
    headers=[(b"allow", b"GET, HEAD, OPTIONS")],
)
INTERNAL = RestError(500, "internal", "This is a fault of trafficmock: please report it.")


SAFETY = (
    (b"x-content-type-options", b"nosniff"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
"""Headers of every answer: recorded content is data, and only for readers that may read it."""


def encode(value: Mapping[str, Any]) -> bytes:
    """Write JSON that any text survives: lone surrogates stay escapes."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode("ascii")


def error_body(code: str, message: str) -> bytes:
    """Write ``{"error", "message"}``; an empty message is left out."""
    return encode({"error": code, "message": message} if message else {"error": code})


def reason(status: int) -> bytes:
    """Give the reason phrase; Twisted does not know those of 426 and 431."""
    return HTTPStatus(status).phrase.encode("ascii")


def prepare(request: IRequest, status: int, headers: Iterable[tuple[bytes, bytes]] = ()) -> None:
    """Set the status and the headers that every answer of the service has.

    ``no-store``, since the answer holds other people's traffic and is old at once.
    """
    request.setResponseCode(status, reason(status))
    request.setHeader(b"cache-control", b"no-store")
    for name, value in SAFETY:
        request.setHeader(name, value)
    if status not in NO_BODY_CODES:
        request.setHeader(b"content-type", JSON)
    for name, value in headers:
        request.setHeader(name, value)


def whole(
    request: IRequest, status: int, body: bytes, headers: Iterable[tuple[bytes, bytes]] = ()
) -> bytes:
    """Prepare an answer whose body is known.

    :returns: the body, for the caller to return; it is not written for ``HEAD``.
    """
    prepare(request, status, headers)
    if status not in NO_BODY_CODES:
        request.setHeader(b"content-length", b"%d" % len(body))
    return body


def error(request: IRequest, failure: RestError) -> bytes:
    """Prepare the answer that ``failure`` stands for; see :func:`whole`."""
    return whole(
        request, failure.status, error_body(failure.code, failure.message), failure.headers
    )


def header(request: IRequest, name: str) -> str | None:
    """Give the value of a request header, ``None`` when it is not there.

    Lines of the same name are one list (RFC 9110 section 5.3).
    """
    values = request.requestHeaders.getRawHeaders(name.encode("ascii"))
    return None if values is None else ", ".join(value.decode("latin-1") for value in values)
