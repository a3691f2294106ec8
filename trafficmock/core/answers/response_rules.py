"""The rules for mocks: corrects or refuses responses that are no valid HTTP.

:func:`sendable_response` corrects a mock, whichever agent sends it:

* no status text: that of the status;
* a body where the status allows none (204, 205, 304): removed;
* ``content-length``, where it is given: the size of the body, or any without a body; always 0 with
  205, none with 204;
* ``content-encoding``: removed if the body certainly is not coded so (``mock_codings``). Nothing is
  ever encoded here;
* ``trailer``: removed; an agent announces the trailers that a mock has;
* trailers: a mock with them has no ``content-length``, because its body is sent in chunks. They are
  removed where there is no body, with an event in the timeline. Fields that say how a message is
  framed, routed or read cannot stand behind a body (RFC 9110 section 6.5.1): they are left out,
  because a server may have sent them. What a test writes is refused (``answer_reading``);
* lines of ``set-cookie`` in one value of ``headers``, with line breaks between: a header for each.
  With ``headersList``, which then is what counts, each is a header already.

All other headers stay as the test wrote them. A status outside 200 to 999, a name, value or status
text that HTTP does not allow, and a mock that is too large are refused.

Two functions follow. For the npm agent, :func:`with_given_length` restores the ``content-length``
of a handler's mock. :func:`for_method` removes it where nothing of that length follows.

Before all this, ``answer_reading`` leaves out ``transfer-encoding``, and adds ``content-type`` and
``content-length`` to what a test has written. After it, an agent frames the
answer: it writes ``content-length`` and ``transfer-encoding``, and leaves out what is the
connection's own (``agent/src/exchange/mock.js``, ``proxy/transfer/request_rewriting``). Both agents
refuse a header that HTTP does not allow once more, whichever proxy sends it.

The npm agent makes the application's ``Response`` (Fetch standard) without catching errors: a
response that the constructor refuses ends the application's process. A mock is therefore corrected
here if its meaning is clear, and refused otherwise.

The size of a mock is checked here, although the driver checks the size of encoded messages, because
the handler gets no error after its mock has settled the request.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain

from msgspec import UNSET, UnsetType, structs

from trafficmock.core.answers.mock_codings import is_plain
from trafficmock.errors import LocalError
from trafficmock.wire.features import HEADERS_LIST
from trafficmock.wire.http_syntax import (
    BAD_VALUE,
    BODILESS_STATUSES,
    TCHAR,
    TOKEN,
    join_repeats,
    lower_case,
)
from trafficmock.wire.limits import MAX_MESSAGE_BYTES
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.serialized_request import HeaderPairs, SerializedOverrides
from trafficmock.wire.payloads.serialized_response import FINAL_STATUSES, SerializedResponse
from trafficmock.wire.reason_phrases import phrase_of

MOST_BYTES = MAX_MESSAGE_BYTES - 2**10
"""The most bytes of a mock or of overrides, within the 100 MiB of a message."""

_LENGTH = "content-length"
_CODING = "content-encoding"
_DROPPED = frozenset({"trailer"})
"""Agents write it, for the trailers that a mock has."""
NO_TRAILERS = frozenset(
    {_LENGTH, _CODING, "content-type", "content-range", "transfer-encoding", "trailer"}
    | {"host", "te", "connection", "keep-alive", "upgrade"}
)
"""Fields that cannot stand behind a body (RFC 9110 section 6.5.1)."""
TRAILERS_DROPPED = "trailers_dropped"
"""The kind of the event that says that the application gets no trailers."""
_VALID_LENGTH = re.compile(r"[0-9]{1,15}")
_LENGTHS = {204: "", 205: "0"}
"""The content-length of responses without content; empty for none. Responses to HEAD, and with
status 304, may have any (RFC 9110 section 8.6)."""
_NOT_MODIFIED = 304
_LAST_OF_FETCH = 599

_ESCAPED = 6
"""The most bytes of one character of a text in JSON, as in ``\\u0000``."""
_AROUND = 8
"""Bytes of the quotes, brackets and commas around a text in JSON."""

_MOST_CACHED = 512
"""The most characters of names that are kept, with what was found about them."""

_TOKENS = re.compile(f"{TCHAR}+(?:\n{TCHAR}+)*")
_BAD_STATUS_TEXT = re.compile(r"[^\t\x20-\x7e\x80-\xff]")


class UnsendableMockError(LocalError):
    """A mock or overrides are no valid HTTP; the message is the reason."""


def sendable_response(response: SerializedResponse) -> SerializedResponse:
    """Make a valid HTTP response of a mock.

    It is corrected as the docstring of this module says. By the phrase of its status, agents, the
    forward proxy, history and HAR have the same one; a wrong ``content-length`` would make a client
    wait.

    :returns: the same object if nothing was to be corrected.
    :raises UnsendableMockError: for a status outside 200 to 999, for a header or status text
        that HTTP does not allow, and for a mock above :data:`MOST_BYTES`.
    """
    if response.status not in FINAL_STATUSES:
        raise UnsendableMockError(f"the status is {response.status}, it must be 200 to 999")
    if _BAD_STATUS_TEXT.search(response.status_text):
        raise UnsendableMockError(f"the status text {response.status_text!r} is not plain text")
    url = () if response.url is UNSET else (response.url,)
    texts = (response.status_text, *url)
    response = _with_valid_trailers(response)
    texts += tuple(chain.from_iterable(response.trailers or ()))
    _check_weight(response.body_base64, response.headers, response.headers_list, texts)
    changes: dict[str, object] = {}
    if not response.status_text and (phrase := phrase_of(response.status)):
        changes["status_text"] = phrase
    content = response.body_base64
    if response.status in BODILESS_STATUSES and not body.is_empty(content):
        changes["body_base64"] = content = body.NULL
    length = "" if response.trailers else _true_length(response.status, content)
    unchanged = _needs_no_change(response.headers, length)
    listed = response.headers_list is not UNSET
    dropped = _DROPPED
    if (listed or not unchanged) and _is_plain(response, content):
        dropped = _DROPPED | {_CODING}
    if not unchanged:
        changes |= _mended_headers(response, length, dropped)
    if response.headers_list is not UNSET:
        pairs = list(_framed(response.headers_list, length, dropped))
        for name, value in pairs:
            _check(name, value)
        if pairs != response.headers_list:
            changes["headers_list"] = pairs
    return structs.replace(response, **changes) if changes else response


def check_status(response: SerializedResponse, features: frozenset[str]) -> None:
    """Check that an agent can give a response with its status.

    :param features: of the agent; the npm agent, which makes a ``Response`` of the Fetch standard,
        has none.
    :raises UnsendableMockError: for a status above 599 and the npm agent.
    """
    if not features and response.status > _LAST_OF_FETCH:
        raise UnsendableMockError(
            f"the status is {response.status}, and the npm agent takes 200 to {_LAST_OF_FETCH}"
        )


def for_method(response: SerializedResponse, method: str) -> SerializedResponse:
    """Remove the ``content-length`` of a response without a body: a client would wait for it.

    It stays in responses to HEAD and with status 304, which have no body (RFC 9110 section 8.6).
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
        headers=dict(_framed(response.headers.items(), "", _DROPPED)),
        headers_list=UNSET
        if response.headers_list is UNSET
        else list(_framed(response.headers_list, "", _DROPPED)),
    )


def with_trailers(
    response: SerializedResponse, method: str, features: frozenset[str]
) -> tuple[SerializedResponse, str]:
    """Remove the trailers of a response where the application cannot get them.

    :param features: of the agent; the npm agent has none.
    :returns: the response, and why they are removed; empty if nothing was.
    """
    if not response.trailers:
        return response, ""
    if method == "HEAD" or response.status in BODILESS_STATUSES:
        what = "to HEAD" if method == "HEAD" else f"with status {response.status}"
        why = f"an answer {what} has no body, and so no trailers"
    elif not features:
        why = "the npm agent gives no trailers"
    else:
        return response, ""
    return structs.replace(response, trailers=UNSET), why


def with_given_length(
    response: SerializedResponse, given: SerializedResponse, features: frozenset[str]
) -> SerializedResponse:
    """Restore the ``content-length`` that a handler gave, for the npm agent.

    That agent makes a ``Response`` (Fetch standard), whose header need not be the length of the
    body; its users may rely on it.

    :param response: the response with the length of the body.
    :param given: the response as the handler gave it.
    :param features: of the agent; the npm agent has none.
    """
    if features or body.is_empty(response.body_base64):
        return response
    lines = lower_case(given.headers, given.headers_list)
    length = next((value for name, value in lines if name == _LENGTH), "")
    if not _VALID_LENGTH.fullmatch(length):
        return response
    return structs.replace(
        response,
        headers=dict(_framed(response.headers.items(), length, _DROPPED)),
        headers_list=UNSET
        if response.headers_list is UNSET
        else list(_framed(response.headers_list, length, _DROPPED)),
    )


def response_for(response: SerializedResponse, features: frozenset[str]) -> SerializedResponse:
    """Convert the headers of a response for an agent without the feature ``headers-list``."""
    if response.headers_list is UNSET or HEADERS_LIST in features:
        return response
    return structs.replace(
        response, headers=join_repeats(response.headers_list), headers_list=UNSET
    )


def overrides_for(overrides: SerializedOverrides, features: frozenset[str]) -> SerializedOverrides:
    """Convert the headers of overrides for an agent without the feature ``headers-list``."""
    if overrides.headers_list is UNSET or HEADERS_LIST in features:
        return overrides
    return structs.replace(
        overrides, headers=join_repeats(overrides.headers_list), headers_list=UNSET
    )


def check_overrides(overrides: SerializedOverrides) -> None:
    """Check the size of overrides.

    :raises UnsendableMockError: for overrides above :data:`MOST_BYTES`.
    """
    texts = [each for each in (overrides.url, overrides.method) if each is not UNSET]
    headers = {} if overrides.headers is UNSET else overrides.headers
    _check_weight(overrides.body_base64, headers, overrides.headers_list, texts)


def _check_weight(
    content: body.MessageBody,
    headers: dict[str, str],
    headers_list: HeaderPairs | UnsetType,
    texts: Iterable[str],
) -> None:
    """Check an upper bound of the size: :data:`_ESCAPED` bytes for each character.

    :raises UnsendableMockError: for a size above :data:`MOST_BYTES`.
    """
    characters = len("".join((*texts, *headers, *headers.values())))
    count = 2 * len(headers)
    if headers_list is not UNSET:
        # The pairs count as well: agents without the feature get them as a map.
        characters += sum(len(name) + len(value) for name, value in headers_list)
        count += 2 * len(headers_list)
    if body.letters(content) + _ESCAPED * characters + _AROUND * count > MOST_BYTES:
        raise UnsendableMockError("it makes a message above 100 MiB, which no client takes")


def _true_length(status: int, content: body.MessageBody) -> str | None:
    """Return the content-length of a response: empty for none, ``None`` for any.

    With the npm agent, a ``node:http`` request waits for the end of a 205 without a length of 0.
    """
    if not body.is_empty(content):
        return str(body.size(content))
    return _LENGTHS.get(status)


def _needs_no_change(headers: dict[str, str], length: str | None) -> bool:
    """Return whether all headers are valid and none is to be removed or corrected.

    This is a fast path for most mocks: to search all names and all values at once takes a third of
    the time of a search in each. ``False`` may also be returned for headers that need no change.
    """
    names = "\n".join(headers)
    judge = _judge_names if len(names) <= _MOST_CACHED else _judge_names.__wrapped__
    lengths, valid_names = judge(names)
    if lengths:
        framed = length != "" and lengths == 1 and headers.get(_LENGTH) == length
    else:
        framed = length != "0"
    return (
        (framed or length is None)
        and valid_names == len(headers)
        and BAD_VALUE.search("".join(headers.values())) is None
    )


@lru_cache(maxsize=256)
def _judge_names(names: str) -> tuple[int, int]:
    """Judge the names of headers, which are the same for most responses of a test.

    :param names: joined by line feeds.
    :returns: how often ``content-length`` is among them, and the number of the names if all are
        valid and may stay, else -1.
    """
    lower = names.lower()
    # `names`, not `lower`: the lower case of U+212A (Kelvin sign) is the ASCII letter k.
    may_stay = (
        "trailer" not in lower and _CODING not in lower and _TOKENS.fullmatch(names) is not None
    )
    return lower.count(_LENGTH), names.count("\n") + 1 if may_stay else -1


def _is_plain(response: SerializedResponse, content: body.MessageBody) -> bool:
    """Return whether the body certainly is not in the coding that the header names."""
    if body.is_empty(content):
        return False
    listed = response.headers_list
    pairs = response.headers.items() if listed is UNSET else listed
    coding = ",".join([value for name, value in pairs if name.lower() == _CODING])
    return bool(coding) and is_plain(body.to_bytes(content), coding)


def _mended_headers(
    response: SerializedResponse, length: str | None, dropped: frozenset[str]
) -> dict[str, object]:
    """Check and correct each header, and return the changed fields of the response."""
    changes: dict[str, object] = {}
    given = dict(_framed(response.headers.items(), length, dropped))
    headers = {name: _value(name, value) for name, value in given.items()}
    if headers != given and response.headers_list is UNSET:
        changes["headers_list"] = _split_cookies(given)
    if headers != response.headers:
        changes["headers"] = headers
    return changes


def _framed(
    pairs: Iterable[tuple[str, str]], length: str | None, dropped: frozenset[str]
) -> Iterator[tuple[str, str]]:
    """Yield the headers with a ``content-length``, and without dropped ones.

    :param length: empty for none, ``None`` for any.
    :param dropped: names in lower case.
    """
    has_length = False
    for name, value in pairs:
        lower = name.lower()
        if lower == _LENGTH and length is not None:
            has_length = True
            if length:
                yield name, length
        elif lower not in dropped:
            yield name, value
    if length == "0" and not has_length:
        yield _LENGTH, length


def _value(name: str, value: str) -> str:
    """Check the value of a header; lines of ``set-cookie`` are joined by commas."""
    if "\n" in value and name.lower() == "set-cookie":
        value = ", ".join(value.split("\n"))
    _check(name, value)
    return value


def _check(name: str, value: str) -> None:
    if not TOKEN.fullmatch(name):
        raise UnsendableMockError(f"{name!r} is not a header name")
    if wrong := BAD_VALUE.search(value):
        # The value may be a secret, in a HAR above all.
        raise UnsendableMockError(
            f"the header {name!r} has a line break, a NUL or a character above U+00FF, at "
            f"character {wrong.start() + 1} of its value"
        )


def _with_valid_trailers(response: SerializedResponse) -> SerializedResponse:
    """Check trailers, and leave out those that cannot be any."""
    if not response.trailers:
        return response
    kept = [pair for pair in response.trailers if pair[0].lower() not in NO_TRAILERS]
    for name, value in kept:
        _check(name, value)
    if len(kept) == len(response.trailers):
        return response
    return structs.replace(response, trailers=kept or UNSET)


def _split_cookies(headers: dict[str, str]) -> HeaderPairs:
    return [
        (name, line)
        for name, value in headers.items()
        for line in (value.split("\n") if name.lower() == "set-cookie" else (value,))
    ]
