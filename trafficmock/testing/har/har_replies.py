"""Selects the responses of a HAR that the proxy can send itself: they depend on method and URL."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import UNSET, structs

from trafficmock.errors import LocalError
from trafficmock.testing.har.har_lookup import HarCycleError
from trafficmock.testing.session.handlers import mock_response
from trafficmock.testing.session.handlers.mock_response import Mock
from trafficmock.wire.payloads import body

if TYPE_CHECKING:
    from trafficmock.testing.har.har_lookup import HarLookup, RecordedResponse
    from trafficmock.testing.session.arguments.url_matchers import Matcher
    from trafficmock.wire.payloads.serialized_response import SerializedResponse

MOST_BYTES = 2 * 2**20
"""Limit of the bodies of a HAR's responses in ``route:register``, in base64 characters."""

MOST_REPLIES = 1000
"""Limit of the number of these responses: the call of the test makes all, in some 60 µs each."""

_BASE64 = 4 / 3

_FAILURES = (
    ("namenotresolved", re.compile(r"ENOTFOUND|EAI_|DNS|getaddrinfo|not.?resolved", re.IGNORECASE)),
    ("connectionrefused", re.compile("refused", re.IGNORECASE)),
    ("connectionreset", re.compile("ECONNRESET|reset", re.IGNORECASE)),
    ("timedout", re.compile("timed? ?out", re.IGNORECASE)),
)
"""What the recorded texts of failures have, by the error code."""


class Sizes(Protocol):
    """Knows the sizes of the files beside a HAR."""

    def size(self, name: str) -> int:
        """Return the size of a file in bytes."""


def replies_of(
    lookup: HarLookup, matcher: Matcher, files: Sizes
) -> dict[tuple[str, str], SerializedResponse]:
    """Return the responses of a HAR that depend only on method and URL, by these.

    Other requests are answered by the test's process: those whose headers or body select the
    response, those whose response is invalid, and those beyond the limits.

    :param matcher: the matcher of the route. With a predicate the result is empty, because only
        the test's process can call it.
    :param files: the files beside the HAR.
    """
    if matcher.wire.predicate is not UNSET:
        return {}
    replies: dict[tuple[str, str], SerializedResponse] = {}
    left = MOST_BYTES
    for method, url in lookup.by_request:
        if len(replies) == MOST_REPLIES:
            break
        if matcher.methods and method.upper() not in matcher.methods:
            continue
        if not matcher.matches_url(url):
            continue
        reply = _reply(lookup, method, url, left, files)
        if reply is not None:
            replies[method, url] = reply
            left -= body.letters(reply.body_base64)
    return replies


def _reply(
    lookup: HarLookup, method: str, url: str, most: int, files: Sizes
) -> SerializedResponse | None:
    try:
        found = lookup.find_for_all(method, url)
        if found is None or _letters(found, files) > most:
            return None
        made = mock_response.build(mock_of(lookup.recorded(found)), url)
    except (HarCycleError, LocalError, LookupError, OSError, TypeError, ValueError):
        # The handler raises this error when a request needs the response.
        return None
    return structs.replace(made, url=UNSET)


def mock_of(found: RecordedResponse) -> Mock:
    """Return the arguments of ``fulfill`` for a recorded response."""
    return Mock(
        status=found.status,
        status_text=found.status_text,
        headers=found.headers,
        body=found.body,
    )


def failure_code(text: str) -> str:
    """Return the error code of Playwright for the recorded text of a failure, else ``failed``."""
    return next((code for code, told in _FAILURES if told.search(text)), "failed")


def _letters(response: dict[str, Any], files: Sizes) -> float:
    """Estimate the base64 characters of a response's body, without reading its file."""
    content = response.get("content") or {}
    if content.get("_file"):
        return files.size(str(content["_file"])) * _BASE64
    text = str(content.get("text") or "")
    return len(text) if content.get("encoding") == "base64" else len(text) * _BASE64
