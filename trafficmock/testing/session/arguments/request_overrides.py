"""A handler's arguments for a changed request, as overrides for the proxy."""

from __future__ import annotations

import json
from typing import Any

import ada_url
from msgspec import UNSET, UnsetType

from trafficmock.testing.errors import UsageError
from trafficmock.testing.session.arguments import headers as hd
from trafficmock.testing.session.arguments.headers import TextPairs
from trafficmock.texts.wording import url_text
from trafficmock.wire.http_syntax import TOKEN, on_wire
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.serialized_request import SerializedOverrides

PostData = str | bytes | dict[str, Any] | list[Any] | int | float | bool | None
JSON = "application/json"
BYTES = "application/octet-stream"


def overrides(
    *, url: str | None, method: str | None, headers: TextPairs | None, post_data: PostData
) -> SerializedOverrides | UnsetType:
    """Return the changes of one handler; the proxy adds them to those of earlier handlers.

    :returns: ``UNSET`` without changes.
    :raises UsageError: HTTP cannot carry the method or a header.
    """
    content = read_body(post_data)
    if method:
        check_method(method)
    hd.check(headers or ())
    if not url and not method and headers is None and content is None:
        return UNSET
    as_map, as_list = (UNSET, UNSET) if headers is None else on_wire(headers)
    return SerializedOverrides(
        url=url or UNSET,
        method=method or UNSET,
        headers=as_map,
        body_base64=body.ABSENT if content is None else body.from_bytes(content[0]),
        headers_list=as_list,
        content_type=UNSET if content is None else content[1],
    )


def check_method(name: object) -> None:
    """Check that a text is a method (RFC 9110 section 9.1).

    :raises UsageError: it is none.
    """
    if not isinstance(name, str) or not TOKEN.fullmatch(name):
        raise UsageError(f"{name!r} is not a method of HTTP")


def read_body(post_data: PostData) -> tuple[bytes, str] | None:
    """Convert the argument ``post_data`` to bytes and their default content type.

    Text is encoded as UTF-8, other values as JSON.

    :returns: ``None`` for ``None``, ``False`` and 0, which change nothing (Playwright's rule).
    """
    if isinstance(post_data, str):
        return post_data.encode("utf-8", "surrogatepass"), BYTES
    if isinstance(post_data, bytes | bytearray | memoryview):
        return bytes(post_data), BYTES
    if isinstance(post_data, dict | list) or post_data:
        return json.dumps(post_data).encode(), JSON
    return None


def check_scheme(original: str, shown: str, url: str | None) -> None:
    """Check that a new URL has the scheme of the request (Playwright's rule).

    :param shown: the original one for texts.
    :raises UsageError: it has another scheme, or it is not a URL.
    """
    if not url:
        return
    try:
        protocol = ada_url.URL(url).protocol
    except ValueError:
        raise invalid_url(url) from None
    if protocol != ada_url.URL(original).protocol:
        raise UsageError(
            f"new URL must have the same protocol as the request's: {protocol!r} for {shown}"
        )


def invalid_url(url: str) -> UsageError:
    """Return the error for a text that is no URL: with its origin and path alone."""
    return UsageError(f"invalid URL: {url_text(url, quoted=True)}")
