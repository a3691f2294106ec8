"""Responses of the service: JSON bodies, common headers, and errors in one form."""

import json
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any

from twisted.web.http import NO_BODY_CODES
from twisted.web.iweb import IRequest

JSON = b"application/json; charset=utf-8"


class RestError(Exception):
    """An error response of the REST API.

    :param status: the HTTP status.
    :param code: the ``error`` of the body, for programs.
    :param message: the fault, and how to correct it, for people. The body omits an empty one.
    :param headers: further headers of the response.
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
"""Its body is exactly ``{"error": "not_found"}``: clients of protocol 3 compare the whole body."""
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
"""Headers of every response: browsers must neither guess the type of recorded content nor give the
response to pages of other sites."""


def encode(value: Mapping[str, Any]) -> bytes:
    """Encode JSON in ASCII: lone surrogates, which UTF-8 cannot encode, become escapes."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode("ascii")


def error_body(code: str, message: str) -> bytes:
    """Encode the body of an error, ``{"error", "message"}``; an empty message is left out."""
    return encode({"error": code, "message": message} if message else {"error": code})


def reason(status: int) -> bytes:
    """Return the reason phrase of a status; Twisted's table lacks 426 and 431."""
    return HTTPStatus(status).phrase.encode("ascii")


def prepare(request: IRequest, status: int, headers: Iterable[tuple[bytes, bytes]] = ()) -> None:
    """Set the status and the headers that every response of the service has.

    ``no-store`` keeps recorded traffic out of caches.

    :param headers: further headers, as pairs of name and value.
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
    """Prepare a response whose whole body is known.

    :returns: the body, which the caller returns from ``render``; :class:`.CheckedRoot` drops it
        for ``HEAD``.
    """
    prepare(request, status, headers)
    if status not in NO_BODY_CODES:
        request.setHeader(b"content-length", b"%d" % len(body))
    return body


def error(request: IRequest, failure: RestError) -> bytes:
    """Prepare the response for ``failure``; see :func:`whole`."""
    return whole(
        request, failure.status, error_body(failure.code, failure.message), failure.headers
    )


def header(request: IRequest, name: str) -> str | None:
    """Return the value of a request header, ``None`` without the header.

    Repeated lines are joined by ``, `` (RFC 9110 section 5.3).
    """
    values = request.requestHeaders.getRawHeaders(name.encode("ascii"))
    return None if values is None else ", ".join(value.decode("latin-1") for value in values)
