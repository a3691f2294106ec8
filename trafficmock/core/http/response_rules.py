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
from trafficmock.wire.http_syntax import BAD_VALUE, BODILESS_STATUSES, TCHAR, TOKEN, join_repeats
from trafficmock.wire.limits import MAX_MESSAGE_BYTES
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.serialized_response import FINAL_STATUSES
from trafficmock.wire.reason_phrases import phrase_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from msgspec import Raw, UnsetType

    from trafficmock.wire.payloads.serialized_request import HeaderPairs, SerializedOverrides
    from trafficmock.wire.payloads.serialized_response import SerializedResponse

MOST_BYTES = MAX_MESSAGE_BYTES - 2**10
"""What a mock or its overrides may weigh in the 100 MiB that clients take in a message."""

_LENGTH = "content-length"
_LENGTHS = {204: "", 205: "0"}
"""That of responses without content; one to HEAD, and a 304, may have any."""
_NOT_MODIFIED = 304

_ESCAPED = 6
"""Bytes that one character of a text takes at most, as in ``\\u0000``."""
_AROUND = 8
"""Bytes of the quotes, brackets and commas around a text."""

_TOKENS = re.compile(f"{TCHAR}+(?:\n{TCHAR}+)*")
_BAD_STATUS_TEXT = re.compile(r"[^\t\x20-\x7e\x80-\xff]")


class UnsendableMockError(LocalError):
    """No HTTP response can carry this mock."""


def sendable_response(response: SerializedResponse) -> SerializedResponse:
    """Make a mock a valid HTTP response, as far as that is possible.

    A mock without a status text gets the one of its status, so that agents, the forward proxy,
    history and HAR agree, whatever wrote the mock. A ``content-length`` becomes that of the body.

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
    content = response.body_base64
    if response.status in BODILESS_STATUSES and not body.is_empty(content):
        changes["body_base64"] = content = body.NULL
    length = _true_length(response.status, content)
    if not _may_stay(response.headers, length):
        changes |= _mended_headers(response, length)
    if response.headers_list is not UNSET:
        pairs = list(_framed(response.headers_list, length))
        for name, value in pairs:
            _check(name, value)
        if pairs != response.headers_list:
            changes["headers_list"] = pairs
    return structs.replace(response, **changes) if changes else response


def for_method(response: SerializedResponse, method: str) -> SerializedResponse:
    """Leave out the length of a body that is not there: a client would wait for it.

    An answer to HEAD has it all the same, and so may one with the status 304.
    """
    if (
        method == "HEAD"
        or response.status == _NOT_MODIFIED
        or not body.is_empty(response.body_base64)
    ):
        return response
    if response.headers.get(_LENGTH, "0") == "0":
        return response
    return structs.replace(
        response,
        headers=dict(_framed(response.headers.items(), "")),
        headers_list=UNSET
        if response.headers_list is UNSET
        else list(_framed(response.headers_list, "")),
    )


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
    """Refuse what might exceed the limit, counting for each character the most that it can take."""
    characters = len("".join((*texts, *headers, *headers.values())))
    count = 2 * len(headers)
    if headers_list is not UNSET:
        # Agents without the feature get the pairs as a map: they count in either form.
        characters += sum(len(name) + len(value) for name, value in headers_list)
        count += 2 * len(headers_list)
    if len(memoryview(content)) + _ESCAPED * characters + _AROUND * count > MOST_BYTES:
        raise UnsendableMockError("it makes a message above 100 MiB, which no client takes")


def _true_length(status: int, content: Raw) -> str | None:
    """Tell what a content-length must be: nothing if empty; ``None`` is whatever was given.

    Without one of 0, requests of ``node:http`` wait for the end of a 205 under the npm agent.
    """
    if not body.is_empty(content):
        return str(body.size(content))
    return _LENGTHS.get(status)


def _may_stay(headers: dict[str, str], length: str | None) -> bool:
    """Tell whether all headers are valid, and none is left out or mended; mostly so.

    A look at all names and one at all values cost a third of a look at each.
    """
    names = "\n".join(headers)
    lower = names.lower()
    lengths = lower.count(_LENGTH)
    if lengths:
        framed = length != "" and lengths == 1 and headers.get(_LENGTH) == length
    else:
        framed = length != "0"
    return (
        (framed or length is None)
        and "trailer" not in lower
        and names.count("\n") == len(headers) - 1
        # Not in lower case: that of the Kelvin sign is a letter of ASCII.
        and _TOKENS.fullmatch(names) is not None
        and BAD_VALUE.search("".join(headers.values())) is None
    )


def _mended_headers(response: SerializedResponse, length: str | None) -> dict[str, object]:
    """Give what changes when each header is mended or refused."""
    changes: dict[str, object] = {}
    given = dict(_framed(response.headers.items(), length))
    headers = {name: _value(name, value) for name, value in given.items()}
    if headers != given and response.headers_list is UNSET:
        changes["headers_list"] = _split_cookies(given)
    if headers != response.headers:
        changes["headers"] = headers
    return changes


def _framed(pairs: Iterable[tuple[str, str]], length: str | None) -> Iterator[tuple[str, str]]:
    """Leave out and mend the headers that would make a client wait, or the npm agent's process end.

    Agents send a mock with its length, so that there are no trailers.
    """
    has_length = False
    for name, value in pairs:
        lower = name.lower()
        if lower == _LENGTH and length is not None:
            has_length = True
            if length:
                yield name, length
        elif lower != "trailer":
            yield name, value
    if length == "0" and not has_length:
        yield _LENGTH, length


def _value(name: str, value: str) -> str:
    """Join cookies that came in lines; check the rest."""
    if "\n" in value and name.lower() == "set-cookie":
        value = ", ".join(value.split("\n"))
    _check(name, value)
    return value


def _check(name: str, value: str) -> None:
    if not TOKEN.fullmatch(name):
        raise UnsendableMockError(f"{name!r} is not a header name")
    if BAD_VALUE.search(value):
        raise UnsendableMockError(
            f"the header {name!r} has a line break, a NUL or a character above U+00FF: {value!r}"
        )


def _split_cookies(headers: dict[str, str]) -> HeaderPairs:
    return [
        (name, line)
        for name, value in headers.items()
        for line in (value.split("\n") if name.lower() == "set-cookie" else (value,))
    ]
