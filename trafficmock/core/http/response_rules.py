"""What a handler answers, made safe for the application's side.

The npm agent builds its response outside any guard: what the ``Response`` of the Fetch standard
refuses ends the application's process. So it is mended here where its meaning is clear, and
refused where it is not.

The weight is checked here although the encoded size of a message is the driver's business: once
a mock has settled its request, no error could reach the handler any more.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import UNSET, structs

from trafficmock.errors import LocalError
from trafficmock.wire.features import HEADERS_LIST
from trafficmock.wire.http_syntax import BODILESS_STATUSES, TCHAR, join_repeats
from trafficmock.wire.limits import MAX_MESSAGE_BYTES
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.serialized_response import FINAL_STATUSES
from trafficmock.wire.reason_phrases import phrase_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from msgspec import Raw, UnsetType

    from trafficmock.wire.payloads.serialized_request import HeaderPairs, SerializedOverrides
    from trafficmock.wire.payloads.serialized_response import SerializedResponse

MOST_BYTES = MAX_MESSAGE_BYTES - 2**10
"""What a mock or its overrides may weigh in the 100 MiB that clients take in a message."""

_ESCAPED = 6
"""Bytes that one character of a text takes at most, as in ``\\u0000``."""
_AROUND = 8
"""Bytes of the quotes, brackets and commas around a text."""

_TOKEN = re.compile(f"{TCHAR}+")
_BAD_VALUE = re.compile(r"[\0\r\n]|[^\0-\xff]")
_BAD_STATUS_TEXT = re.compile(r"[^\t\x20-\x7e\x80-\xff]")


class UnsendableMockError(LocalError):
    """No HTTP response can carry this mock."""


def sendable(response: SerializedResponse) -> SerializedResponse:
    """Make a mock a valid HTTP response, as far as that is possible.

    A mock without a status text gets the one of its status, so that agents, the forward proxy,
    history and HAR agree, whatever wrote the mock.

    :returns: the same object when there was nothing to mend.
    :raises UnsendableMockError: on a status outside 200 to 599, or a header or status text
        that HTTP does not allow.
    """
    if response.status not in FINAL_STATUSES:
        raise UnsendableMockError(f"the status is {response.status}, it must be 200 to 599")
    if _BAD_STATUS_TEXT.search(response.status_text):
        raise UnsendableMockError(f"the status text {response.status_text!r} is not plain text")
    url = () if response.url is UNSET else (response.url,)
    texts = (response.status_text, *url)
    _check_weight(response.body_base64, response.headers, response.headers_list, texts)
    changes: dict[str, object] = {}
    if not response.status_text and (phrase := phrase_of(response.status)):
        changes["status_text"] = phrase
    if response.status in BODILESS_STATUSES and not body.is_empty(response.body_base64):
        changes["body_base64"] = body.NULL
    headers = {name: _value(name, value) for name, value in response.headers.items()}
    if headers != response.headers and response.headers_list is UNSET:
        changes["headers_list"] = _split_cookies(response.headers)
    if headers != response.headers:
        changes["headers"] = headers
    if response.headers_list is not UNSET:
        for name, value in response.headers_list:
            _check(name, value)
    return structs.replace(response, **changes) if changes else response


def response_for(response: SerializedResponse, features: frozenset[str]) -> SerializedResponse:
    """Put a response's headers into the form that an agent with ``features`` knows."""
    if response.headers_list is UNSET or HEADERS_LIST in features:
        return response
    return structs.replace(
        response, headers=join_repeats(response.headers_list), headers_list=UNSET
    )


def overrides_for(overrides: SerializedOverrides, features: frozenset[str]) -> SerializedOverrides:
    """Put the overrides' headers into the form that an agent with ``features`` knows."""
    if overrides.headers_list is UNSET or HEADERS_LIST in features:
        return overrides
    return structs.replace(
        overrides, headers=join_repeats(overrides.headers_list), headers_list=UNSET
    )


def check_overrides(overrides: SerializedOverrides) -> None:
    """Check that overrides can be sent as HTTP.

    :raises UnsendableMockError: when they make a message that no client takes.
    """
    texts = [each for each in (overrides.url, overrides.method) if each is not UNSET]
    headers = {} if overrides.headers is UNSET else overrides.headers
    _check_weight(overrides.body_base64, headers, overrides.headers_list, texts)


def _check_weight(
    content: Raw,
    headers: dict[str, str],
    headers_list: HeaderPairs | UnsetType,
    texts: Iterable[str],
) -> None:
    """Refuse what might exceed the limit, counting each character at its dearest."""
    characters = sum(map(len, texts)) + sum(map(len, headers)) + sum(map(len, headers.values()))
    count = 2 * len(headers)
    if headers_list is not UNSET:
        # Agents without the feature get the pairs as a map: they count in either form.
        characters += sum(len(name) + len(value) for name, value in headers_list)
        count += 2 * len(headers_list)
    if len(memoryview(content)) + _ESCAPED * characters + _AROUND * count > MOST_BYTES:
        raise UnsendableMockError("it makes a message above 100 MiB, which no client takes")


def _value(name: str, value: str) -> str:
    """Join cookies that came in lines; check the rest."""
    if "\n" in value and name.lower() == "set-cookie":
        value = ", ".join(value.split("\n"))
    _check(name, value)
    return value


def _check(name: str, value: str) -> None:
    if not _TOKEN.fullmatch(name):
        raise UnsendableMockError(f"{name!r} is not a header name")
    if _BAD_VALUE.search(value):
        raise UnsendableMockError(
            f"the header {name!r} has a line break, a NUL or a character above U+00FF: {value!r}"
        )


def _split_cookies(headers: dict[str, str]) -> HeaderPairs:
    return [
        (name, line)
        for name, value in headers.items()
        for line in (value.split("\n") if name.lower() == "set-cookie" else (value,))
    ]
