"""Which answers of a HAR the proxy can give by itself: those that method and URL decide."""

from __future__ import annotations

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
"""What the bodies of a HAR's answers take in the message that registers its route."""

MOST_REPLIES = 1000
"""How many of them it has: the call makes each, in some 60 µs, whether it is asked for or not."""

_BASE64 = 4 / 3


class Sizes(Protocol):
    """Tells how large a file beside a HAR is."""

    def size(self, name: str) -> int:
        """Give the bytes of a file."""


def replies_of(
    lookup: HarLookup, matcher: Matcher, files: Sizes
) -> dict[tuple[str, str], SerializedResponse]:
    """Make the responses that a HAR gives whatever else a request has, by method and URL.

    What is missing here is answered by the test's process: what a request's headers or body
    decide, what is not a valid response, and what exceeds the limits.

    :param matcher: what the route wants; nothing where only the test's process can tell.
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
        # The handler says what is wrong with it when a request asks for it.
        return None
    return structs.replace(made, url=UNSET)


def mock_of(found: RecordedResponse) -> Mock:
    """Write a recorded response as arguments of ``fulfill``."""
    return Mock(
        status=found.status,
        status_text=found.status_text,
        headers=found.headers,
        body=found.body,
    )


def _letters(response: dict[str, Any], files: Sizes) -> float:
    """Estimate the characters of a response's body in a message, before it is read."""
    content = response.get("content") or {}
    if content.get("_file"):
        return files.size(str(content["_file"])) * _BASE64
    text = str(content.get("text") or "")
    return len(text) if content.get("encoding") == "base64" else len(text) * _BASE64
