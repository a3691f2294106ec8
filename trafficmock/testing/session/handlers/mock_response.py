"""Makes a response from the arguments of ``fulfill`` (Playwright's rules)."""

from __future__ import annotations

import json as json_module
import mimetypes
import re
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from trafficmock.testing.errors import UsageError
from trafficmock.testing.session.arguments import headers as hd
from trafficmock.testing.session.arguments.request_overrides import BYTES, JSON
from trafficmock.wire.http_syntax import on_wire
from trafficmock.wire.payloads import body as wire_body
from trafficmock.wire.payloads.serialized_response import FINAL_STATUSES, SerializedResponse
from trafficmock.wire.reason_phrases import phrase_of

if TYPE_CHECKING:
    from trafficmock.testing.session.arguments.headers import HeadersArgument, TextPairs
    from trafficmock.testing.session.observation.request_state import ResponseState

_STATUS_TEXT = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
"""The reason phrase of a status line, as latin-1 (RFC 9112, section 4)."""


@frozen
class File:
    """A file whose content is the body; the extension of ``name`` gives the content type."""

    name: str
    content: bytes = field(repr=False)


@frozen(kw_only=True)
class Mock:
    """The arguments of ``fulfill``; ``None`` where one was not given."""

    status: int | None = None
    status_text: str | None = None
    headers: HeadersArgument | None = field(default=None, repr=False)
    body: str | bytes | None = field(default=None, repr=False)
    json: Any = field(default=None, repr=False)
    file: File | None = None
    content_type: str | None = None
    response: ResponseState | None = None


def build(mock: Mock, url: str) -> SerializedResponse:
    """Make the response that a mock describes.

    :param url: the URL of the request, for a mock that is not based on a fetched response.
    :raises UsageError: both ``body`` and ``json`` are given, HTTP cannot carry a value, or
        ``response`` was disposed.
    """
    if mock.json is not None and mock.body is not None:
        raise UsageError("can specify either body or json parameters")
    if mock.response is not None and mock.response.disposed:
        raise UsageError("the response given to fulfill has been disposed")
    content = _content(mock)
    pairs = _headers(mock, content)
    hd.check_headers(pairs)
    headers, headers_list = on_wire(pairs)
    status = _status(mock)
    return SerializedResponse(
        status=status,
        status_text=_status_text(mock, status),
        headers=headers,
        body_base64=_body(mock, content),
        url=mock.response.url if mock.response else url,
        headers_list=headers_list,
    )


def _status(mock: Mock) -> int:
    given = mock.status
    if given is None and mock.response is not None:
        given = mock.response.wire.status
    # In Playwright, 0 counts as no status.
    status = given or 200
    if not isinstance(status, int) or status not in FINAL_STATUSES:
        raise UsageError(f"status must be an integer from 200 to 999, not {status!r}")
    return status


def _status_text(mock: Mock, status: int) -> str:
    """Return the reason phrase: the argument, that of the same response, or the standard one."""
    given = mock.status_text
    if given is None and mock.response is not None and mock.response.wire.status == status:
        given = mock.response.wire.status_text
    text = given or phrase_of(status)
    if not isinstance(text, str) or not _STATUS_TEXT.fullmatch(text):
        raise UsageError(
            f"status_text must be text without control characters, within latin-1, not {text!r}"
        )
    return text


def _content(mock: Mock) -> bytes | None:
    """Return the new body; ``None`` where the body of ``response`` is kept."""
    if mock.file is not None:
        return mock.file.content
    if mock.json is not None:
        return json_module.dumps(mock.json).encode()
    if isinstance(mock.body, str):
        return mock.body.encode("utf-8", "surrogatepass")
    if mock.body is None:
        return None
    if isinstance(mock.body, bytes | bytearray | memoryview):
        return bytes(mock.body)
    kind = type(mock.body).__name__
    raise UsageError(
        f"body must be str or bytes, not {kind}: for objects there is json, and the parts of an "
        'iterator are joined first (b"".join(parts)), because a mock is sent whole'
    )


def _body(mock: Mock, content: bytes | None) -> wire_body.MessageBody:
    if content is None and mock.response is not None:
        return mock.response.wire.body_base64
    return wire_body.from_bytes(content)


def _headers(mock: Mock, content: bytes | None) -> TextPairs:
    if mock.headers is not None:
        pairs = hd.lenient(mock.headers)
    else:
        pairs = mock.response.headers if mock.response else ()
        if content is not None:
            pairs = hd.without(pairs, "content-length")
    pairs = hd.without(pairs, "transfer-encoding")
    kind = _content_type(mock)
    if kind is not None:
        pairs = (*hd.without(pairs, "content-type"), ("content-type", kind))
    length = wire_body.size(_body(mock, content))
    if length and hd.get(pairs, "content-length") is None:
        pairs = (*pairs, ("content-length", str(length)))
    return pairs


def _content_type(mock: Mock) -> str | None:
    if mock.content_type is not None:
        if not isinstance(mock.content_type, str):
            raise UsageError(f"content_type must be text, not {mock.content_type!r}")
        return mock.content_type
    if mock.file is not None:
        return mimetypes.guess_type(mock.file.name)[0] or BYTES
    return JSON if mock.json is not None else None
